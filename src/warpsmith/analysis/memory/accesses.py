"""The requests that loads, stores and atomics make of memory, a warp at a time.

    address as a sum (forms) + who is there (presence) ──► where lanes lie (spread) ──► AccessFact

The blocker is named: an index that comes out of memory, one that each thread makes in its own way.
Indices that are widened are taken not to overflow where that is not proven; it is said.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from warpsmith.analysis.affine.symbols import Atom, Form, constant_form, text_of
from warpsmith.analysis.memory.clamps import CUT_OFF, unclamp
from warpsmith.analysis.memory.forms import Forms
from warpsmith.analysis.memory.presence import Presences
from warpsmith.analysis.memory.spread import AddressLayout, Spread, Spreads, layout
from warpsmith.analysis.memory.transfer import short_name
from warpsmith.analysis.uniformity.facts import AccessFact, AccessKind, Count, LoopStride, Pattern
from warpsmith.base.findings import Certainty
from warpsmith.machine.requests import SECTOR
from warpsmith.ssa.nodes import Instruction, Memory, Operand, Space

__all__ = ["AccessSite", "accesses", "addresses", "places", "space_of"]

_BASE_ALIGNMENT: Final = 8
"""Memory that is allocated begins at multiples of 2**8 bytes (CUDA C++ Programming Guide, device memory accesses)."""


class AccessSite(Struct, frozen=True):
    """An access in the code, with its address as a sum. `base`: the pointer or variable that it begins with, `size`
    the bytes of the variable where they are known; `overflow`: the index was taken not to overflow; `clamped`: min and
    max in it not to cut anything off; `chosen`: it may begin with another pointer."""

    block: str
    instruction: Instruction
    space: Space
    kind: AccessKind
    element: int
    elements: int
    address: Form | None
    base: Atom | None
    size: int
    overflow: bool
    clamped: bool = False
    chosen: bool = False

    @property
    def bytes(self) -> int:
        """What one lane asks for."""
        return self.element * self.elements


def addresses(forms: Forms) -> list[Operand]:
    """Return the operands that are addresses."""
    found = []
    for name in forms.graph.order:
        found += [i.operands[0] for i in forms.blocks[name].instructions if isinstance(i.detail, Memory)]
    return found


def places(forms: Forms) -> list[AccessSite]:
    """Return every access in the code, in the order of the graph."""
    return [
        _place(forms, name, i)
        for name in forms.graph.order
        for i in forms.blocks[name].instructions
        if isinstance(i.detail, Memory)
    ]


def _place(forms: Forms, block: str, i: Instruction) -> AccessSite:
    detail = i.detail
    assert isinstance(detail, Memory)
    address = forms.of(i.operands[0], block)
    overflow, chosen = False, False
    space = detail.space
    if address is not None:
        chosen = _is_chosen(address)
        address = address.plus(constant_form(detail.offset, address.bits))
        space = _space(address, space)
        away = [atom for atom in address.atoms() if atom.kind == "wrap" or (atom.wraps and _mixes(address, atom))]
        overflow = bool(away)
        windows = [atom for atom in address.atoms() if "window" in atom.space]
        address = address.drop_atoms([*away, *windows])
    values = i.results if i.op == "load" else i.operands[1:]
    kind: AccessKind = "load" if i.op == "load" else "store" if i.op == "store" else "atomic"
    count = 1 if kind == "atomic" else len(values)
    element = (values[0] if values else i.operands[-1]).type.bytes
    base = _base(address)
    symbol = None if base is None else forms.transfer.symbols.get(base.argument)
    size = 0 if symbol is None else symbol.bytes
    return AccessSite(block, i, space, kind, element, count, address, base, size, overflow, chosen=chosen)


def _is_chosen(address: Form) -> bool:
    """Whether a pointer that stands alone is a factor as well, or one of several: `*(n > 3 ? p : q)` is
    p + (n > 3)·(q - p). A number of 64 bits that is a factor only (`row * n`) is no pointer."""
    several = [a for monomial in address.terms for a in monomial if a.space or _is_pointer(a)]
    alone = {m[0] for m, c in address.terms.items() if len(m) == 1 and c == 1 and (m[0].space or _is_pointer(m[0]))}
    pointers = [atom for atom in several if atom in alone and "window" not in atom.space]
    return len(pointers) > 1 or any(atom.space and atom not in alone for atom in several)


def _is_pointer(atom: Atom) -> bool:
    return bool(atom.argument or atom.memory) and atom.range[1] >= 1 << 62


def _space(address: Form, space: Space) -> Space:
    if space != "generic":
        return space
    inside = {atom.space for atom in address.atoms()}
    for known in ("shared", "local"):
        if f"{known} window" in inside:
            return known
    return "generic"


def _mixes(address: Form, atom: Atom) -> bool:
    """Whether an unknown is a factor of what threads tell apart."""
    return any(atom in monomial and any(a.kind != "shared" for a in monomial) for monomial in address.terms)


def _base(address: Form | None) -> Atom | None:
    """Return the pointer or variable that an address begins with."""
    if address is None:
        return None
    alone = [m[0] for m, c in address.terms.items() if len(m) == 1 and c == 1 and m[0].kind in ("shared", "own")]
    symbols = [atom for atom in alone if atom.space and "window" not in atom.space]
    arguments = [atom for atom in alone if atom.argument and atom.range[1] >= 1 << 62]
    loaded = [atom for atom in alone if atom.memory and atom.range[1] >= 1 << 62]
    return next(iter((*symbols, *arguments, *loaded)), None)


def space_of(place: AccessSite) -> Space:
    """Return the space that the instruction names."""
    assert isinstance(place.instruction.detail, Memory)
    return place.instruction.detail.space


# --- the facts


def accesses(
    forms: Forms, presences: Presences, found: Sequence[AccessSite], assumed: tuple[str, ...]
) -> list[AccessFact]:
    """Return the fact for each place; `assumed`: what was taken for the launch."""
    spreads = Spreads(forms.lanes)
    return [_Access(presences, spreads, _without_bounds(forms, place), assumed).fact() for place in found]


def _without_bounds(forms: Forms, place: AccessSite) -> AccessSite:
    """Return a place as it is where min and max cut nothing off."""
    if place.address is None or not place.address.has("own"):
        return place
    inside = unclamp(forms, place.address)
    return place if inside is None else replace(place, address=inside, clamped=True)


class _Access:
    """One place on its way to a fact."""

    def __init__(self, presences: Presences, spreads: Spreads, place: AccessSite, assumed: tuple[str, ...]) -> None:
        self.forms, self.place, self.lanes, self.spreads = presences.forms, place, spreads.lanes, spreads
        self.presence = presences.at(place.block)
        self.most_lanes = presences.most_lanes(self.presence)
        self.assumed = list(assumed)
        detail = place.instruction.detail
        assert isinstance(detail, Memory)
        self.align = max(1, detail.align)

    def fact(self) -> AccessFact:
        place, address = self.place, self.place.address
        laid = None if address is None else layout(address, self.lanes, {})
        plain = self._spread(laid, self._metric)
        base = self._known_base()
        placed = self._spread(layout(address, self.lanes, base) if address is not None else None, self._metric)
        blocked = "" if laid is not None else _describe_blocker(address)
        if place.clamped and plain is not None:
            self.assumed.append(CUT_OFF)
        if place.overflow and plain is not None:
            self.assumed.append(f"the index of {self._name or 'the access'} does not overflow")
        if place.space == "generic" and plain is not None:
            self.assumed.append("the address is one of global memory")
        sectors = self._count(plain)
        ragged = self.lanes.count > self.lanes.warp and self.lanes.count % self.lanes.warp
        whole = self._count(self._of_whole_warps(laid)) if ragged else sectors
        certainty: Certainty = "heuristic" if plain is None else "conditional" if self.assumed else "proven"
        pattern = self._pattern(address, placed)
        stride, along_y = self._stride(address), self._along(address, self.lanes.axes[1])
        in_sectors = place.space not in ("shared", "constant")
        return AccessFact(
            kernel=self.forms.answer.function.name,
            span=place.instruction.span,
            variable=self._name,
            kind=place.kind,
            space=place.space,
            bytes=place.bytes,
            elements=place.elements,
            pattern=pattern,
            certainty=certainty,
            assumptions=tuple(dict.fromkeys(self.assumed)),
            blocked=blocked,
            stride_bytes=None if stride is None else stride.constant,
            stride_y_bytes=None if along_y is None else along_y.constant,
            stride="" if stride is None else text_of(stride),
            index="" if address is None else text_of(_drop_windows(address)),
            shift=0 if address is None else address.terms.get((), 0),
            offsets=self._offsets(laid),
            addresses=None if plain is None else plain.addresses,
            sectors=sectors if in_sectors else None,
            sectors_whole=whole if in_sectors else None,
            sectors_aligned=self._count(placed) if in_sectors and base else None,
            ideal_sectors=self._count_ideal(plain) if in_sectors else 0,
            bank_ways=self._ways(laid, placed),
            lanes=self.most_lanes,
            active=self.presence.kind,
            alignment=self._alignment(),
            depth=len(self.forms.around[place.block]),
            loops=tuple(self._loops(address)),
            block=place.block,
            instruction=place.instruction,
        )

    @property
    def _metric(self) -> str:
        return {"shared": "banks", "local": "local"}.get(self.place.space, "sectors")

    @property
    def _name(self) -> str:
        base = self.place.base
        return "" if base is None else short_name(base.name)

    def _spread(self, laid: AddressLayout | None, metric: str) -> Spread | None:
        if laid is None:
            return None
        return self.spreads.of(laid, self.presence.threads, (metric, self.place.bytes, self.align))

    def _count_ideal(self, plain: Spread | None) -> int:
        """Return how many sectors the bytes of a request would fill, what several lanes ask for counted once, as in a
        simulation."""
        apart = self.most_lanes if plain is None else min(self.most_lanes, plain.addresses.most)
        return max(1, -(-apart * self.place.bytes // SECTOR))

    def _of_whole_warps(self, laid: AddressLayout | None) -> Spread | None:
        """Return the cost for the warps that have all their lanes; the last one of a block may have fewer."""
        lanes = self.lanes
        whole = frozenset(range(lanes.count // lanes.warp * lanes.warp))
        access = self._metric, self.place.bytes, self.align
        return None if laid is None else self.spreads.of(laid, self.presence.threads & whole, access)

    def _count(self, found: Spread | None) -> Count | None:
        """Return the count of a spread; where lanes lie apart by an unknown argument, that is taken to be large."""
        if found is None:
            return None
        if found.apart is None or not found.unknown:
            return found.proven
        low = max((atom.range[0] for atom in found.unknown), default=0) if len(found.unknown) == 1 else 0
        if low >= found.least:
            return found.apart
        if any(atom.cycles for atom in found.unknown) or self._counts_bytes(found.unknown):
            return found.proven
        if found.apart != found.proven:
            self.assumed.append(f"{'·'.join(atom.name for atom in found.unknown)} >= {found.least}")
        return found.apart

    def _counts_bytes(self, unknown: Sequence[Atom]) -> bool:
        """Whether lanes lie apart by an argument that counts bytes: as well the size of an element as that of a row."""
        terms = {} if self.place.address is None else self.place.address.terms
        lanes = [(m, abs(c)) for m, c in terms.items() if any(axis in m for axis in self.lanes.axes)]
        return any(c < self.place.bytes and any(atom in m for atom in unknown) for m, c in lanes)

    def _ways(self, laid: AddressLayout | None, placed: Spread | None) -> Count | None:
        if self.place.space == "shared":
            return None if placed is None else placed.proven
        if self.place.space == "constant":
            found = self._spread(laid, "words")
            return None if found is None else found.proven
        return None

    def _known_base(self) -> dict[Atom, int]:
        """Return the pointer that the address begins with, if memory begins where it points."""
        base = self.place.base
        return {base: _BASE_ALIGNMENT} if base is not None and base.argument and not base.space else {}

    def _alignment(self) -> int:
        """Return the largest power of two, up to 256, that every address is known to be a multiple of."""
        if self.place.address is None:
            return 1
        rest, power = self.place.address.residue()
        return 1 << min(power, _BASE_ALIGNMENT) if not rest else min(rest & -rest, 1 << _BASE_ALIGNMENT)

    def _pattern(self, address: Form | None, placed: Spread | None) -> Pattern:
        if address is None or placed is None:
            kept = address is not None and any(a.memory and a.kind == "own" for a in address.atoms())
            return "indirect" if kept else "unknown"
        if placed.addresses.most == 1:
            return "uniform"
        count = self._count(placed) or placed.proven
        ideal = -(-min(self.lanes.warp, self.lanes.count) * self.place.bytes // SECTOR)
        if self.place.space in ("shared", "constant"):
            return "strided" if (self._stride(address) or address).constant != self.place.bytes else "coalesced"
        step = self._stride(address)
        together = step is not None and step.constant is not None and abs(step.constant) <= self.place.bytes
        rows = self.lanes.block[0] % self.lanes.warp == 0
        return "coalesced" if count.most <= ideal or (together and rows) else "strided"

    def _stride(self, address: Form | None) -> Form | None:
        """Return what lies between the addresses of two threads that are neighbours along x, as a sum."""
        axis = next((a for n, a in enumerate(self.lanes.axes) if self.lanes.block[n] > 1), self.lanes.axes[0])
        return self._along(address, axis)

    def _along(self, address: Form | None, axis: Atom) -> Form | None:
        """Return what lies between the addresses of two threads that are neighbours along an axis, as a sum."""
        if address is None:
            return None
        terms: dict[tuple[Atom, ...], int] = {}
        for monomial, coefficient in address.terms.items():
            if axis in monomial:
                rest = list(monomial)
                rest.remove(axis)
                if any(atom.kind != "shared" for atom in rest):
                    return None
                terms[tuple(rest)] = coefficient
            elif any(atom.kind == "own" or (atom.kind == "index" and atom not in self.lanes.axes) for atom in monomial):
                return None
        return Form(address.bits, terms)

    def _offsets(self, laid: AddressLayout | None) -> tuple[int, ...]:
        """Return the offsets of the lanes of the first warp that asks, where they are known numbers."""
        if laid is None:
            return ()
        for warp in self.lanes.warps():
            if any(t in self.presence.threads for t in warp):
                if not laid.is_plain(warp):
                    return ()
                low = min(laid.known[t] for t in warp)
                return tuple(laid.known[t] - low for t in warp)
        return ()

    def _loops(self, address: Form | None) -> Iterator[LoopStride]:
        for cycle in reversed(self.forms.around[self.place.block]):
            span = next((i.span for i in self.forms.blocks[cycle.header].instructions), None)
            step = None if address is None else self._step(address, cycle.header)
            if step is None:
                yield LoopStride(cycle.header, span, None)
            else:
                yield LoopStride(cycle.header, span, step.constant, text_of(step))

    def _step(self, address: Form, header: str) -> Form | None:
        """Return how far the address moves in one iteration of a loop; None where that is not known."""
        terms: dict[tuple[Atom, ...], int] = {}
        counter = self.forms.iteration(self.forms.headers[header])
        for monomial, coefficient in address.terms.items():
            if counter in monomial:
                rest = list(monomial)
                rest.remove(counter)
                if any(header in atom.cycles for atom in rest):
                    return None
                terms[tuple(rest)] = coefficient
            elif any(header in atom.cycles and not atom.wraps for atom in monomial):
                return None
        return Form(address.bits, terms)


def _drop_windows(address: Form) -> Form:
    return address.drop_atoms(atom for atom in address.atoms() if atom.wraps or "window" in atom.space)


def _describe_blocker(address: Form | None) -> str:
    """Return what keeps an address from being known, in words."""
    if address is None:
        return "its address is computed from floating-point numbers, or is never set"
    own = [atom for atom in address.atoms() if atom.kind == "own"]
    if not own:
        return "no thread gets there"
    kept = next((atom for atom in own if atom.memory), None)
    if kept is not None:
        return f"its index depends on %{kept.name}, which comes out of memory"
    return f"its index depends on %{own[0].name}, which each thread makes in its own way"
