"""Arrays that iterations fill one behind the other: each iteration has the places over which it moves a counter.

    if (x[i] > 0)              an iteration that moves k from 3 to 4 has out[3], the next one that moves it out[4]
        out[k++] = x[i];
    if (x[i] > 0) {            … that moves k from 6 to 8 has pair[6] and pair[7]
        pair[k] = i; pair[k + 1] = x[i]; k += 2;
    }

Invariant: k only ever moves one way, so the intervals [k before a run, k behind it) of all runs of all iterations are
apart, also where all are shifted by one number; a packed array is used in the loop at places in such intervals only, so
no two iterations use one element.
Limits: subscripts are a * k + c with numbers a > 0 and c; the array is named, and k stands in its first subscript.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from warpsmith.poly.dependences.sites import UpdateSite, find_sites
from warpsmith.poly.regions.region import Access, Region
from warpsmith.tree.nodes import Binary, Cast, Expr, For, Index, Literal, Member, Name, Unary
from warpsmith.tree.types import INT, Array, Pointer, Scalar, Symbol, is_integer
from warpsmith.tree.walk import peel, walk

__all__ = ["find_packed", "is_element", "is_packed"]


class _Place(Struct, frozen=True):
    """One use of an array at scale * k + c, where k counts from the start of a run that moves it by `moved`: `at` is c,
    with what k has moved there already."""

    counter: Symbol
    scale: int
    at: int
    moved: int


def find_packed(loop: For, counters: Iterable[Symbol], region: Region, *, alike: bool = False) -> frozenset[Symbol]:
    """Return the arrays that the iterations of `loop` fill one behind the other, each counted by one of `counters`,
    scalars that nothing outside their sites writes; `alike`: also by those that every iteration moves on alike."""
    places: dict[int, _Place] = {}
    for counter in counters:
        sites = find_sites(loop, counter)
        # what every iteration moves on alike has a closed form, which is better (the step eliminate-recurrence)
        if (alike or any(site.conditions for site in sites)) and _is_wide_enough(counter, loop, sites):
            places |= _find_places(counter, sites)
    if not places:
        return frozenset()
    used: dict[Symbol, list[_Place | None]] = {}
    for access in (a for s in region.statements for a in s.accesses if is_element(a)):
        used.setdefault(access.base, []).append(places.get(id(access.expr)))
    return frozenset(symbol for symbol, mine in used.items() if is_packed(mine))


def is_packed(places: Sequence[_Place | None]) -> bool:
    """Whether all uses of an array are at places of one counter, in intervals that are apart."""
    known = [place for place in places if place is not None]
    if len(known) != len(places) or len({(p.counter, p.scale) for p in known}) != 1:
        return False
    rising = known[0].moved > 0
    first = min(p.at for p in known) if rising else max(p.at for p in known)
    return all(abs(p.at - first) < p.scale * abs(p.moved) for p in known)


def is_element(access: Access) -> bool:
    """Whether an access is to what an array holds or a pointer points to."""
    return not isinstance(access.base.type, Pointer) or bool(access.path or access.place) or not access.known


def _is_wide_enough(counter: Symbol, loop: For, sites: tuple[UpdateSite, ...]) -> bool:
    """Whether the counter always moves one way, and never so far that it comes back to where it was."""
    type, trips = counter.type, loop.variable.type
    moves = [site.moved for site in sites]
    if not isinstance(type, Scalar) or not is_integer(type) or type.bits < INT.bits or not isinstance(trips, Scalar):
        return False
    steps = [step.amount for site in sites for step in site.steps]
    one_way = all(a is not None and a > 0 for a in steps) or all(a is not None and a < 0 for a in steps)
    slow = len(moves) == 1 and moves[0] in (1, -1) and trips.bits <= type.bits
    return one_way and (type.kind == "signed" or slow or (type.bits == 64 and trips.bits <= INT.bits))


def _find_places(counter: Symbol, sites: Iterable[UpdateSite]) -> Mapping[int, _Place]:
    """Return the elements in the runs whose first subscript is a * k + c, by identity; what stands in them as well."""
    found: dict[int, _Place] = {}
    for site in sites:
        moved = site.moved
        if moved is None:
            continue
        for node in (n for stmt in site.path for n in walk(stmt)):
            whole = node if isinstance(node, Index | Member | Unary) else None
            subscript = None if whole is None else _first_subscript(whole)
            place = None if subscript is None else _place(subscript, site)
            if place is not None:
                found[id(node)] = _Place(counter, *place, moved)
    return found


def _first_subscript(whole: Index | Member | Unary) -> Expr | None:
    """Return the subscript that stands directly at the array's name, where all that follows keeps to that element."""
    node: Expr = whole
    while True:
        match node:
            case Index(base=base) if isinstance(base.type, Array) and isinstance(peel(base), Index | Member):
                node = peel(base)
            case Member(base=base, arrow=False):
                node = peel(base)
            case Index(base=base, index=index) if isinstance(peel(base), Name):
                return index
            case Unary(op="*", operand=operand) if isinstance(inner := peel(operand), Binary) and inner.op == "+":
                return inner.right if isinstance(peel(inner.left), Name) else None
            case _:
                return None


def _place(subscript: Expr, site: UpdateSite) -> tuple[int, int] | None:
    """Return a and c of a * k + c, k being what it was at the start of the run."""
    subscript = peel(subscript)
    if id(subscript) in site.offsets:
        return 1, site.offsets[id(subscript)]
    if isinstance(subscript, Cast):
        inner = peel(subscript.operand)
        return _place(inner, site) if _widens(subscript, inner) else None
    if not isinstance(subscript, Binary) or not _is_signed_or_wide(subscript):
        return None
    left, right = peel(subscript.left), peel(subscript.right)
    known, number = (_place(left, site), right) if isinstance(right, Literal) else (_place(right, site), left)
    value = number.value if isinstance(number, Literal) else None
    if known is None or not isinstance(value, int):
        return None
    match subscript.op:
        case "+":
            return known[0], known[1] + value
        case "-" if number is right:
            return known[0], known[1] - value
        case "*" if value > 0:
            return known[0] * value, known[1] * value
        case _:
            return None


def _is_signed_or_wide(node: Expr) -> bool:
    """Whether arithmetic of this type gives the number that it says, in a program that stays in its arrays."""
    type = node.type
    return isinstance(type, Scalar) and (type.bits == 64 or type.kind == "signed")


def _widens(cast: Cast, operand: Expr) -> bool:
    """Whether a conversion keeps the number, as long as it is no negative one."""
    wanted, given = cast.type, operand.type
    return isinstance(wanted, Scalar) and isinstance(given, Scalar) and is_integer(wanted) and wanted.bits >= given.bits
