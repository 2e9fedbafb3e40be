"""Global memory of which every thread of a launch has bytes of its own, wherever it is written.

    a[i] = b[i + 1]        i = ctaid.x · 256 + tid.x: whoever writes a[i] is the only one there
    a[i] = a[i + 1]        two addresses in one array: not seen to be apart
    a[i + k · n] = 0       k changes from turn to turn: not seen to be apart

Invariant: an array is apart if all its accesses are at one sum, which has no unknown but arguments, of which the part
that threads know differs by the bytes of an access at least, and whose blocks begin as far from each other as they are
long. Pointers that the launch gives are taken to lead to different arrays, and no index to overflow.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise

from warpsmith.analysis.affine.symbols import Atom, Form
from warpsmith.analysis.memory.accesses import AccessSite
from warpsmith.analysis.memory.forms import Forms
from warpsmith.analysis.uniformity.facts import Dim
from warpsmith.ssa.nodes import Function, Query

__all__ = ["has_own_bytes"]

_AXES = "xyz"


def has_own_bytes(forms: Forms, places: Iterable[AccessSite], grid: Dim | None) -> bool:
    """Whether no two threads of a launch touch one byte of global memory that one of them writes; `forms` hold for a
    whole block, `grid` None: as large as its indices are asked for."""
    arrays: dict[Atom | None, list[AccessSite]] = defaultdict(list)
    for place in places:
        if place.space not in ("shared", "local", "constant"):
            arrays[place.base].append(place)
    written = {base for base, inside in arrays.items() if any(place.kind == "store" for place in inside)}
    mixed = {base for base, inside in arrays.items() if {"atomic", "load"} <= {place.kind for place in inside}}
    if not written | mixed:
        return True
    axes = _axes(forms.answer.function, grid)
    return None not in arrays and all(_is_apart(forms, arrays[base], axes) for base in written | mixed)


def _axes(function: Function, grid: Dim | None) -> frozenset[str]:
    """Return the axes along which there may be several blocks."""
    if grid is not None:
        return frozenset(axis for axis, size in zip(_AXES, grid, strict=True) if size > 1)
    asked = {i.detail.register for _, i in function.instructions() if isinstance(i.detail, Query)}
    return frozenset(axis for axis in _AXES if f"ctaid.{axis}" in asked)


def _is_apart(forms: Forms, inside: Sequence[AccessSite], axes: frozenset[str]) -> bool:
    base, found = inside[0].base, [_without_wraps(place.address) for place in inside if place.address is not None]
    if base is None or len(found) < len(inside) or not (base.argument or base.space):
        return False
    first = found[0]
    if not all(address.same(first) for address in found):
        return False
    indices = {atom for atom in first.atoms() if atom.of_block}
    known = all(atom.kind == "index" or atom.of_block or _is_argument(atom) or atom is base for atom in first.atoms())
    if not known or len(indices) != len(axes) or len(indices) > 1:
        return False
    return _are_pieces(forms, first, max(place.bytes for place in inside), indices)


def _without_wraps(address: Form) -> Form:
    return address.drop_atoms(atom for atom in address.atoms() if atom.wraps)


def _is_argument(atom: Atom) -> bool:
    return bool(atom.argument) and not atom.cycles and not atom.memory


def _are_pieces(forms: Forms, address: Form, size: int, indices: set[Atom]) -> bool:
    """Whether threads of a block are `size` bytes apart from each other, and blocks from blocks."""
    parts = forms.lanes.parts(address.varying())
    if set(parts) - {()}:
        return False
    numbers = sorted(parts.get((), (0,) * forms.lanes.count))
    if any(two - one < size for one, two in pairwise(numbers)):
        return False
    extent = numbers[-1] - numbers[0] + size
    return all(
        sum(index in monomial for monomial in address.terms) == 1 and abs(address.terms.get((index,), 0)) >= extent
        for index in indices
    )
