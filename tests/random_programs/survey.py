"""Warpsmith's answers about random nests, set against the oracle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import assert_never

from msgspec import Struct, field

from tests.random_programs.nests import OVERLAP, Nest, Size, render_nest, render_unit
from tests.random_programs.oracle import Bases, conflicts, entries_of, repeats, touches
from tests.random_programs.replay import Witness, parse_witness, replay
from warpsmith.base.verdict import Assumed, Proved, Refuted, Unknown
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import LoopFacts
from warpsmith.tree.nodes import Binary, Call, Cast, Conditional, Expr, Literal, Name, SizeOf, Unary
from warpsmith.tree.program import Assumption, Program
from warpsmith.tree.types import Symbol

__all__ = ["APART", "LEGAL", "ROOM", "SIZES", "Mix", "judge", "load", "value_of"]

# (n, m, w); in the others rows overlap: there a verdict must rest on a condition that is false
LEGAL: tuple[Size, ...] = ((8, 9, 31), (9, 7, 32), (7, 7, 33))
SIZES: tuple[Size, ...] = (
    *LEGAL,
    (4, 4, 2),
    (5, 6, 1),
    (6, 3, 4),
    (2, 7, 5),
    (5, 5, 5),
    (6, 5, 6),
    (1, 2, 1),
    (0, 1, 5),
)
ROOM = 1200
# addresses for a guard on pointers: element e of a block lies at 8 * e
_BLOCK = 8 * 100_000
APART: dict[str, int] = {name: _BLOCK * k for k, name in enumerate("ABXYMP", start=1)}


class Mix(Struct):
    """Counts over all nests, and everything that is wrong."""

    nests: int = 0
    loops: int = 0
    parallel: int = 0
    found: int = 0
    guarded: int = 0
    refuted: int = 0
    unknown: int = 0
    conditional: int = 0
    missed: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        share = 100 * self.found / max(1, self.parallel)
        return (
            f"{self.nests} nests, {self.loops} loops: {self.parallel} parallel, {self.found} of them found "
            f"({share:.1f} %, {self.guarded} under guards); {self.refuted} refuted with a witness, "
            f"{self.unknown} unknown, {self.conditional} of them with iterations that meet if data let them"
        )


def load(batch: Sequence[Nest], directory: Path) -> tuple[Program, str]:
    """Return the batch as a program, and the path of its file."""
    path = directory / "nests.c"
    path.write_text(render_unit(batch, SIZES, ROOM))
    loaded = load_program([str(path)], FrontOptions())
    assert not loaded.findings, loaded.findings
    return loaded.program, str(path)


def judge(batch: Sequence[Nest], facts: Facts, directory: Path, mix: Mix) -> None:
    """Add what is right and wrong with `facts` to `mix`."""
    by_name = {function.function.symbol.name: function.loops for function in facts.functions}
    witnesses: list[tuple[Nest, Witness]] = []
    for nest in batch:
        mix.nests += 1
        runs = [(size, list(touches(nest, size))) for size in LEGAL if nest.accepts(size)]
        for depth, loop in enumerate(by_name[nest.name]):
            mix.loops += 1
            parallel = (
                not any(conflicts(seen, depth) for _, seen in runs)
                and repeats(nest, depth, LEGAL)
                and _kept(nest, depth)
            )
            _judge_loop(nest, depth, loop, parallel, mix)
            shown = [parse_witness(r.dependence.witness) for r in loop.reasons if r.dependence]
            refuted = isinstance(loop.verdict, Refuted)
            witnesses += [(nest, witness) for witness in shown if refuted or witness.runs]
            mix.conditional += any(w.runs for w in shown)
            if refuted and any(w.runs for w in shown):
                mix.wrong.append(f"{loop.id} is refuted, if data let it\n{render_nest(nest)}")
    mix.wrong += replay(witnesses, directory) if witnesses else []


def _judge_loop(nest: Nest, depth: int, loop: LoopFacts, parallel: bool, mix: Mix) -> None:
    mix.parallel += parallel
    match loop.verdict:
        case Proved(assumptions):
            mix.found += parallel
            mix.guarded += parallel and bool(assumptions)
            if not _is_right(assumptions, nest, depth) or not _ends(assumptions, nest, depth):
                mix.wrong.append(f"{loop.id} is called parallel\n{render_nest(nest)}")
        case Refuted(reasons):
            mix.refuted += 1
            if not any(reason.dependence is not None for reason in reasons):
                mix.wrong.append(f"{loop.id} is refuted without a witness\n{render_nest(nest)}")
        case Unknown():
            mix.unknown += 1
        case _:
            assert_never(loop.verdict)
    if parallel and not isinstance(loop.verdict, Proved):
        mix.missed.append(f"{loop.id}: {'; '.join(r.text for r in loop.reasons[:3])}\n{render_nest(nest)}")


def _is_right(assumptions: tuple[Assumed, ...], nest: Nest, depth: int) -> bool:
    """Whether no entry of the loop for which the conditions hold has a conflict, whatever the size and overlap."""
    conditions = [a.condition for a in assumptions if isinstance(a, Assumption) and a.condition is not None]
    places: list[Bases] = [{}] if nest.restrict else [{}, {"A": 0, "B": OVERLAP}, {"A": 0, "B": 0}]
    for bases in places:
        addresses = {**APART, **{name: 8 * start for name, start in bases.items()}}
        for size in SIZES:
            if not nest.accepts(size):
                continue
            bad = conflicts(touches(nest, size, bases), depth)
            for names in entries_of(nest, depth, size) if bad else ():
                at = tuple(names[loop.counter] for loop in nest.loops[:depth])
                if at in bad and all(value_of(c, {**names, **addresses}) for c in conditions):
                    return False
    return True


def _kept(nest: Nest, depth: int) -> bool:
    """Whether the last iteration sets t as it is read after the loop: not where an inner loop may be empty."""
    return nest.scalar != "last temporary" or depth == len(nest.loops) - 1


def _ends(assumptions: tuple[Assumed, ...], nest: Nest, depth: int) -> bool:
    """Whether a condition keeps `i <= n - 1`, unsigned, from running forever where n is 0."""
    loop = nest.loops[depth]
    endless = loop.inclusive and loop.step > 0 and loop.upper.constant < 0 and loop.type.startswith("unsigned")
    if depth > 0 or not endless or loop.type != nest.sizes:
        return True
    names = {**dict.fromkeys("nm", 0), "w": 40, **APART}
    conditions = [a.condition for a in assumptions if isinstance(a, Assumption) and a.condition is not None]
    return not all(value_of(condition, names) for condition in conditions)


def value_of(expr: Expr, names: Mapping[str, int]) -> int:
    """Evaluate a guard; its arithmetic is 64-bit, so plain integers do."""
    match expr:
        case Literal():
            return int(expr.value or 0)
        case Name():
            return names[expr.symbol.name]
        case Cast():
            return value_of(expr.operand, names)
        case SizeOf():
            return 8  # every element is a double
        case Unary():
            value = value_of(expr.operand, names)
            return {"-": -value, "!": int(not value), "+": value}[expr.op]
        case Conditional():
            return value_of(expr.then if value_of(expr.condition, names) else expr.other, names)
        case Binary():
            return _binary(expr.op, value_of(expr.left, names), value_of(expr.right, names))
        case Call(function=Name(symbol=Symbol(name="ws_allocations_apart")), arguments=(left, right)):
            return int(value_of(left, names) // _BLOCK != value_of(right, names) // _BLOCK)
        case _:
            raise AssertionError(f"a guard with {expr}")


def _binary(op: str, left: int, right: int) -> int:
    table = {
        "+": left + right,
        "-": left - right,
        "*": left * right,
        "<": int(left < right),
        "<=": int(left <= right),
        ">": int(left > right),
        ">=": int(left >= right),
        "==": int(left == right),
        "!=": int(left != right),
        "&&": int(bool(left) and bool(right)),
        "||": int(bool(left) or bool(right)),
    }
    if op in ("/", "%"):
        quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
        return quotient if op == "/" else left - quotient * right
    return table[op]
