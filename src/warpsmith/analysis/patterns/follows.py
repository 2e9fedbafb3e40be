"""The columns that an unknown of an address may follow: what stands between it and the thread's indices in the code.

x = idx[tid.x]         follows tid.x: the load follows its address, if the kernel does not write to idx
x = tid.x / 3          follows tid.x: it is a table of numbers
x = n / 2              follows nothing: all threads have the same
x = phi(...)           follows all columns: which way control came is not looked at
"""

from __future__ import annotations

from warpsmith.analysis.affine.symbols import Atom
from warpsmith.analysis.memory.accesses import AccessSite
from warpsmith.analysis.memory.forms import Forms
from warpsmith.analysis.patterns.columns import Columns
from warpsmith.ssa.nodes import (
    Address,
    Barrier,
    Callee,
    Constant,
    Convert,
    Exchange,
    Fence,
    Float,
    Instruction,
    Memory,
    NoWrap,
    Operand,
    Param,
    Query,
    Text,
    Undefined,
    Value,
)
from warpsmith.ssa.ops import OPS

__all__ = ["Followed"]


class Followed:
    """What unknowns follow, in one set of columns; `sites`: all accesses of the kernel."""

    def __init__(self, forms: Forms, columns: Columns, sites: list[AccessSite]) -> None:
        self.forms, self.columns = forms, columns
        self.all = frozenset(range(len(columns.columns)))
        self._places = columns.places
        self._sites = {site.instruction: site for site in sites}
        self._written = {site.base for site in sites if site.kind != "load"}
        self._known: dict[Value, frozenset[int]] = {}

    def atom(self, atom: Atom) -> frozenset[int]:
        """Return the places of the columns that an unknown may follow."""
        if atom in self._places:
            return frozenset((self._places[atom],))
        if (atom.argument and not atom.memory) or atom.of_grid:
            return frozenset()
        if atom.kind == "index":
            return self._table(atom.table)
        value = self.forms.named.get(atom)
        return self.all if value is None else self._value(value)

    def sources(self, atom: Atom) -> tuple[str, ...]:
        """Return the arrays that an unknown is computed from, by name; none where something else is in it."""
        found: dict[str, None] = {}
        pending: list[Operand] = [v for v in (self.forms.named.get(atom),) if v is not None]
        seen = set(pending)
        while pending:
            value = pending.pop()
            made = self.forms.answer.definitions.get(value) if isinstance(value, Value) else None
            site = self._sites.get(made) if isinstance(made, Instruction) else None
            if site is not None and site.base is not None and not site.chosen:
                found[site.base.name] = None
            elif isinstance(made, Instruction) and made.operands and OPS[made.op].pure:
                pending += [o for o in made.operands if o not in seen and not isinstance(o, Constant)]
                seen.update(made.operands)
            elif not isinstance(made, Instruction) or not isinstance(made.detail, Param | Query):
                return ()
        return tuple(found)

    def _table(self, table: tuple[int, ...]) -> frozenset[int]:
        """Return the columns of threads along which a table of numbers changes."""
        x, y, _ = self.forms.lanes.block
        steps = {"x": 1, "y": x, "z": x * y}
        found: set[int] = set()
        for place, column in enumerate(self.columns.columns):
            if column.kind == "thread":
                step = steps[column.axis] * column.width
                if any(table[t] != table[t - step] for t, at in enumerate(column.atom.table) if at):
                    found.add(place)
        return frozenset(found)

    def _value(self, value: Value) -> frozenset[int]:
        if value not in self._known:
            self._known[value] = self.all  # where a value follows itself
            self._known[value] = self._made(value)
        return self._known[value]

    def _made(self, value: Value) -> frozenset[int]:
        made = self.forms.answer.definitions.get(value)
        if not isinstance(made, Instruction):
            return self.all
        match made.detail:
            case Query(register):
                return self._query(register)
            case Param() | Address():
                return frozenset()
            case Exchange():
                return self.all
            case Memory() | Barrier() | Callee() | Convert() | Fence() | Float() | NoWrap() | Text() | None:
                return self._computed(made)

    def _query(self, register: str) -> frozenset[int]:
        base, _, axis = register.partition(".")
        if base in ("ntid", "nctaid") or register == "nwarpid":
            return frozenset()
        kind = {"tid": "thread", "ctaid": "block"}.get(base)
        places = (p for p, c in enumerate(self.columns.columns) if c.kind == kind and c.axis == axis)
        return frozenset(places) if kind is not None else self.all

    def _computed(self, made: Instruction) -> frozenset[int]:
        site = self._sites.get(made)
        if site is not None:
            fixed = site.kind == "load" and site.base is not None and site.base not in self._written
            if not fixed or site.chosen or None in self._written:
                return self.all
        elif made.op in ("call", "unmodeled") or made.op.startswith("atomic_") or not made.operands:
            return self.all
        return frozenset().union(*map(self._operand, made.operands))

    def _operand(self, operand: Operand) -> frozenset[int]:
        if isinstance(operand, Constant):
            return frozenset()
        return self.all if isinstance(operand, Undefined) else self._value(operand)
