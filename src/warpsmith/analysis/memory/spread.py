"""How the addresses of a warp lie: from the sum that an address is to the cost of a request.

    address = shared part + Σ unknown · number of the thread + number of the thread
              where it starts       lanes far apart            where lanes lie to each other

Where it starts matters only modulo a sector (or a word): its residue is known, or every residue is tried. Lanes that
differ in an unknown factor form classes; what is proven holds wherever the classes lie, and a second count holds where
they are so far apart that they share nothing, which is an assumption about the unknown (`n >= 8`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise

from msgspec import Struct, field

from warpsmith.analysis.affine.symbols import Atom, Form, Residue
from warpsmith.analysis.memory.lanes import BlockLanes
from warpsmith.analysis.uniformity.facts import Count
from warpsmith.machine.requests import SECTOR, bank_ways, local_sectors, sectors, words

__all__ = ["AddressLayout", "Spread", "Spreads", "layout", "spread"]

_FINE = 5
"""Sectors are 2**5 bytes: no more of a residue matters."""

Offsets = tuple[tuple[int, int], ...]
"""(lane, offset) of the lanes that ask."""

Cost = Callable[[Mapping[int, int], int], int]
COSTS: Mapping[str, Cost] = {"sectors": sectors, "banks": bank_ways, "words": words, "local": local_sectors}


class AddressLayout(Struct, frozen=True):
    """An address as it is in each thread. `known`: the number that each thread knows by its index; `symbolic`: unknowns
    that all threads share, and their factor in each thread; `base`: the residue of what all threads share. Places that
    are a number apart, as those of an unrolled loop, differ in `base` only."""

    known: tuple[int, ...]
    symbolic: Mapping[tuple[Atom, ...], tuple[int, ...]]
    base: Residue

    def is_plain(self, threads: Sequence[int]) -> bool:
        """Whether these threads lie to each other as `known` says."""
        return all(len({numbers[t] for t in threads}) <= 1 for numbers in self.symbolic.values())


def layout(form: Form, lanes: BlockLanes, aligned: Mapping[Atom, int]) -> AddressLayout | None:
    """Return where threads' addresses lie; None where an unknown of each thread's own has a part in it."""
    if form.has("own", "wrap"):
        return None
    rest = {m: c for m, c in form.terms.items() if all(a.kind == "shared" for a in m)}
    mixed = Form(form.bits, {m: c for m, c in form.terms.items() if m not in rest})
    parts = lanes.parts(mixed)
    known = parts.pop((), (0,) * lanes.count)
    return AddressLayout(known, parts, Form(form.bits, rest).residue(aligned))


class Spread(Struct, frozen=True):
    """What requests cost: `proven` whatever the unknowns are; `apart`: where the classes of lanes share nothing, which
    needs |unknown| ≥ `least` for the one unknown that tells them apart (None: there is no such count)."""

    proven: Count
    apart: Count | None
    unknown: tuple[Atom, ...] = ()
    least: int = 0
    addresses: Count = field(default=Count(1, 1))


class Spreads:
    """The costs of a kernel's requests, each worked out once."""

    def __init__(self, lanes: BlockLanes) -> None:
        self.lanes = lanes
        self._found: dict[object, Spread | None] = {}

    def of(self, laid: AddressLayout, threads: frozenset[int], access: tuple[str, int, int]) -> Spread | None:
        """Return what `spread` says."""
        rest, power = laid.base
        base = rest % (1 << min(power, _FINE)), min(power, _FINE)
        key = laid.known, tuple(laid.symbolic.items()), base, threads, access
        if key not in self._found:
            self._found[key] = spread(laid, self.lanes, threads, access)
        return self._found[key]


def spread(
    laid: AddressLayout, lanes: BlockLanes, threads: frozenset[int], access: tuple[str, int, int]
) -> Spread | None:
    """Return what the requests of all warps cost where `threads` ask; `access`: which cost, bytes a lane, and what
    every address is a multiple of. None where no thread asks."""
    found: list[Spread] = []
    seen: set[object] = set()
    for warp in lanes.warps():
        here = [t for t in warp if t in threads]
        if not here:
            continue
        key = _shape(laid, here, warp.start)
        if key not in seen:
            seen.add(key)
            found.append(_warp(laid, here, warp.start, access))
    if not found:
        return None
    apart = [s.apart for s in found]
    unknowns = {s.unknown for s in found if s.unknown}
    return Spread(
        _hull([s.proven for s in found]),
        _hull([a for a in apart if a is not None]) if all(apart) and len(unknowns) <= 1 else None,
        next(iter(unknowns), ()),
        max(s.least for s in found),
        _hull([s.addresses for s in found]),
    )


def _hull(counts: Sequence[Count]) -> Count:
    return Count(min(c.least for c in counts), max(c.most for c in counts))


def _residue(laid: AddressLayout, thread: int) -> Residue:
    """Return where the address of a thread lies, without the number that it knows itself."""
    rest, power = laid.base
    for atoms, numbers in laid.symbolic.items():
        number = numbers[thread]
        if number:
            r, m = Form(64, {atoms: number}).residue()
            rest, power = rest + r, min(power, m)
    power = min(power, _FINE)
    return rest % (1 << power), power


def _shape(laid: AddressLayout, here: Sequence[int], start: int) -> object:
    """Return what two warps that cost the same have in common."""
    first = laid.known[here[0]] // SECTOR * SECTOR
    known = tuple((t - start, laid.known[t] - first) for t in here)
    classes = tuple(tuple(numbers[t] for t in here) for numbers in laid.symbolic.values())
    return known, classes, _residue(laid, here[0]) if laid.symbolic else None


def _warp(laid: AddressLayout, here: Sequence[int], start: int, access: tuple[str, int, int]) -> Spread:
    if laid.is_plain(here):
        offsets = tuple((t - start, laid.known[t]) for t in here)
        count = _count(_normal(offsets), _residue_at(laid, here[0], offsets), access)
        different = len({o for _, o in offsets})
        return Spread(count, count, addresses=Count(different, different))
    return _classes(laid, here, start, access)


def _normal(offsets: Offsets) -> Offsets:
    low = min(o for _, o in offsets)
    return tuple((lane, o - low) for lane, o in offsets)


def _residue_at(laid: AddressLayout, thread: int, offsets: Offsets) -> Residue:
    """Return where the lowest address lies."""
    rest, power = _residue(laid, thread)
    return (rest + min(o for _, o in offsets)) % (1 << power), power


@lru_cache(maxsize=4096)
def _count(offsets: Offsets, residue: Residue, access: tuple[str, int, int]) -> Count:
    """Return what a request costs whose lowest address lies at `residue`."""
    what, size, align = access
    rest, power = residue
    costs = [
        COSTS[what]({lane: start + o for lane, o in offsets}, size)
        for start in range(rest, 1 << _FINE, 1 << power)
        if all((start + o) % align == 0 for _, o in offsets)
    ]
    if not costs:
        # no start keeps the promise of alignment: the launch would fault
        costs = [COSTS[what]({lane: rest + o for lane, o in offsets}, size)]
    return Count(min(costs), max(costs))


def _classes(laid: AddressLayout, here: Sequence[int], start: int, access: tuple[str, int, int]) -> Spread:
    """Return the cost where lanes differ in an unknown factor."""
    classes: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for t in here:
        classes[tuple(numbers[t] for numbers in laid.symbolic.values())].append(t)
    costs, different = [], []
    for inside in classes.values():
        offsets = tuple((t - start, laid.known[t]) for t in inside)
        costs.append(_count(_normal(offsets), _residue_at(laid, inside[0], offsets), access))
        different.append(len({o for _, o in offsets}))
    least, most = max(c.least for c in costs), sum(c.most for c in costs)
    addresses = Count(max(different), sum(different))
    changing = [atoms for atoms, numbers in laid.symbolic.items() if len({numbers[t] for t in here}) > 1]
    if len(changing) > 1 or access[0] == "banks":
        return Spread(Count(least, most), None, addresses=addresses)
    levels = sorted({laid.symbolic[changing[0]][t] for t in here})
    step = min(b - a for a, b in pairwise(levels))
    known = [laid.known[t] for t in here]
    # an aligned access that is no larger than its alignment lies in one sector
    whole = access[1] <= access[2] and SECTOR % access[2] == 0
    extent = max(known) - min(known) + (SECTOR if whole else access[1] + SECTOR - 1)
    apart = Count(sum(c.least for c in costs), most)
    return Spread(Count(least, most), apart, changing[0], -(-extent // step), addresses)
