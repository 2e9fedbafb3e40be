"""One shape for references to one object, so that two elements are equal exactly when their subscripts are.

    A[i*N + j]          stride N        (i, j)         under 0 <= j < N
    A[(i*M + j)*K + k]  strides M*K, K  (i, j, k)      under 0 <= j < M, 0 <= k < K
    a[i][j], int a[9][5], j not shown < 5              (5*i + j)

Strides are the parameter products that stand beside a counter in any subscript of the object (Grosser, Ramanujam,
Pouchet, Sadayappan, Pop: Optimistic delinearization of parametrically sized arrays, ICS 2015); they must divide each
other. A term goes to the largest stride that divides it. `A[i*N + N - 1 - j]` has its N moved to the last subscript by
a carry, and what all references add is left out where no counter moves it and it is no row. Each condition is
proved on the statement's domain, else guarded; a reference for which neither works has no subscripts (None): it may
touch any element.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import gcd

from warpsmith.poly.isl.formula import Formula, both
from warpsmith.poly.isl.polynomial import ONE, ZERO, Monomial, Polynomial, constant
from warpsmith.poly.regions.region import Access, Element, NamedStep, Statement, Subscript
from warpsmith.poly.regions.state import State
from warpsmith.tree.nodes import Binary, Literal
from warpsmith.tree.program import Assumption
from warpsmith.tree.walk import peel

__all__ = ["Reference", "layout", "shape", "stride_monomials"]

Reference = tuple[Statement, Access]


def shape(state: State, references: Sequence[Reference]) -> list[Element | None]:
    """Return comparable subscripts for every reference to one object (None: any element)."""
    runs = [_split(access) for _, access in references]
    results: list[list[Polynomial | NamedStep] | None] = [None if r is None else [] for r in runs]
    for level in range(max((len(r) for r in runs if r is not None), default=0)):
        _level(state, references, runs, results, level, shift=True)
    return [None if r is None else tuple(r) for r in results]


def layout(state: State, references: Sequence[Reference]) -> tuple[list[list[Polynomial]], list[Polynomial]] | None:
    """Return the subscripts of every reference and the stride of each (in elements), member names left out.

    References are to elements of one array; None where one of them may be any element.
    """
    runs = [_split(access) for _, access in references]
    if any(not r or not isinstance(r[0], tuple) for r in runs):
        return None
    results: list[list[Polynomial | NamedStep] | None] = [[] for _ in runs]
    strides = _level(state, references, runs, results, 0, shift=False)
    if strides is None or any(r is None for r in results):
        return None
    return [[p for p in r if isinstance(p, Polynomial)] for r in results if r is not None], strides


def stride_monomials(state: State, access: Access) -> tuple[object, ...]:
    """Return what decides the strides that a reference asks for: its steps, and the products beside its counters."""
    steps = tuple(None if isinstance(step, Subscript) else step for step in access.path)
    values = [step.value for step in access.path if isinstance(step, Subscript) and step.value is not None]
    return access.known, steps, frozenset(m for value in values for m in _stride_monomials(state, value))


Run = NamedStep | tuple[Subscript, ...]


def _split(access: Access) -> list[Run] | None:
    """Split a path into member names and runs of adjacent subscripts; None where nothing is known."""
    if not access.known:
        return None
    found: list[Run] = []
    for step in access.path:
        if not isinstance(step, Subscript):
            found.append(step)
        elif found and isinstance(found[-1], tuple):
            found[-1] = (*found[-1], step)
        else:
            found.append((step,))
    return found


def _level(
    state: State,
    references: Sequence[Reference],
    runs: list[list[Run] | None],
    results: list[list[Polynomial | NamedStep] | None],
    level: int,
    *,
    shift: bool,
) -> list[Polynomial] | None:
    """Append the comparable form of run number `level` to every result; return the strides of its subscripts."""
    members = [k for k, r in enumerate(runs) if r is not None and level < len(r) and results[k] is not None]
    numeric: list[tuple[int, tuple[Subscript, ...]]] = []
    for k in members:
        run, result = (runs[k] or [])[level], results[k]
        if isinstance(run, tuple):
            numeric.append((k, run))
        elif result is not None:
            result.append(run)
    if len({len(run) for _, run in numeric}) > 1:
        for k, _ in numeric:
            results[k] = None
        return None
    flat = not all(_inside(state, references[k][0], run) for k, run in numeric)
    heads = [(k, _flatten_run(run) if flat else run[0].value, run) for k, run in numeric]
    strides = _strides(state, [value for _, value, _ in heads if value is not None])
    strides, split = _split_best(state, references, _shift_heads(heads) if shift else heads, strides, shift=shift)
    for k, _, run in heads:
        parts = split[k]
        rest = [] if flat else [None if s.value is None else state.vocabulary.linear(s.value) for s in run[1:]]
        result = results[k]
        if parts is None or result is None or any(r is None for r in rest):
            results[k] = None
        else:
            result += [*parts, *(r for r in rest if r is not None)]
    return None if strides is None else _scale_strides(strides, () if flat or not numeric else numeric[0][1][1:])


Head = tuple[int, Polynomial | None, tuple[Subscript, ...]]


def _shift_heads(heads: list[Head]) -> list[Head]:
    """Subtract the number that all references add: `A[j*n + i + 1]`, alone, is as good as `A[j*n + i]`."""
    least = min((value.constant_term for _, value, _ in heads if value is not None), default=0)
    if least <= 0:
        return heads
    return [(k, None if value is None else value.shift(-least), run) for k, value, run in heads]


def _drop_shared(state: State, heads: list[Head], strides: Sequence[Polynomial] | None) -> list[Head]:
    """Leave out the terms that no counter moves and that are no rows, where all references add them:
    `A[n - 2*k*j + i]` is as good as `A[- 2*k*j + i]`, and n is nothing that a digit could be seen to hold."""
    values = [value for _, value, _ in heads if value is not None]
    kinds = state.vocabulary
    rows = [monomial for stride in (strides or ())[:-1] for monomial in stride.terms]
    shared = {
        monomial: factor
        for monomial, factor in (values[0].terms.items() if values and rows else ())
        if monomial and all(map(kinds.invariant, monomial)) and all(_rest(monomial, row) is None for row in rows)
        and all(value.terms.get(monomial) == factor for value in values)
    }  # fmt: skip
    if not shared:
        return heads
    return [(k, None if value is None else value - Polynomial(shared), run) for k, value, run in heads]


def _scale_strides(strides: list[Polynomial], inner: tuple[Subscript, ...]) -> list[Polynomial] | None:
    """Return the strides in elements: those of the outermost subscript times the extents inside it, then theirs."""
    tail = [ONE]
    for subscript in reversed(inner):
        if subscript.extent is None:
            return None
        tail.insert(0, tail[0] * subscript.extent)
    return [*(s * tail[0] for s in strides), *tail[1:]]


def _inside(state: State, statement: Statement, run: tuple[Subscript, ...]) -> bool:
    """Whether every inner subscript keeps to its dimension."""
    for subscript in run[1:]:
        if subscript.value is None or subscript.extent is None:
            return False
        limits = (subscript.value, subscript.extent.shift(-1) - subscript.value)
        text = state.vocabulary.text(subscript.value)
        if not state.require_on(statement.domain, limits, f"subscript {text}", declared=True):
            return False
    return True


def _flatten_run(run: tuple[Subscript, ...]) -> Polynomial | None:
    """Return the element number of a run whose inner extents are numbers; None where one is not."""
    total: Polynomial | None = ZERO
    for position, subscript in enumerate(run):
        extent = ONE if position == 0 else subscript.extent
        if total is None or subscript.value is None or extent is None or extent.number is None:
            return None
        total = total.scale(extent.number) + subscript.value
    return total


def _strides(state: State, values: list[Polynomial]) -> list[Polynomial] | None:
    """Return the strides, greatest first, ending with 1; None where they do not divide each other."""
    found = {monomial for value in values for monomial in _stride_monomials(state, value)}
    chain = sorted(found, key=len, reverse=True)
    if any(_rest(big, small) is None for big, small in pairwise(chain)):
        return None
    strides: list[Polynomial] = []
    for stride in chain:
        factor = gcd(*(_factors(values, stride, {*chain[: chain.index(stride)]})))
        strides.append(Polynomial({stride: max(1, factor)}))
    return [*strides, ONE]


def _stride_monomials(state: State, value: Polynomial) -> Iterator[Monomial]:
    """Yield the parameter products that stand beside one counter."""
    for monomial in value.terms:
        movers = [n for n in monomial if _moves(state, n)]
        if len(monomial) > 1 and len(movers) == 1:
            yield tuple(n for n in monomial if n != movers[0])


def _split_up(
    state: State, references: Sequence[Reference], heads: list[Head], strides: list[Polynomial] | None
) -> tuple[list[Polynomial] | None, dict[int, list[Polynomial] | None]]:
    """Return the strides, and the subscripts of each reference with them (None: any element)."""
    rows = _rows(state, references, heads) if strides == [ONE] else None
    if rows is not None:
        return rows[0], dict(rows[1])
    found: dict[int, list[Polynomial] | None] = {}
    for k, value, _ in heads:
        found[k] = _decompose(state, references[k][0], value, strides) if value is not None and strides else None
    return strides, found


def _split_best(
    state: State,
    references: Sequence[Reference],
    heads: list[Head],
    strides: list[Polynomial] | None,
    *,
    shift: bool,
) -> tuple[list[Polynomial] | None, dict[int, list[Polynomial] | None]]:
    """Return what _split_up does: of the subscripts as they are where that is proved without a guard, else of what is
    left without the terms that all of them add (`shift`: that is allowed)."""
    less = _shift_heads(_drop_shared(state, heads, strides)) if shift else heads
    if all(one is other for one, other in zip(less, heads, strict=True)):
        return _split_up(state, references, heads, strides)
    allowed, state.guards = state.guards, False
    remembered = len(state.unproved)
    try:
        found = _split_up(state, references, heads, strides)
    finally:
        state.guards = allowed
    if all(parts is not None for parts in found[1].values()):
        return found
    del state.unproved[remembered:]
    return _split_up(state, references, less, strides)


def _rows(
    state: State, references: Sequence[Reference], heads: list[Head]
) -> tuple[list[Polynomial], dict[int, list[Polynomial]]] | None:
    """Return the stride and the subscripts of references to whole rows, `p[i]`, `p[n + i]`, `p[m*n + i]`, where no
    counter stands beside the n; None where there is no such n, or a reference may leave its row."""
    values = [value for _, value, _ in heads if value is not None]
    if len(values) < 2 or len(values) < len(heads):
        return None
    apart = {m for v in values for m in (v - values[0]).terms if m and not any(_moves(state, n) for n in m)}
    if all(len(monomial) < 2 for monomial in apart):
        # rows that are one parameter apart are distinguished without strides
        return None
    row = min(apart, key=len)
    if any(_rest(monomial, row) is None for monomial in apart):
        return None
    strides = [Polynomial({row: 1}), ONE]
    found: dict[int, list[Polynomial]] = {}
    for k, value, _ in heads:
        parts = _decompose(state, references[k][0], value, strides) if value is not None else None
        if parts is None:
            return None
        found[k] = parts
    return strides, found


def _moves(state: State, name: str) -> bool:
    """Whether an atom is a counter (one around the scope included) or a quotient that depends on one."""
    return state.vocabulary[name].kind == "counter" or not state.vocabulary.invariant(name)


def _factors(values: list[Polynomial], stride: Monomial, larger: set[Monomial]) -> list[int]:
    return [
        factor
        for value in values
        for monomial, factor in value.terms.items()
        if _rest(monomial, stride) is not None and all(_rest(monomial, big) is None for big in larger)
    ]


def _rest(monomial: Monomial, factor: Monomial) -> Monomial | None:
    """Return monomial / factor, or None where it does not divide."""
    left = list(monomial)
    for name in factor:
        if name not in left:
            return None
        left.remove(name)
    return tuple(left)


def _decompose(
    state: State, statement: Statement, value: Polynomial, strides: list[Polynomial]
) -> list[Polynomial] | None:
    """Return the subscripts of `value`, outermost first, with every inner one proved or guarded inside its size."""
    digits = _digits(value, strides)
    if digits is None:
        return None
    for position in range(len(strides) - 1, 0, -1):
        size = _size(strides[position - 1], strides[position])
        fitted = None if size is None else _fit(state, statement.domain, digits, position, size)
        if fitted is None:
            return None
        digits = fitted
    linear = [state.vocabulary.linear(d) for d in digits]
    return [d for d in linear if d is not None] if all(d is not None for d in linear) else None


def _digits(value: Polynomial, strides: list[Polynomial]) -> list[Polynomial] | None:
    """Give every term to the largest stride that divides it and leaves at most one atom."""
    digits = [ZERO for _ in strides]
    for monomial, factor in value.terms.items():
        for position, stride in enumerate(strides):
            ((names, unit),) = stride.terms.items()
            rest = _rest(monomial, names)
            last = position == len(strides) - 1
            if rest is not None and factor % unit == 0 and (len(rest) <= 1 or last):
                digits[position] = digits[position] + Polynomial({rest: factor // unit})
                break
        else:
            return None
    return digits


def _size(outer: Polynomial, inner: Polynomial) -> Polynomial | None:
    ((big, many),), ((small, few),) = outer.terms.items(), inner.terms.items()
    rest = _rest(big, small)
    return Polynomial({rest: many // few}) if rest is not None and many % few == 0 else None


def _fit(
    state: State, domain: Formula, digits: list[Polynomial], position: int, size: Polynomial
) -> list[Polynomial] | None:
    """Return the digits with 0 <= digits[position] < size: as they are, with a carry, or under a guard."""
    allowed, state.guards = state.guards, False
    remembered = len(state.unproved)
    try:
        for carry in (0, 1, -1):
            moved = _carry_digits(digits, position, size, carry)
            if state.require_on(both((domain,)), _limits(moved[position], size), _words(state, moved[position])):
                del state.unproved[remembered:]
                return moved
    finally:
        state.guards = allowed
    del state.unproved[remembered:]
    context, assumed = state.context, len(state.assumptions)
    held = state.require_on(domain, _limits(digits[position], size), _words(state, digits[position]))
    if held and any(map(_pins_down, state.assumptions[assumed:])):
        # inside its size for one value of a variable alone: no digit
        state.context, held = context, False
        del state.assumptions[assumed:]
    return digits if held else None


def _pins_down(assumption: Assumption) -> bool:
    """Whether an assumption holds for one value of a variable."""
    test = None if assumption.condition is None else peel(assumption.condition)
    return isinstance(test, Binary) and test.op == "==" and isinstance(peel(test.right), Literal)


def _carry_digits(digits: list[Polynomial], position: int, size: Polynomial, carry: int) -> list[Polynomial]:
    """Move `carry` units of the next larger digit into this one."""
    moved = list(digits)
    moved[position] = digits[position] + size.scale(carry)
    moved[position - 1] = digits[position - 1] - constant(carry)
    return moved


def _limits(value: Polynomial, size: Polynomial) -> tuple[Polynomial, Polynomial]:
    return value, size.shift(-1) - value


def _words(state: State, value: Polynomial) -> str:
    return f"subscript {state.vocabulary.text(value)}"
