"""A linear congruential generator that skips ahead: every iteration works out its own state from the first one.

    for (i) { s = s * A + C; a[i] = s; }        for (i) { unsigned s_i = skip(s, i); s_i = s_i * A + C; a[i] = s_i; }
                                                s = skip(s, n);

k steps of x → A·x + C are x → A^k·x + C·(A^k - 1)/(A - 1), modulo 2^w; repeated squaring finds both in log2(k) rounds.
F. Brown, Random number generation with arbitrary strides, Transactions of the American Nuclear Society 71 (1994).
Invariant: the sequence is the user's, number for number. Unsigned types only, whose arithmetic is modulo 2^w; a modulus
of the program's own is a power of two, or so small that nothing wraps.
Limits: the same number of steps in every iteration, at the top of the loop's body; the first value of the counter does
not change while the loop runs.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from warpsmith.base.source import Edit, Span
from warpsmith.loops.remedies.model import EditCode
from warpsmith.loops.remedies.rewriting import (
    InsertionSite,
    calls_program,
    declare,
    fresh,
    function_start,
    is_plain,
    iterations_done,
    keeps_start,
    leaves_iteration,
    place_of,
    renamings,
    trip_count,
)
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import LoopFacts
from warpsmith.tree.nodes import Assign, Binary, Block, Expr, ExprStmt, For, Literal, Name, Unary
from warpsmith.tree.types import Scalar, Symbol
from warpsmith.tree.walk import peel, root_symbol, statements_of, walk

__all__ = ["skipping_generators"]


class _Generator(Struct, frozen=True):
    """x → (A·x + C) modulo M, taken `steps` times an iteration; `factor` and `term` as written, `modulus` 0: none but
    that of the type."""

    symbol: Symbol
    type: Scalar
    factor: int
    term: int
    modulus: int
    steps: int


def skipping_generators(facts: Facts, known: LoopFacts) -> Iterator[EditCode]:
    """Yield the edit in which every iteration skips ahead to its own state, for each generator of the loop."""
    place = place_of(facts, known)
    if place is None or place.loop.relation not in ("<", "<=", ">", ">=") or not keeps_start(place.loop):
        return
    if not isinstance(place.loop.body, Block) or not is_plain(place.loop):
        return
    if leaves_iteration(place.loop.body):
        return
    for symbol in known.blamed:
        if _is_seen_elsewhere(facts, known, place.loop, symbol):
            continue
        found = _generator(place.loop, symbol)
        if found is not None:
            yield _edit(known, place, found)


def _is_seen_elsewhere(facts: Facts, known: LoopFacts, loop: For, symbol: Symbol) -> bool:
    """Whether anything but the loop's own text may touch the variable while the loop runs."""
    if any(
        isinstance(part, Unary) and part.op == "&" and root_symbol(part.operand) == symbol
        for _, function in facts.program.functions()
        for part in walk(function.body)
    ):
        return True
    return symbol.storage not in ("local", "parameter") and calls_program(facts, loop)


def _generator(loop: For, symbol: Symbol) -> _Generator | None:
    """Return what a variable is, where every write of it is one and the same step at the top of the body."""
    type = symbol.type
    if not isinstance(type, Scalar) or type.kind != "unsigned" or type.bits not in (32, 64) or type.volatile:
        return None
    if symbol.storage not in ("local", "parameter", "static", "global", "static local"):
        return None
    steps: list[tuple[int, int, int]] = []
    top = {id(stmt.expr) for stmt in statements_of(loop.body) if isinstance(stmt, ExprStmt)}
    for part in walk(loop.body):
        target = part.target if isinstance(part, Assign) else part.operand if isinstance(part, Unary) else None
        if target is None or not isinstance(named := peel(target), Name) or named.symbol != symbol:
            continue
        if isinstance(part, Unary) and part.op in ("+", "-", "~", "!"):
            continue
        step = _step(part, symbol) if isinstance(part, Assign) and id(part) in top else None
        if step is None:
            return None
        steps.append(step)
    if not steps or len(set(steps)) != 1:
        return None
    factor, term, modulus = steps[0]
    return _Generator(symbol, type, factor, term, modulus, len(steps)) if _holds(type, *steps[0]) else None


def _holds(type: Scalar, factor: int, term: int, modulus: int) -> bool:
    """Whether steps may be combined: modulo a power of two that divides the type's, or where nothing wraps."""
    largest = 2**type.bits
    if not (0 <= factor < largest and 0 <= term < largest):
        return False
    return modulus & (modulus - 1) == 0 or max((modulus - 1) * factor + term, modulus * modulus) < largest


def _step(part: Assign, symbol: Symbol) -> tuple[int, int, int] | None:
    """Return A, C and M of `s = (s * A + C) % M`."""
    if part.op != "=":
        return None
    value, modulus = peel(part.value), 0
    # in the type of the state itself: what is worked out in a wider one wraps elsewhere
    if any(isinstance(inner, Binary) and inner.type != symbol.type for inner in walk(value)):
        return None
    if isinstance(value, Binary) and value.op in ("%", "&"):
        number = _number(value.right)
        if number is None or (value.op == "&" and (number + 1) & number != 0) or number <= 0:
            return None
        modulus = number if value.op == "%" else number + 1
        if isinstance(symbol.type, Scalar) and modulus == 2**symbol.type.bits:
            modulus = 0  # all bits: that of the type, which has no number for it
        value = peel(value.left)
    term = 0
    if isinstance(value, Binary) and value.op == "+":
        sides = (value.left, value.right) if _number(value.left) is None else (value.right, value.left)
        added = _number(sides[1])
        if added is None:
            return None
        value, term = peel(sides[0]), added
    return _product(value, symbol, term, modulus)


def _product(value: Expr, symbol: Symbol, term: int, modulus: int) -> tuple[int, int, int] | None:
    if not isinstance(value, Binary) or value.op != "*":
        return None
    sides = (value.left, value.right) if _number(value.left) is None else (value.right, value.left)
    state, factor = peel(sides[0]), _number(sides[1])
    if factor is None or not isinstance(state, Name) or state.symbol != symbol or value.type != state.type:
        return None
    return factor, term, modulus


def _number(expr: Expr) -> int | None:
    found = peel(expr)
    return found.value if isinstance(found, Literal) and isinstance(found.value, int) else None


def _edit(known: LoopFacts, place: InsertionSite, found: _Generator) -> EditCode:
    loop, name = place.loop, found.symbol.name
    own = fresh(loop.span, f"{name}_{loop.variable.name}")
    skip = fresh(loop.span, f"skip_{name}")
    body = loop.body.span
    times = "" if found.steps == 1 else f" * {found.steps}"
    inside = place.indent + place.unit
    line = body.file.text[body.start + 1 :].split("\n", 1)[0]
    gap = " " if line.strip() else f"{place.end}{inside}"
    first = f"{gap}{declare(found.type, own)} = {skip}({name}, {iterations_done(loop)}{times});"
    total = f"{name} = {skip}({name}, (unsigned long long)({trip_count(loop)}){times});"
    start = Span(body.file, body.start + 1, body.start + 1)
    edits = (
        Edit(function_start(known.function), "\n".join(_skip_function(found, skip, place.unit)) + "\n\n"),
        Edit(start, first),
        *renamings(loop.body, {found.symbol: own}),
        *place.behind([total]),
    )
    return EditCode(f"the state of {name} for each iteration, which skips ahead in the same sequence", edits)


def _skip_function(found: _Generator, name: str, unit: str) -> list[str]:
    """Return a function that takes any number of steps at once.

    Modulo a power of two the remainder is taken at the end; else everywhere, and the first step by itself: it takes a
    state that may be larger than the modulus.
    """
    words = declare(found.type, "").strip()
    suffix = "u" if found.type.bits == 32 else "ull"
    factor, term = f"{found.factor}{suffix}", f"{found.term}{suffix}"
    last = f" % {found.modulus}{suffix}" if found.modulus else ""
    rest = last if found.modulus & (found.modulus - 1) else ""
    added = f" + {term}" if found.term else ""
    first = [f"{unit}if (steps == 0)", f"{unit * 2}return state;"] if last else []
    first += [f"{unit}state = (state * {factor}{added}){rest};", f"{unit}steps -= 1;"] if rest else []
    return [
        f"static {words} {name}({words} state, unsigned long long steps)",
        "{",
        f"{unit}{words} factor = {factor}, term = {term}, all_factor = 1, all_term = 0;",
        *first,
        f"{unit}for (int bit = 0; bit < 64; bit++) {{",
        f"{unit * 2}if (steps >> bit & 1) {{",
        f"{unit * 3}all_factor = {_rest('all_factor * factor', rest)};",
        f"{unit * 3}all_term = {_rest('all_term * factor + term', rest)};",
        f"{unit * 2}}}",
        f"{unit * 2}term = {_rest('(factor + 1) * term', rest)};",
        f"{unit * 2}factor = {_rest('factor * factor', rest)};",
        f"{unit}}}",
        f"{unit}return {_rest('all_factor * state + all_term', last)};",
        "}",
    ]


def _rest(text: str, rest: str) -> str:
    return f"({text}){rest}" if rest else text
