"""Types and variables that the parser did not understand: what names one of them has no meaning.

    struct node { int keys[ORDER]; };        `ORDER` is not declared: to clang the struct has some other size
    typedef missing_t fp;                    `missing_t` is not known: to clang fp is int, and it says nothing more

Invariant: a function is only built if no error lies in what it names, however far away that is declared.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from warpsmith.base.c_text import words_anywhere
from warpsmith.front.c.context import Context
from warpsmith.front.clang import kinds
from warpsmith.front.clang.wire import Diagnostic

__all__ = ["BrokenNames"]

_MISSING: Final = re.compile(r"file not found$")
_ALIASES: Final = frozenset({kinds.TYPEDEF_DECL, kinds.TYPE_ALIAS})


class BrokenNames:
    """What errors at file scope have left without a meaning."""

    def __init__(self, context: Context, errors: Iterable[Diagnostic]) -> None:
        self.context = context
        self.table = context.table
        self.errors = [error for error in errors if not _MISSING.search(error[1])]
        self._records: dict[int, Diagnostic | None] = {}
        self._types: dict[int, Diagnostic | None] = {}
        self._lines: dict[tuple[str, int], Diagnostic] = {}
        for error in self.errors:
            self._lines.setdefault((error[2], error[3]), error)
        self._aliases = self._broken_aliases()

    def find_errors_in(self, row: int) -> list[Diagnostic]:
        """Return the errors in what the function in `row` names."""
        if not self.errors:
            return []
        table, found = self.table, dict[Diagnostic, None]()
        if any(t >= 0 and self._is_unknown(t) for t in table.type[row : table.after[row]]):
            words = set(words_anywhere(self._text(row)))
            near = [e for e in self.errors if words & set(words_anywhere(self._line(e)))]
            found.update(dict.fromkeys(near or self.errors))
        for node in range(row, table.after[row]):
            error = self._type(table.type[node]) if table.type[node] >= 0 else None
            if error is None and table.kind[node] in (kinds.DECL_REF, kinds.VAR_DECL, kinds.PARM_DECL):
                error = self._find_declaration_error(table.aux[node])
            if error is not None:
                found[error] = None
        return list(found)

    def _is_unknown(self, number: int) -> bool:
        """Whether a type is clang's word for an expression that it has given up."""
        tag, _, _, spelling = self.context.dump.types[number]
        return tag == "o" and spelling == "<dependent type>"

    def _text(self, row: int) -> str:
        file = next(n for top, n in (*self.context.dump.tops, *self.context.dump.instances)
                    if top <= row < self.table.after[top])  # fmt: skip
        return self.context.text(file).file.text[self.table.start[row] : self.table.end[row]]

    def _line(self, error: Diagnostic) -> str:
        number = next((n for n, path in enumerate(self.context.dump.files) if path == error[2]), -1)
        return self.context.text(number).file.line(error[3]) if number >= 0 else ""

    def _find_declaration_error(self, number: int) -> Diagnostic | None:
        """Return the error in the line that declares a name, or in its type."""
        kind, _, type, _, _, file, offset, *_ = self.context.dump.declared[number]
        if file >= 0 and self.context.dump.user[file] and kind in (kinds.VAR_DECL, kinds.ENUM_CONSTANT):
            text = self.context.text(file).file
            error = self._lines.get((self.context.dump.files[file], text.location(offset)[0]))
            if error is not None:
                return error
        return self._type(type) if type >= 0 else None

    def _broken_aliases(self) -> dict[str, Diagnostic]:
        """Return the names of the typedefs with an error in them."""
        found: dict[str, Diagnostic] = {}
        for top, number in self.context.dump.tops if self.errors else ():
            for row in range(top, self.table.after[top]):
                if self.table.kind[row] not in _ALIASES:
                    continue
                text = self.context.text(number)
                start, end = self.table.range(row, text.uses)
                error = self._inside(self.context.dump.files[number], start, end)
                words = words_anywhere(text.file.text[start:end])
                if error is not None and words:
                    # `typedef old fp;` ends with the name, `using fp = old;` has it behind the first word
                    found[words[1] if words[0] == "using" and len(words) > 1 else words[-1]] = error
        return found

    def _inside(self, path: str, start: int, end: int) -> Diagnostic | None:
        return next((e for e in self.errors if e[2] == path and start <= e[4] < end), None)

    def _type(self, number: int) -> Diagnostic | None:
        if number in self._types:
            return self._types[number]
        self._types[number] = None  # a type may hold pointers to itself
        tag, inner, numbers, spelling = self.context.dump.types[number]
        error = next((self._aliases[w] for w in words_anywhere(spelling) if w in self._aliases), None)
        if error is None and tag in ("p", "a", "v", "f"):
            error = self._type(inner)
        if error is None and tag == "f":
            error = next((e for e in map(self._type, numbers[1:]) if e is not None), None)
        if error is None and tag == "r":
            error = self._record(inner)
        self._types[number] = error
        return error

    def _record(self, number: int) -> Diagnostic | None:
        if number in self._records:
            return self._records[number]
        self._records[number] = None
        _, _, _, members, file, start, end, *_ = self.context.dump.records[number]
        error = self._inside(self.context.dump.files[file], start, end) if file >= 0 else None
        if error is None:
            error = next((e for e in (self._type(type) for _, type, *_ in members) if e is not None), None)
        self._records[number] = error
        return error
