"""R600 text, as assembly.py prints it, becomes a program. What is wrong is told with its line and what was expected."""

from __future__ import annotations

import re
from typing import Final, NoReturn

from warpsmith.base.errors import InputError
from warpsmith.base.findings import Finding
from warpsmith.base.source import SourceFile, Span
from warpsmith.machine.vliw.slots import SLOTS, Generation, is_known, slots_of, width_of
from warpsmith.targets.r600.code import (
    AluBundle,
    AluClause,
    AluLine,
    AluSource,
    ExportLine,
    Gpr,
    Kc,
    Number,
    R600Code,
    StoreLine,
    TexClause,
    TexLine,
)
from warpsmith.targets.r600.schedule import INLINE

__all__ = ["read_r600"]

_CLAUSE: Final = re.compile(r"\d\d+ (TEX|ALU): CNT\((\d+)\)")
_TEX: Final = re.compile(
    r"\d+\s+(SAMPLE|LD|VFETCH)\s+R(\d+)\.([x_][y_][z_][w_]),\s*R(\d+)\.([xyzw01_]{4}),\s*"
    r"(?:t(\d+),\s*s(\d+)|u(\d+))"
)
_STORE: Final = re.compile(r"\d\d+ MEM_RAT_CACHELESS_STORE_RAW: RAT\((\d+)\)\[R(\d+)\.x\]\.([x_][y_][z_][w_]), R(\d+)")
_ALU: Final = re.compile(r"(\d+\s+)?([xyzwt]):\s+(\w+)\s+R(\d+)\.([xyzw]),\s*(.*?)(\s+CLAMP)?")
_EXPORT: Final = re.compile(r"\d\d+ EXP(?:_DONE)?: PIX(\d+), R(\d+)\.([xyzw01_]{4})")
_SOURCE: Final = re.compile(r"(-?)(\|?)(?:R(\d+)\.([xyzw])|KC(\d+)\[(\d+)\]\.([xyzw])|0x([0-9A-F]{8}))(\|?)")
_NUMBERS: Final = {text: bits for bits, text in INLINE.items()}


def read_r600(file: SourceFile, generation: Generation) -> R600Code:
    """Return the program that a text is, for a generation; raises InputError at the first line that is none of it."""
    reader = _Reader(file, generation)
    for number in range(1, file.line_count + 1):
        text = file.line(number).strip()
        if text and not text.startswith(";"):
            reader.line(number, text)
    if not reader.ended:
        reader.wrong(file.line_count, "the program is not complete", "END_OF_PROGRAM")
    return R600Code(tuple(reader.clauses), tuple(reader.exports))


class _Reader:
    def __init__(self, file: SourceFile, generation: Generation) -> None:
        self.file = file
        self.generation: Generation = generation
        self.clauses: list[AluClause | TexClause] = []
        self.exports: list[ExportLine | StoreLine] = []
        self.ended = False

    def wrong(self, number: int, message: str, expected: str) -> NoReturn:
        """Raise what is wrong with a line."""
        start, text = self.file.offset(number), self.file.line(number)
        begin = start + len(text) - len(text.lstrip())
        span = Span(self.file, begin, max(begin + 1, start + len(text.rstrip())))
        raise InputError(Finding("ILT004", "error", message, span, (f"expected {expected}",)))

    def line(self, number: int, text: str) -> None:
        """Read one line."""
        if self.ended:
            self.wrong(number, "a line stands behind the end of the program", "nothing")
        if text == "END_OF_PROGRAM":
            self.ended = True
        elif found := _CLAUSE.fullmatch(text):
            self.clauses.append(TexClause(()) if found[1] == "TEX" else AluClause(()))
        elif found := _EXPORT.fullmatch(text):
            self.exports.append(ExportLine(int(found[1]), int(found[2]), found[3]))
        elif found := _STORE.fullmatch(text):
            self.exports.append(StoreLine(int(found[1]), int(found[2]), int(found[4]), found[3]))
        elif found := _TEX.fullmatch(text):
            self._tex(number, found)
        elif found := _ALU.fullmatch(text):
            self._alu(number, found)
        else:
            self.wrong(number, f"'{text[:60]}' is no line of a program", "a clause, a fetch, an operation or an export")

    def _tex(self, number: int, found: re.Match[str]) -> None:
        clause = self.clauses[-1] if self.clauses else None
        if not isinstance(clause, TexClause):
            self.wrong(number, "a fetch stands in no TEX clause", "00 TEX: CNT(1) before it")
        if (found[1] == "VFETCH") != (found[8] is not None):
            self.wrong(number, f"{found[1]} reads no such thing", "VFETCH … u0, or SAMPLE … t0, s0")
        numbers = [int(found[at] or found[8] or 0) for at in (2, 4, 6, 7)]
        numbers[3] = int(found[7] or 0)
        made = TexLine(found[1], numbers[0], found[3], numbers[1], found[5], numbers[2], numbers[3])
        self.clauses[-1] = TexClause((*clause.lines, made))

    def _alu(self, number: int, found: re.Match[str]) -> None:
        clause = self.clauses[-1] if self.clauses else None
        if not isinstance(clause, AluClause):
            self.wrong(number, "an operation stands in no ALU clause", "00 ALU: CNT(1) before it")
        line = self._operation(number, found)
        if found[1]:
            self.clauses[-1] = AluClause((*clause.bundles, AluBundle((line,))))
            return
        if not clause.bundles:
            self.wrong(number, "an operation stands in no bundle", "a number before its slot")
        last = clause.bundles[-1]
        if any(SLOTS.index(line.slot) <= SLOTS.index(one.slot) for one in last.lines):
            self.wrong(number, f"slot {line.slot} stands behind itself or a later one", "slots in the order x y z w t")
        self.clauses[-1] = AluClause((*clause.bundles[:-1], AluBundle((*last.lines, line))))

    def _operation(self, number: int, found: re.Match[str]) -> AluLine:
        slot, name, component = found[2], found[3], found[5]
        if not is_known(name, self.generation):
            self.wrong(number, f"{self.generation} has no operation {name}", "an operation that it has")
        if slot not in slots_of(name, self.generation):
            self.wrong(number, f"{name} cannot stand in slot {slot}", f"one of {slots_of(name, self.generation)}")
        if slot != "t" and width_of(name, self.generation) == 1 and component != slot:
            self.wrong(number, f"slot {slot} writes component {component}", f"R{found[4]}.{slot}")
        sources = tuple(self._source(number, part.strip()) for part in found[6].split(","))
        return AluLine(slot, name, Gpr(int(found[4]), component), sources, bool(found[7]))

    def _source(self, number: int, text: str) -> AluSource:
        if text in _NUMBERS:
            return AluSource(Number(_NUMBERS[text]))
        found = _SOURCE.fullmatch(text)
        if found is None or found[2] != found[9]:
            self.wrong(number, f"'{text}' is no source", "R0.x, KC0[0].x, a number, and - or |…| around it")
        place: Gpr | Kc | Number
        if found[3]:
            place = Gpr(int(found[3]), found[4])
        elif found[5]:
            place = Kc(int(found[5]), int(found[6]), found[7])
        else:
            place = Number(int(found[8], 16))
        return AluSource(place, bool(found[1]), bool(found[2]))
