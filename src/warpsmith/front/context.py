"""What the building of one unit's tree knows: the tables, the files, the types, the symbols made so far."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from warpsmith.base.source import SourceFile, Span
from warpsmith.front import kinds
from warpsmith.front.node_table import MacroRange, MacroUses, NodeTable
from warpsmith.front.scan import Scan
from warpsmith.front.types_of import Types, decayed, fill_extents
from warpsmith.front.wire import Dump
from warpsmith.tree.nodes import Expr
from warpsmith.tree.types import Storage, Symbol, Type

__all__ = ["Context", "FileText"]

_NO_LINKAGE, _INTERNAL = 1, 2
_STATIC = 3


@dataclass(frozen=True, slots=True)
class FileText:
    """One of the user's files: its text, its marks, its macro uses."""

    file: SourceFile
    scan: Scan
    uses: MacroUses


class Context:
    """The mutable state of building one unit; it does not outlive `build_unit`."""

    def __init__(self, dump: Dump, read: Callable[[str], SourceFile]) -> None:
        self.dump = dump
        self.table = NodeTable(dump)
        self.types = Types(dump, self.span)
        self._read = read
        self._texts: dict[int, FileText] = {}
        self._symbols: dict[int, Symbol] = {}
        self._keys: dict[str, int] = {}
        self.too_deep: list[Span] = []

    def text(self, number: int) -> FileText:
        """Return a user's file by its number."""
        known = self._texts.get(number)
        if known is None:
            file = self._read(self.dump.files[number])
            uses = MacroUses((name, start, end) for name, f, start, end in self.dump.macro_uses if f == number)
            known = FileText(file, Scan.of(file), uses)
            self._texts[number] = known
        return known

    def span(self, number: int, start: int, end: int) -> Span | None:
        """Return a span in a user's file; None for other files."""
        if number < 0 or not self.dump.user[number]:
            return None
        return Span(self.text(number).file, start, end)

    def is_library(self, row: int) -> bool:
        """Whether what is declared in `row` comes from a system header (or is built in)."""
        return self.dump.declared[row][9]

    def library_keys(self) -> Iterator[str]:
        """Yield the keys of the functions that system headers declare."""
        for declared in self.dump.declared:
            if declared[0] == kinds.FUNCTION_DECL and declared[9]:
                yield declared[7] or declared[1]

    def defines(self, name: str) -> bool:
        """Whether the unit has the definition of an external function called `name`."""
        table, declared = self.table, self.dump.declared
        return any(
            kind == kinds.FUNCTION_DECL
            and declared[table.aux[row]][1] == name
            and any(table.kind[child] == kinds.COMPOUND for child in table.children(row))
            for row, kind in enumerate(table.kind)
        )

    def key(self, row: int) -> str:
        """Return the key of the symbol of a declaration row."""
        _, name, _, _, _, file, offset, key, *_ = self.dump.declared[row]
        path = self.text(file).file.path if file >= 0 and self.dump.user[file] else self._system(file)
        return key or self._unique(f"{path}:{offset}:{name}", row)

    def symbol(self, row: int) -> Symbol:
        """Return the symbol of a declaration row, made on first use."""
        known = self._symbols.get(row)
        if known is None:
            kind, _, type, *_ = self.dump.declared[row]
            found = self.types.of(type) if type >= 0 else self.types.of(0)
            known = self.declare(row, decayed(found) if kind == kinds.PARM_DECL else found)
        return known

    def declare(self, row: int, type: Type) -> Symbol:
        """Make the symbol of a declaration row with `type`; a symbol once made is kept."""
        known = self._symbols.get(row)
        if known is not None:
            return known
        kind, name, _, linkage, storage, file, offset, _, value, *_ = self.dump.declared[row]
        symbol = Symbol(
            name, self.key(row), type, _storage(kind, linkage, storage), self.span(file, offset, offset + len(name)),
            value if kind == kinds.ENUM_CONSTANT else None,
        )  # fmt: skip
        self._symbols[row] = symbol
        return symbol

    def _system(self, file: int) -> str:
        return self.dump.files[file] if file >= 0 else ""

    def _unique(self, key: str, row: int) -> str:
        """Return `key`, marked where one macro use declares the same name twice."""
        candidate, number = key, 1
        while self._keys.setdefault(candidate, row) != row:
            number += 1
            candidate = f"{key}#{number}"
        return candidate

    def cast_type(self, type: int, extents: list[int], build: Callable[[int], Expr]) -> Type:
        """Return a type row with the extents that stand beside it as rows, innermost first; `build` makes them."""
        levels = self.types.extents(type)
        if levels and len(extents) == sum(levels) - 1:
            levels[0] = False  # completed by its initializer
        if not extents or len(extents) != sum(levels):
            return self.types.of(type)
        outermost_first = iter([build(row) for row in reversed(extents)])
        return fill_extents(self.types.of(type), [next(outermost_first) if written else None for written in levels])

    def variables(self, row: int) -> Iterator[Symbol]:
        """Yield every variable that the subtree of a node names, each once."""
        table, declared = self.table, self.dump.declared
        seen: set[int] = set()
        for node in range(row, table.after[row]):
            if table.kind[node] in (kinds.DECL_REF, kinds.VAR_DECL):
                number = table.aux[node]
                if number not in seen and declared[number][0] in (kinds.VAR_DECL, kinds.PARM_DECL):
                    seen.add(number)
                    yield self.symbol(number)

    def may_call(self, row: int) -> bool:
        """Whether the subtree of a node has a call or assembly in it."""
        table = self.table
        return any(table.kind[node] in (kinds.CALL, kinds.ASM) for node in range(row, table.after[row]))

    def use_of(self, row: int, text: FileText) -> MacroRange | None:
        """Return the macro use that a node begins in."""
        return text.uses.at(self.table.start[row]) if self.table.begins_in_macro(row) else None


def _storage(kind: int, linkage: int, storage: int) -> Storage:
    if kind == kinds.PARM_DECL:
        return "parameter"
    if kind == kinds.FUNCTION_DECL:
        return "function"
    if kind == kinds.ENUM_CONSTANT:
        return "enumerator"
    if linkage == _INTERNAL:
        return "static"
    if linkage > _INTERNAL:
        return "global"
    return "static local" if storage == _STATIC else "local"
