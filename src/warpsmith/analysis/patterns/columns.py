"""The columns of the access matrices of a kernel: block indices, thread indices, and the loops around an access.

    blocks       an axis that the grid has more than one block along; of an unknown grid, one that indices read
    threads      an axis that the block has more than one thread along; in its place quotients and remainders of it,
                 where these make sums of addresses (quotients.py)
    loops        outermost first; `k` itself where it moves by 1 from a start that all threads of a block share (so that
                 a[k] is a[k] wherever it starts), else the number of the iteration

Invariant: a point of the columns is one execution of the accesses of one thread at most.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Literal

from msgspec import Struct

from warpsmith.analysis.affine.symbols import Atom, Form, constant_form, from_atom
from warpsmith.analysis.memory.forms import Forms
from warpsmith.analysis.patterns.quotients import Quotients, find_quotients
from warpsmith.analysis.patterns.trips import iterations
from warpsmith.base.source import Span
from warpsmith.ssa.graph import Cycle

__all__ = ["Columns", "IndexColumn", "read_columns", "substitute"]

_WIDE: Final = 64


class IndexColumn(Struct, frozen=True):
    """One column: `atom` stands for it in forms; `extent`: so many numbers it has, None where that is not known;
    `axis` of a block or thread, and `width`: the threads that one step of it is; `header` of a loop's cycle, and `span`
    of its test; `bounded`: where it begins or ends follows another column."""

    name: str
    kind: Literal["block", "thread", "loop"]
    atom: Atom
    extent: int | None = None
    axis: str = ""
    header: str = ""
    span: Span | None = None
    bounded: bool = False
    width: int = 1


class Columns(Struct, frozen=True):
    """The columns around some accesses; `sums`: what the numbers of iterations, and what threads know by their index,
    are in terms of them."""

    columns: tuple[IndexColumn, ...]
    sums: Mapping[Atom, Form]

    @property
    def places(self) -> dict[Atom, int]:
        """The place of each column."""
        return {column.atom: place for place, column in enumerate(self.columns)}


def read_columns(
    forms: Forms, cycles: Sequence[Cycle], headers: frozenset[str], addresses: Sequence[Form] = ()
) -> Columns:
    """Return the columns of what stands in `cycles` (outermost first); `headers`: blocks that have accesses;
    `addresses`: of the accesses."""
    tables = dict.fromkeys(a for form in addresses for a in form.atoms() if a.kind == "index")
    quotients = find_quotients(forms.lanes, (atom for atom in tables if atom not in forms.lanes.axes))
    found = [*_blocks(forms), *_threads(quotients)]
    outer = {column.atom for column in found if column.kind == "block"}
    known: dict[Atom, Form] = dict(quotients.sums)
    for cycle in cycles:
        column, number = _loop(forms, cycle, known, frozenset(outer), in_header=cycle.header in headers)
        known[forms.iteration(cycle)] = number
        found.append(column)
        outer.add(column.atom)
    return Columns(tuple(found), known)


def substitute(form: Form, values: Mapping[Atom, Form]) -> Form | None:
    """Return a form with some of its unknowns replaced; None where it gets too long."""
    total = Form(form.bits, {})
    for monomial, coefficient in form.terms.items():
        product: Form | None = constant_form(coefficient, form.bits)
        for atom in monomial:
            value = values.get(atom)
            other = from_atom(atom, form.bits) if value is None else value.resize(form.bits)
            product = None if product is None else product.times(other)
        if product is None:
            return None
        total = total.plus(product)
    return total


def _blocks(forms: Forms) -> Iterator[IndexColumn]:
    grid = forms.transfer.shape.grid
    read = {a.name: a for a in forms.lanes.atoms.values() if a.of_block}
    for axis in "zyx":
        atom = read.get(f"ctaid.{axis}")
        extent = None if grid is None else grid["xyz".index(axis)]
        if extent == 1 or (atom is None and extent is None):
            continue
        atom = atom or Atom(f"ctaid.{axis}", "shared", of_block=True)
        yield IndexColumn(atom.name, "block", atom, extent, axis)


def _threads(quotients: Quotients) -> Iterator[IndexColumn]:
    for axis in "zyx":
        for digit in quotients.digits["xyz".index(axis)]:
            if digit.extent > 1:
                yield IndexColumn(digit.name, "thread", digit.atom, digit.extent, axis, width=digit.width)


def _loop(
    forms: Forms, cycle: Cycle, known: Mapping[Atom, Form], outer: frozenset[Atom], *, in_header: bool
) -> tuple[IndexColumn, Form]:
    """Return the column of a loop, and what the number of its iteration is."""
    counter = forms.iteration(cycle)
    extent = iterations(forms, cycle, in_header=in_header)
    span = forms.blocks[cycle.header].terminator.span
    bounded = _is_bounded(forms, cycle, known, outer)
    plain = IndexColumn(counter.name, "loop", counter, extent, header=cycle.header, span=span, bounded=bounded)
    for name, start, step in _counted(forms, cycle):
        begun = substitute(start, known)
        if begun is None or not all(_is_shared(atom, outer) for atom in begun.atoms()):
            continue
        if abs(step) != 1:
            return IndexColumn(_scaled(name, begun, step) or counter.name, *_rest(plain)), from_atom(counter, _WIDE)
        follows = any(atom in outer for atom in begun.atoms())
        atom = Atom(name, "shared", number=counter.number)
        width = None if follows else extent
        number = from_atom(atom, _WIDE).plus(begun.resize(_WIDE), -1).scale(step)
        return IndexColumn(name, "loop", atom, width, "", cycle.header, span, bounded or follows), number
    return plain, from_atom(counter, _WIDE)


def _rest(
    column: IndexColumn,
) -> tuple[Literal["block", "thread", "loop"], Atom, int | None, str, str, Span | None, bool]:
    return column.kind, column.atom, column.extent, column.axis, column.header, column.span, column.bounded


def _scaled(name: str, start: Form, step: int) -> str:
    return f"{name}/{step}" if not start.terms and step > 0 else ""


def _counted(forms: Forms, cycle: Cycle) -> Iterator[tuple[str, Form, int]]:
    """Yield the variables with a name that a loop counts, with their start and step."""
    counter = forms.iteration(cycle)
    for phi in forms.blocks[cycle.header].phis:
        form, name = forms.found.get(phi.result), phi.result.name.partition(".")[0]
        moving = {} if form is None else {m: c for m, c in form.terms.items() if counter in m}
        if form is not None and set(moving) == {(counter,)} and _is_word(name):
            yield name, form.drop_atoms([counter]), moving[(counter,)]


def _is_word(name: str) -> bool:
    """Whether a variable has a name: registers of PTX are numbered."""
    return name.isidentifier() and not (name[:1] in "rfpbh" and name.lstrip("rdfpbhs").isdigit())


def _is_shared(atom: Atom, outer: frozenset[Atom]) -> bool:
    return atom in outer or bool(atom.argument and not atom.space) or atom.of_grid


def _is_bounded(forms: Forms, cycle: Cycle, known: Mapping[Atom, Form], outer: frozenset[Atom]) -> bool:
    """Whether the test at the top of a loop compares its counter with another index."""
    end = forms.blocks[cycle.header].terminator
    condition = getattr(end, "condition", None)
    made = forms.answer.definitions.get(condition) if condition is not None else None
    if made is None or not hasattr(made, "operands") or len(made.operands) != 2:
        return False
    counter = forms.iteration(cycle)
    sides = [forms.of(operand, cycle.header) for operand in made.operands]
    bound = [side for side in sides if side is not None and counter not in set(side.atoms())]
    others = {*outer, *known, *forms.lanes.axes}
    return len(bound) == 1 and any(atom in others for atom in bound[0].atoms())
