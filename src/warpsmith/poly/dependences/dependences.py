"""Which pairs of iterations of one loop touch the same element: exact, with distance, direction and a witness.

For references R1 (statement S1) and R2 (statement S2) to one object, at least one a write, the relation
{ x -> y : x in S1, y in S2, R1(x) = R2(y), x before y in the loop } holds all conflicts that the loop carries; the
loops around it are parameters. It is empty exactly when there is none (for over-approximated domains: if it is empty
there is none). A sample point of it, small parameter values first, is the witness.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import gcd

from msgspec import Struct, field
from msgspec.structs import replace

from warpsmith.base.verdict import Dependence, DependenceKind, Direction
from warpsmith.poly.dependences.index_maps import MapValue, map_values, shared_values
from warpsmith.poly.isl.formula import Formula, at_least, atoms_of, both, equal
from warpsmith.poly.isl.polynomial import ZERO, Polynomial, atom, constant
from warpsmith.poly.isl.space import (
    Map,
    OutOfBudgetError,
    Set,
    deltas,
    make_map,
    make_set,
    nearest,
    order,
    parameters_of,
    point,
)
from warpsmith.poly.regions.region import Access, Element, MemberStep, Region, Statement, Subscript
from warpsmith.poly.regions.state import State
from warpsmith.poly.regions.subscripts.views import elements
from warpsmith.tree.nodes import For
from warpsmith.tree.types import Pointer, Symbol

__all__ = [
    "Conflict", "Reference", "access_map", "atoms_of_reference", "collide", "common_steps", "conflicts", "describe",
    "evaluate", "meaningful", "overlap", "references", "sample_witness", "small_point", "summarize",
]  # fmt: skip

_OWN = "&"
# each takes isl about a millisecond; those that subscripts tell apart at sight are not among them
_MOST_PAIRS = 12_000
_MOST_SEEN = 200_000


class Reference(Struct, frozen=True):
    """One access with its statement and its comparable subscripts (None: any element)."""

    statement: Statement
    access: Access
    element: Element | None

    @property
    def exact(self) -> bool:
        """Whether it certainly happens at every point of its domain, at exactly this element."""
        return self.statement.exact and self.element is not None


class Conflict(Struct, frozen=True):
    """Two references that touch one element in different iterations; `relation` is None where that is only possible."""

    first: Reference
    second: Reference
    relation: Map | None

    @property
    def kind(self) -> DependenceKind:
        """flow: write then read; anti: read then write; output: both write."""
        if not self.first.access.write:
            return "anti"
        return "output" if self.second.access.write else "flow"

    @property
    def certain(self) -> bool:
        """Whether a point of the relation is a real conflict."""
        return self.relation is not None and self.first.exact and self.second.exact


def references(
    state: State,
    region: Region,
    skip: frozenset[Symbol],
    owner: Callable[[Statement], object] = lambda _: None,
) -> list[list[Reference]]:
    """Return the references of every object that is written, grouped by (base, place).

    The variables of `skip` are left out; what a pointer among them points to is not. Of equal references of one owner
    only the first is kept.
    """
    groups: dict[tuple[Symbol, str], list[tuple[Statement, Access]]] = {}
    for statement in region.statements:
        for access in statement.accesses:
            if access.base not in skip or _through(access):
                own = isinstance(access.base.type, Pointer) and not _through(access)
                groups.setdefault((access.base, _OWN if own else access.place), []).append((statement, access))
    merged = _merge_places(groups)
    found: list[list[Reference]] = []
    for group in merged:
        unique = _unique(group, owner)
        if any(a.write for _, a in unique):
            seen = elements(state, unique)
            found.append([Reference(s, a, e) for (s, a), e in zip(unique, seen, strict=True)])
    return found


def _through(access: Access) -> bool:
    """Whether an access is to what a pointer points to, not to the variable itself."""
    return isinstance(access.base.type, Pointer) and (bool(access.path) or bool(access.place) or not access.known)


def _merge_places(
    groups: Mapping[tuple[Symbol, str], list[tuple[Statement, Access]]],
) -> Iterator[list[tuple[Statement, Access]]]:
    """References through one pointer place stand alone unless the base has an unknown place or call: then all meet."""
    bases: dict[Symbol, list[str]] = {}
    for base, place in groups:
        if place == _OWN:
            yield groups[(base, place)]
        else:
            bases.setdefault(base, []).append(place)
    for base, places in bases.items():
        vague = [p for p in places if any(not a.known for _, a in groups[(base, p)])]
        pointers = [p for p in places if p]
        if vague or len(pointers) > 1:
            whole = [(s, _vague(a) if a.place else a) for p in places for s, a in groups[(base, p)]]
            yield whole
        else:
            for place in places:
                yield groups[(base, place)]


def _vague(access: Access) -> Access:
    """An access of which only the base is known."""
    return Access(access.expr, access.base, access.place, (), False, access.element, access.write)


def _unique(
    group: Sequence[tuple[Statement, Access]], owner: Callable[[Statement], object]
) -> list[tuple[Statement, Access]]:
    seen: set[tuple[object, ...]] = set()
    found: list[tuple[Statement, Access]] = []
    for statement, access in group:
        place = repr(access.path), access.known, access.write
        key = (*place, statement.counters, repr(statement.domain), statement.exact, owner(statement))
        if key not in seen:
            seen.add(key)
            found.append((statement, access))
    return found


class _Relations(Struct):
    """Relations made once and used for many pairs."""

    state: State
    maps: dict[tuple[int, int, str], Map] = field(default_factory=dict)
    values: dict[int, tuple[MapValue, ...]] = field(default_factory=dict)

    def relation(self, reference: Reference, length: int, value: MapValue | None = None) -> Map:
        key = (id(reference), length, "" if value is None else value.name)
        if key not in self.maps:
            more = () if value is None else value.numbers
            self.maps[key] = access_map(self.state, reference, length, more)
        return self.maps[key]

    def meet(self, first: Reference, second: Reference, length: int, among: Map | None = None) -> Map | None:
        """Return the pairs of iterations (those of `among`, if given) that touch one element as far as `length` steps
        tell, or None where there are none."""
        left, right = self.relation(first, length), self.relation(second, length)
        pairs = left.apply_range(right.reverse())
        pairs = pairs if among is None else pairs.intersect(among)
        if pairs.is_empty() or (pairs := self.through_maps(first, second, length, pairs)).is_empty():
            return None
        return pairs

    def through_maps(self, first: Reference, second: Reference, length: int, pairs: Map) -> Map:
        """Return the pairs of iterations without those that values of one map in both tell apart (index_maps.py)."""
        for one, other in shared_values(self.map_values(first), self.map_values(second)):
            left, right = self.relation(first, length, one), self.relation(second, length, other)
            both_ways = left.apply_range(one.law.relation(len(_numbers(first, length)))).apply_range(right.reverse())
            pairs = pairs.intersect(both_ways)
            if pairs.is_empty():
                break
        return pairs

    def map_values(self, reference: Reference) -> tuple[MapValue, ...]:
        key = id(reference)
        if key not in self.values:
            self.values[key] = map_values(self.state.vocabulary, atoms_of_reference(reference))
        return self.values[key]


class _Tester(Struct):
    """The conflicts that one loop carries; relations and orders are made once."""

    state: State
    loop: For
    counter: str
    relations: _Relations
    orders: dict[tuple[int, int], Map] = field(default_factory=dict)

    @classmethod
    def of(cls, state: State, loop: For) -> _Tester:
        return cls(state, loop, state.vocabulary.counter(loop.variable, loop, None), _Relations(state))

    def before(self, first: int, second: int) -> Map:
        if (first, second) not in self.orders:
            self.orders[(first, second)] = order(first, second, descending=self.loop.step < 0)
        return self.orders[(first, second)]

    def test(self, first: Reference, second: Reference) -> Conflict | None:
        """Return the conflict of `first` in an earlier iteration with `second` in a later one, or None."""
        shared = self.compared_steps(first, second)
        if shared is None:
            return None
        depths = len(first.statement.counters), len(second.statement.counters)
        pairs = self.relations.meet(first, second, shared[0], self.before(*depths))
        return None if pairs is None else Conflict(first, second, pairs if shared[1] else None)

    def compared_steps(self, first: Reference, second: Reference) -> tuple[int, bool] | None:
        """Return `common_steps` of two references; None where one look tells that they never meet."""
        shared = common_steps(first.element, second.element)
        if shared is None or self._apart(first, second, shared[0]) or _members_apart(first.access, second.access):
            return None
        return shared

    def _apart(self, first: Reference, second: Reference, length: int) -> bool:
        """Whether one subscript is the same function of this loop's counter alone on both sides (the common case), or
        never the same number (the GCD test)."""
        for a, b in zip((first.element or ())[:length], (second.element or ())[:length], strict=True):
            if not isinstance(a, Polynomial) or not isinstance(b, Polynomial):
                continue
            if a != b:
                if _never_equal(a, b):
                    return True
            elif self.counter in a.atoms():
                others = a.atoms() - {self.counter}
                if all(self.state.vocabulary.invariant(n) for n in others):
                    return True
        return False


def _never_equal(first: Polynomial, second: Polynomial) -> bool:
    """Whether two polynomials differ for all whole numbers, each with atoms of its own: the greatest common divisor of
    their factors does not divide what their constants differ by (U. Banerjee, Dependence Analysis for Supercomputing,
    1988)."""
    apart = first.constant_term - second.constant_term
    common = gcd(*(factor for one in (first, second) for monomial, factor in one.terms.items() if monomial))
    return apart % common != 0 if common else apart != 0


def _members_apart(first: Access, second: Access) -> bool:
    """Whether two references are to different members of elements of one array, whichever elements these are."""
    if not (first.known and second.known):
        return False
    for one, other in zip(first.path, second.path, strict=False):
        match one, other:
            case Subscript(), Subscript():
                pass
            case MemberStep(), MemberStep():
                if one != other:
                    return True
            case _:
                return False
    return False


def access_map(state: State, reference: Reference, length: int, more: Sequence[Polynomial] = ()) -> Map:
    """Return {iteration of the statement -> the first `length` steps of the element}, member names left out; with the
    values of `more`, which are linear, behind them."""
    outputs = [*_numbers(reference, length), *more]
    statement = reference.statement
    formula = both((statement.domain, state.context))
    unsigned = [n for n in atoms_of(formula) if (low := state.vocabulary[n].low) is not None and low >= 0]
    formula = both((formula, *(at_least(atom(n), constant(0)) for n in sorted(unsigned))))
    return make_map(state.vocabulary, statement.counters, outputs, formula)


def _numbers(reference: Reference, length: int) -> list[Polynomial]:
    return [p for p in (reference.element or ())[:length] if isinstance(p, Polynomial)]


def atoms_of_reference(reference: Reference) -> Iterator[str]:
    """Yield the atoms of a reference's domain and of its subscripts."""
    yield from atoms_of(reference.statement.domain)
    for part in reference.element or ():
        if isinstance(part, Polynomial):
            yield from part.atoms()


def common_steps(first: Element | None, second: Element | None) -> tuple[int, bool] | None:
    """Return how many leading steps are to be compared and whether agreement there means overlap.

    None where member names tell the elements apart.
    """
    if first is None or second is None:
        return 0, False
    for position, (a, b) in enumerate(zip(first, second, strict=False)):
        if isinstance(a, Polynomial) and isinstance(b, Polynomial):
            continue
        if isinstance(a, MemberStep) and isinstance(b, MemberStep) and a != b:
            return None
        if a != b:
            return position, False
    return min(len(first), len(second)), True


def conflicts(state: State, region: Region, loop: For, groups: list[list[Reference]]) -> list[Conflict]:
    """Return every conflict that `loop`, the outermost loop of the region's scope, carries.

    Raises OutOfBudgetError where there are too many pairs of references to compare.
    """
    tester = _Tester.of(state, loop)
    _bound(sum(len(group) ** 2 for group in groups), _MOST_SEEN)
    pairs = [pair for group in groups for pair in _pairs(tester, group)]
    _bound(len(pairs), _MOST_PAIRS)
    return [conflict for pair in pairs if (conflict := tester.test(*pair)) is not None]


def _bound(pairs: int, most: int) -> None:
    if pairs > most:
        raise OutOfBudgetError(f"{pairs:,} pairs of accesses would have to be compared, and at most {most:,} are")


def _pairs(tester: _Tester, group: list[Reference]) -> Iterator[tuple[Reference, Reference]]:
    """Yield the references that may meet, one of them a write: that of an earlier iteration first."""
    inside = [reference for reference in group if reference.statement.loops]
    for i, first in enumerate(inside):
        for second in inside[i:]:
            if (first.access.write or second.access.write) and tester.compared_steps(first, second) is not None:
                yield from ((first, second),) if first is second else ((first, second), (second, first))


def collide(state: State, region: Region, loop: For, first: Reference, second: Reference) -> Conflict | None:
    """Return the conflict of `first` in an earlier iteration of `loop` with `second` in a later one, or None."""
    return _Tester.of(state, loop).test(first, second)


def overlap(state: State, first: Reference, second: Reference) -> Conflict | None:
    """Return all pairs of an instance of `first` and one of `second` that touch one element, whichever runs before the
    other, or None where there are none. Without `certain` they are those that may."""
    shared = common_steps(first.element, second.element)
    if shared is None or _members_apart(first.access, second.access):
        return None
    pairs = _Relations(state).meet(first, second, shared[0])
    if pairs is None:
        return None
    return Conflict(first if shared[1] else replace(first, element=None), second, pairs)


# --- what is said of one conflict


def describe(state: State, region: Region, conflict: Conflict, ids: Mapping[For, str]) -> Dependence | None:
    """Return the dependence with distance, direction and witness; None where no real witness is found."""
    if conflict.relation is None or not conflict.certain:
        return None
    relation = nearest(conflict.relation, latest=conflict.kind == "flow")
    witness = sample_witness(state, region, conflict, relation)
    return None if witness is None else summarize(region, conflict, relation, witness, ids)


def sample_witness(state: State, region: Region, conflict: Conflict, relation: Map) -> str | None:
    """Return two iterations of `relation`, small ones first, with the element that both touch; None where none is
    found."""
    sample = _sample(state, conflict, relation)
    return None if sample is None else _witness(state, region, conflict, sample)


def summarize(region: Region, conflict: Conflict, relation: Map, witness: str, ids: Mapping[For, str]) -> Dependence:
    """Return the dependence of which `relation` has all pairs of iterations, or more."""
    first, second = conflict.first, conflict.second
    common = sum(a is b for a, b in zip(first.statement.loops, second.statement.loops, strict=False))
    around = len(region.outer)
    steps = [loop.step for loop in first.statement.loops[:common]]
    ranges = deltas(relation, common)
    distance: list[int | None] = [0] * around
    direction: list[Direction] = ["="] * around
    for (low, high), step in zip(ranges, steps, strict=True):
        low, high = (low, high) if step > 0 else (_negate(high), _negate(low))
        distance.append(low // abs(step) if low is not None and low == high else None)
        direction.append(_direction(low, high))
    return Dependence(
        conflict.kind,
        first.access.base.name,
        first.access.expr.span,
        second.access.expr.span,
        tuple(distance),
        tuple(direction),
        _carrier(first.statement.loops[:common], direction[around:], ids),
        witness,
    )


def meaningful(state: State, conflict: Conflict) -> Conflict | None:
    """Return the conflict without the pairs in which a subscript leaves its dimension, where the program has no
    meaning; None where nothing is left."""
    if conflict.relation is None:
        return None
    left, right = (_inside(state, reference) for reference in (conflict.first, conflict.second))
    relation = conflict.relation.intersect_domain(left).intersect_range(right)
    return None if relation.is_empty() else Conflict(conflict.first, conflict.second, relation)


def _inside(state: State, reference: Reference) -> Set:
    """Return the iterations in which the subscripts of a reference keep to their dimensions."""
    parts: list[Formula] = []
    for step in reference.access.path:
        if isinstance(step, Subscript) and step.value is not None and step.extent is not None:
            limits = step.value, step.extent.shift(-1) - step.value
            linear = (state.vocabulary.linear(limit) for limit in limits)
            parts += [at_least(limit, ZERO) for limit in linear if limit is not None]
    return make_set(state.vocabulary, reference.statement.counters, both(parts))


def _carrier(loops: Sequence[For], direction: Sequence[Direction], ids: Mapping[For, str]) -> str | None:
    """Return the outermost loop that may tell the two iterations apart."""
    return next((ids[loop] for loop, way in zip(loops, direction, strict=True) if way != "="), None)


def _negate(value: int | None) -> int | None:
    return None if value is None else -value


def _direction(low: int | None, high: int | None) -> Direction:
    if low is not None and low > 0:
        return "<"
    if high is not None and high < 0:
        return ">"
    return "=" if low == 0 and high == 0 else "*"


Sample = tuple[dict[str, int], tuple[int, ...], tuple[int, ...]]


def _sample(state: State, conflict: Conflict, relation: Map) -> Sample | None:
    """Return (parameters, first iteration, second iteration) of a real conflict, small values first."""
    depth = len(conflict.first.statement.counters)
    found = small_point(state, relation.wrap().flatten())
    return None if found is None else (found[0], found[1][:depth], found[1][depth:])


def small_point(state: State, pairs: Set) -> tuple[dict[str, int], tuple[int, ...]] | None:
    """Return (parameters, an element) of a set over the model's parameters, small values first; None where none is
    found."""
    vocabulary = state.vocabulary
    names = parameters_of(pairs)
    factors = sorted({p for n in names for p in vocabulary[n].parts})
    plain = [n for n in names if not vocabulary[n].parts]
    for limit in (4, 8, 16, 64, 1024):
        for values in _factor_choices(state, factors, limit):
            near: list[Formula] = [equal(atom(n), constant(v)) for n, v in values.items()]
            for name in plain:
                near += [at_least(atom(name), constant(-limit)), at_least(constant(limit), atom(name))]
            for name in names:
                if vocabulary[name].parts:
                    near.append(equal(atom(name), constant(_product(values, vocabulary[name].parts))))
            found = point(pairs.intersect_params(make_set(vocabulary, (), both(near)).params()))
            if found is not None:
                return {**values, **found[0]}, found[1]
    return None


def _factor_choices(state: State, factors: Sequence[str], limit: int) -> Iterator[dict[str, int]]:
    """Yield a few assignments to the factors of product parameters."""
    if not factors:
        yield {}
        return
    for start in range(min(limit, 8), 0, -1):
        yield {name: start + (k % 2) for k, name in enumerate(factors)}


def _product(values: Mapping[str, int], parts: Sequence[str]) -> int:
    result = 1
    for part in parts:
        result *= values[part]
    return result


def _witness(state: State, region: Region, conflict: Conflict, sample: Sample) -> str:
    parameters, one, two = sample
    vocabulary = state.vocabulary
    outer = [parameters.get(name, 0) for _, name in region.outer]
    shown = {vocabulary[n].text: v for n, v in sorted(parameters.items()) if vocabulary[n].kind == "parameter"}
    head = ", ".join(f"{name} = {value}" for name, value in shown.items())
    first, second = conflict.first, conflict.second
    one_statement = first.statement is second.statement
    names = ("S", "S") if one_statement else ("S1", "S2")
    element = _element(state, first, {**parameters, **dict(zip(first.statement.counters, one, strict=True))})
    verbs = ("writes" if first.access.write else "reads"), ("writes" if second.access.write else "reads")
    left = ",".join(str(v) for v in (*outer, *one))
    right = ",".join(str(v) for v in (*outer, *two))
    text = f"{names[0]}({left}) {verbs[0]} {element}, {names[1]}({right}) {verbs[1]} it"
    return f"{head}: {text}" if head else text


def _element(state: State, reference: Reference, values: Mapping[str, int]) -> str:
    """Return the element as the user would write it, subscripts as numbers."""
    access = reference.access
    numbers = evaluate(state, [s.value for s in access.path if isinstance(s, Subscript)], values)
    text = access.place or access.base.name
    queue = iter("?" if number is None else str(number) for number in numbers)
    for step in access.path:
        text += f"[{next(queue)}]" if isinstance(step, Subscript) else f".{step.text}"
    return text


def evaluate(state: State, wanted: Sequence[Polynomial | None], values: Mapping[str, int]) -> list[int | None]:
    """Evaluate polynomials; quotients get their value from isl. None where a value is not known."""
    known = dict(values)
    used = frozenset(n for p in wanted if p is not None for n in p.atoms())
    quotients, definitions = state.vocabulary.definitions(used)
    if quotients:
        names = sorted(quotients)
        mentioned = frozenset().union(*(atoms_of(d) for d in definitions)) - quotients
        fixed = [equal(atom(n), constant(v)) for n, v in known.items() if n in mentioned]
        found = point(make_set(state.vocabulary, names, both((*definitions, *fixed))))
        if found is not None:
            known.update(zip(names, found[1], strict=True))
    results: list[int | None] = []
    for polynomial in wanted:
        for name, value in known.items():
            polynomial = None if polynomial is None else polynomial.substitute(name, constant(value))
        results.append(None if polynomial is None else polynomial.number)
    return results
