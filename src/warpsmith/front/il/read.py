"""Text becomes a program of IL. All that is wrong is told at once, each with its line, a caret, and what was expected.

il_ps_2_0                   which kind of program; then declarations, then instructions, then endmain and end
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from warpsmith.base.errors import InputError
from warpsmith.base.findings import Finding
from warpsmith.base.source import SourceFile, Span
from warpsmith.front.il.check import check_program
from warpsmith.front.il.declarations import DECLARATIONS, read_declaration
from warpsmith.front.il.instructions import read_instruction
from warpsmith.front.il.nodes import IlDeclaration, IlInstruction, IlProgram, ShaderKind
from warpsmith.front.il.tokens import IlTextError, split_line, split_lines

__all__ = ["HEADS", "parse_il"]

HEADS: Final[dict[str, ShaderKind]] = {"il_ps_2_0": "ps", "il_cs_2_0": "cs", "il_cs": "cs"}
_LARGEST: Final = 4 << 20
_MOST_TOLD: Final = 20


def parse_il(file: SourceFile) -> IlProgram:
    """Return the program that a file is; raises InputError with what is wrong in it."""
    if len(file.text) > _LARGEST:
        raise InputError(Finding("INP003", "error", f"{file.path} has more than {_LARGEST:,} bytes"))
    reader = _Reader(file)
    reader.run()
    if not reader.wrong:
        reader.wrong += check_program(reader.program)
    if reader.wrong:
        reader.wrong.sort(key=lambda one: one.span.start if one.span else 0)
        raise InputError(*reader.wrong[:_MOST_TOLD])
    return reader.program


class _Reader:
    """Reads the lines of one file in order."""

    def __init__(self, file: SourceFile) -> None:
        self.file = file
        self.wrong: list[Finding] = []
        self.kind: ShaderKind | None = None
        self.declarations: list[IlDeclaration] = []
        self.instructions: list[IlInstruction] = []
        self.ends: list[str] = []

    @property
    def program(self) -> IlProgram:
        """What was read."""
        return IlProgram(self.kind or "ps", tuple(self.declarations), tuple(self.instructions), self.file)

    def run(self) -> None:
        """Read until the end, or until more is wrong than is told."""
        for start, text in self._lines():
            try:
                self._line(start, text)
            except IlTextError as error:
                self.wrong.append(error.finding)
                if len(self.wrong) >= _MOST_TOLD or self.kind is None:
                    return
        if not self.wrong and self.ends != ["endmain", "end"]:
            lacking = "end" if self.ends else "endmain"
            last = max(0, len(self.file.text.rstrip()) - 1)
            place = Span(self.file, last, last + 1) if self.file.text.strip() else None
            message = f"the program is not complete: it has no {lacking}"
            self.wrong.append(Finding("ILT001", "error", message, place, ("expected endmain and end behind it",)))

    def _lines(self) -> Iterator[tuple[int, str]]:
        for start, text in split_lines(self.file):
            if self.kind is not None:
                yield start, text
            elif text in HEADS:
                self.kind = HEADS[text]
            else:
                place = Span(self.file, start, start + min(len(text), 32))
                helps = (f"expected {' or '.join(HEADS)} in the first line",)
                self.wrong.append(Finding("ILT001", "error", "the program does not say what it is", place, helps))
                return

    def _line(self, start: int, text: str) -> None:
        line = split_line(self.file, start, text)
        if line.word in ("endmain", "end"):
            wanted = ("endmain", "end")[len(self.ends)] if len(self.ends) < 2 else ""
            if line.operands or line.controls or line.word != wanted:
                expected = f"expected {wanted}" if wanted else "expected nothing behind end"
                raise IlTextError(line.whole, f"'{line.whole.text}' cannot stand here", expected)
            self.ends.append(line.word)
        elif self.ends:
            expected = "expected end" if len(self.ends) < 2 else "expected nothing behind end"
            raise IlTextError(line.place, f"an instruction stands behind {self.ends[-1]}", expected)
        elif line.word in DECLARATIONS:
            if self.instructions:
                raise IlTextError(line.place, "a declaration stands behind an instruction", "put it before them all")
            self.declarations.append(read_declaration(line))
        else:
            self.instructions.append(read_instruction(line))
