"""What warpsmith says of random nests, set against the oracle."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import assert_never

from tests.random_programs.nests import Nest, render_unit
from tests.random_programs.oracle import conflicting_loops, entries_of
from tests.random_programs.replay import Witness, parse_witness, replay
from warpsmith.base.verdict import Assumed, Proved, Refuted, Unknown
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.poly.analyze import Facts, analyze
from warpsmith.poly.facts import LoopFacts, PolyOptions
from warpsmith.tree.nodes import Binary, Cast, Conditional, Expr, Literal, Name, Unary
from warpsmith.tree.program import Assumption, Program

__all__ = ["LEGAL", "ROOM", "SIZES", "Mix", "judge", "load"]

# (n, m, w); in the last ones rows overlap: there a verdict must rest on a condition that is false
LEGAL = ((8, 9, 31), (9, 7, 32), (7, 7, 33))
SIZES = (*LEGAL, (4, 4, 2), (5, 6, 1), (0, 1, 5))
ROOM = 1200


@dataclass
class Mix:
    """Counts over all nests, and everything that is wrong."""

    nests: int = 0
    loops: int = 0
    parallel: int = 0
    found: int = 0
    refuted: int = 0
    unknown: int = 0
    with_parallel: int = 0
    all_refused: int = 0
    missed: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        share = 100 * self.found / max(1, self.parallel)
        return (
            f"{self.nests} nests, {self.loops} loops: {self.parallel} parallel, {self.found} found ({share:.1f} %), "
            f"{self.refuted} refuted with a witness, {self.unknown} unknown; "
            f"{self.with_parallel} nests ported in part or whole, {self.all_refused} refused"
        )


def load(batch: list[Nest], directory: Path) -> tuple[Program, str]:
    """Return the batch as a program, and the path of its file."""
    path = directory / "nests.c"
    path.write_text(render_unit(batch, SIZES, ROOM))
    loaded = load_program([str(path)], FrontOptions())
    assert not loaded.findings, loaded.findings
    return loaded.program, str(path)


def judge(batch: list[Nest], facts: Facts, directory: Path, mix: Mix) -> None:
    """Add what is right and wrong with `facts` to `mix`."""
    by_name = {function.function.symbol.name: function.loops for function in facts.functions}
    witnesses: list[tuple[Nest, Witness]] = []
    for nest in batch:
        loops = by_name[nest.name]
        truth = conflicting_loops(nest, LEGAL)
        mix.nests += 1
        for depth, loop in enumerate(loops):
            mix.loops += 1
            _judge_loop(nest, depth, loop, truth, mix)
            if isinstance(loop.verdict, Refuted):
                witnesses += [(nest, parse_witness(r.dependence.witness)) for r in loop.verdict.reasons if r.dependence]
        ported = any(isinstance(loop.verdict, Proved) for loop in loops)
        mix.with_parallel += ported
        mix.all_refused += not ported
    mix.wrong += [f"witness does not replay: {text}" for text in replay(witnesses, directory)] if witnesses else []


def _judge_loop(nest: Nest, depth: int, loop: LoopFacts, truth: set[int], mix: Mix) -> None:
    mix.parallel += depth not in truth
    match loop.verdict:
        case Proved(assumptions):
            mix.found += depth not in truth
            sizes = tuple(size for size in SIZES if _hold(assumptions, nest, depth, size))
            if depth in conflicting_loops(nest, sizes):
                mix.wrong.append(f"{loop.id} is called parallel")
        case Refuted(reasons):
            mix.refuted += 1
            if not any(reason.dependence is not None for reason in reasons):
                mix.wrong.append(f"{loop.id} is refuted without a witness")
        case Unknown():
            mix.unknown += 1
        case _:
            assert_never(loop.verdict)
    if depth not in truth and not isinstance(loop.verdict, Proved):
        mix.missed.append(f"{loop.id}: {loop.reasons[0].text if loop.reasons else '?'}")


def _hold(assumptions: tuple[Assumed, ...], nest: Nest, depth: int, size: tuple[int, int, int]) -> bool:
    """Whether the conditions hold wherever the loop at `depth` is entered."""
    conditions = [a.condition for a in assumptions if isinstance(a, Assumption) and a.condition is not None]
    entries = entries_of(nest, depth, size) if conditions else []
    return all(_value(condition, names) for names in entries for condition in conditions)


def _value(expr: Expr, names: Mapping[str, int]) -> int:
    """Evaluate a guard; its arithmetic is 64-bit, so plain integers do."""
    match expr:
        case Literal():
            return int(expr.value or 0)
        case Name():
            return names[expr.symbol.name]
        case Cast():
            return _value(expr.operand, names)
        case Unary():
            value = _value(expr.operand, names)
            return {"-": -value, "!": int(not value), "+": value}[expr.op]
        case Conditional():
            return _value(expr.then if _value(expr.condition, names) else expr.other, names)
        case Binary():
            return _binary(expr.op, _value(expr.left, names), _value(expr.right, names))
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


def analyzed(program: Program) -> Facts:
    """Return the facts with default options."""
    return analyze(program, PolyOptions())
