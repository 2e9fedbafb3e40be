"""Text becomes a program of GCN. All that is wrong is told at once, each with its line, a caret, and what was expected.

LOOP: v_add_u32_e32 v2, 1, v2                                   label; operation and encoding; operands
      v_dual_mov_b32 v0, 0 :: v_dual_add_f32 v1, v2, v3         two that run at once
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Final

from warpsmith.base.errors import InputError
from warpsmith.base.findings import Finding, Note
from warpsmith.base.source import SourceFile, Span
from warpsmith.simt.assembly import AssemblyError, AssemblyLine, AssemblyWord, split_assembly, split_operands
from warpsmith.simt.gcn.nodes import VCC, GcnInstruction, GcnOperand, GcnProgram, GcnRegisters, GcnSymbol
from warpsmith.simt.gcn.ops.op import GcnOp
from warpsmith.simt.gcn.ops.table import OPERATIONS
from warpsmith.simt.gcn.text.directives import Directives
from warpsmith.simt.gcn.text.forms import check_operands
from warpsmith.simt.gcn.text.operands import read_gcn_operand, split_modifiers

__all__ = ["COMMENTS", "read_gcn"]

COMMENTS: Final = (";", "//")
_LARGEST: Final = 16 << 20
_MOST_TOLD: Final = 20
_ENCODED: Final = re.compile(r"(.+?)_(e32|e64_dpp|e64|sdwa|dpp8|dpp)")
_SELECTED: Final = {
    "sdwa": ("dst_sel", "dst_unused", "src0_sel", "src1_sel", "clamp", "mul", "div"),
    "dpp": (
        *("quad_perm", "row_shl", "row_shr", "row_ror", "row_mirror", "row_half_mirror", "row_bcast", "row_newbcast"),
        *("row_share", "row_xmask", "wave_shl", "wave_shr", "wave_rol", "wave_ror", "dpp8"),
        *("row_mask", "bank_mask", "bound_ctrl", "fi", "clamp", "mul", "div"),
    ),
    "e64": ("clamp", "mul", "div", "op_sel"),
}
_NARROW_WAVES: Final = ("gfx10", "gfx11", "gfx12")
_WAVE: Final = 64


def read_gcn(file: SourceFile) -> GcnProgram:
    """Return the program that a file is; raises InputError with what is wrong in it."""
    if len(file.text) > _LARGEST:
        raise InputError(Finding("INP003", "error", f"{file.path} has more than {_LARGEST:,} bytes"))
    reader = _Reader(file)
    reader.read()
    if not reader.wrong:
        reader.check()
    if reader.wrong:
        reader.wrong.sort(key=lambda one: one.span.start if one.span else 0)
        raise InputError(*reader.wrong[:_MOST_TOLD])
    return reader.program


class _Reader:
    """Reads the lines of one file in order."""

    def __init__(self, file: SourceFile) -> None:
        self.file, self.directives = file, Directives()
        self.instructions: list[GcnInstruction] = []
        self.labels: dict[str, int] = {}
        self.places: dict[str, Span] = {}
        self.words: dict[int, Sequence[AssemblyWord]] = {}
        self.wrong: list[Finding] = []

    @property
    def wave(self) -> int:
        """Lanes of a wave."""
        said = [
            one.settings["wavefront_size32"] for one in self.directives.kernels if "wavefront_size32" in one.settings
        ]
        narrow = bool(said[0]) if said else self.directives.architecture.startswith(_NARROW_WAVES)
        return 32 if narrow else _WAVE

    @property
    def program(self) -> GcnProgram:
        """What was read."""
        made = self.directives
        data = {name: bytes(held) for name, held in made.data.items()}
        return GcnProgram(made.architecture, self.wave, tuple(self.instructions), self.labels, made.kernels, data)

    def read(self) -> None:
        """Read all lines, or until more is wrong than is told."""
        for line in split_assembly(self.file, COMMENTS):
            try:
                if not self.directives.takes(line):
                    self._line(line)
            except AssemblyError as error:
                self.wrong.append(error.finding)
                if len(self.wrong) >= _MOST_TOLD:
                    return
        if not self.instructions and not self.wrong:
            message = f"{self.file.path} has no instruction"
            self.wrong.append(Finding("ASM001", "error", message, help=("the shortest program is s_endpgm",)))

    def check(self) -> None:
        """Look at what only the whole text says: where labels are, how wide masks are."""
        for i in self.instructions:
            for one in (i, i.beside) if i.beside is not None else (i,):
                try:
                    self._check(one)
                except AssemblyError as error:
                    self.wrong.append(error.finding)
            if len(self.wrong) >= _MOST_TOLD:
                return

    def _line(self, line: AssemblyLine) -> None:
        for label in line.labels:
            self._label(label)
        if line.operation is None:
            return
        parts = _halves(line)
        made = [self._instruction(word, rest) for word, rest in parts]
        for one in made:
            self._check_operands(one, 0)
        first = made[0]
        if len(made) > 1:
            first = GcnInstruction(first.name, first.encoding, first.operands, first.modifiers, first.span, made[1])
            self.words[id(first)] = self.words[id(made[0])]
        self.instructions.append(first)

    def _label(self, label: AssemblyWord) -> None:
        if label.text in self.places:
            finding = Finding(
                "ASM001", "error", f"there are two labels '{label.text}'"[:120], label.span,
                ("give one of them another name",), (Note(self.places[label.text], "it stands here as well"),),
            )  # fmt: skip
            self.wrong.append(finding)
        self.places.setdefault(label.text, label.span)
        self.labels.setdefault(label.text, len(self.instructions))

    def _instruction(self, word: AssemblyWord, rest: AssemblyWord) -> GcnInstruction:
        name, encoding, op = _operation(word)
        whole = Span(self.file, word.span.start, max(word.span.end, rest.span.end if rest.text else 0))
        if op.text:
            if not re.fullmatch(op.text, rest.text):
                place = rest.span if rest.text else word.span
                raise AssemblyError(place, f"'{rest.text}' is not what {name} takes", f"expected {op.expected}")
            return self._kept(GcnInstruction(name, encoding, (), {}, whole), ())
        words, modifiers = split_modifiers(list(split_operands(rest)))
        _check_modifiers(name, encoding, op, modifiers, whole)
        operands = [read_gcn_operand(one) for one in words]
        if word.text.startswith("v_dual_cndmask") and len(operands) == 3:
            operands.append(GcnRegisters("s", VCC, 1))
            words = [*words, words[-1]]
        return self._kept(GcnInstruction(name, encoding, tuple(operands), modifiers, whole), words)

    def _kept(self, i: GcnInstruction, words: Sequence[AssemblyWord]) -> GcnInstruction:
        self.words[id(i)] = words
        return i

    def _check(self, i: GcnInstruction) -> None:
        self._check_operands(i, self.wave)
        for operand, word in zip(i.operands, self.words[id(i)], strict=True):
            self._check_symbol(operand, word)

    def _check_operands(self, i: GcnInstruction, wave: int) -> None:
        """Raise AssemblyError where operands do not fit; `wave` 0: masks may be of waves of any width."""
        op, words = OPERATIONS[i.name], self.words[id(i)]
        for operand, word in zip(i.operands, words, strict=True):
            if getattr(operand, "extended", False) and i.encoding != "sdwa":
                raise AssemblyError(word.span, f"{i.name} extends no signs", "expected sext(…) with _sdwa only")
        if op.text or (not words and any(not form.all for form in op.forms)):
            return
        if not words:
            counts = " or ".join(str(len(form.all)) for form in op.forms)
            raise AssemblyError(i.span, f"{i.name} has no operands", f"expected {counts}")
        check_operands(i.name, op, i.operands, words, wave)

    def _check_symbol(self, operand: GcnOperand, word: AssemblyWord) -> None:
        if not isinstance(operand, GcnSymbol):
            return
        known: Mapping[str, object] = self.directives.data if operand.part else self.labels
        if operand.name in known:
            if not operand.part and self.labels[operand.name] >= len(self.instructions):
                message = f"there is no instruction behind the label '{operand.name}'"
                raise AssemblyError(word.span, message, f"put one behind '{operand.name}:', s_endpgm for example")
            return
        if operand.part:
            return  # data of another file: an error if it is reached
        near = get_close_matches(operand.name, self.labels, n=2)
        remedy = f"did you mean {' or '.join(near)}?" if near else f"put a line '{operand.name}:' where it leads"
        raise AssemblyError(word.span, f"there is no label '{operand.name}': this leads nowhere", remedy)


def _halves(line: AssemblyLine) -> list[tuple[AssemblyWord, AssemblyWord]]:
    """Return the one or two instructions of a line: name, and what stands behind it."""
    assert line.operation is not None
    before, sign, behind = line.rest.text.partition("::")
    if not sign:
        return [(line.operation, line.rest)]
    start, file = line.rest.span.start, line.rest.span.file
    first = AssemblyWord(before.rstrip(), Span(file, start, start + len(before.rstrip())))
    at = start + len(before) + 2 + len(behind) - len(behind.lstrip())
    name, _, operands = behind.strip().partition(" ")
    if not name:
        raise AssemblyError(Span(file, at - 1, at), "nothing stands behind '::'", "expected a second instruction")
    begin = at + len(name) + 1 + len(operands) - len(operands.lstrip())
    second = AssemblyWord(operands.strip(), Span(file, begin, begin + max(1, len(operands.strip()))))
    return [(line.operation, first), (AssemblyWord(name, Span(file, at, at + len(name))), second)]


def _operation(word: AssemblyWord) -> tuple[str, str, GcnOp]:
    """Return the name of an operation, its encoding, and what it takes."""
    text = word.text.lower().replace("v_dual_", "v_", 1)
    found = _ENCODED.fullmatch(text)
    name, encoding = (found[1], found[2].replace("dpp8", "dpp")) if found is not None else (text, "")
    op = OPERATIONS.get(name)
    if op is None:
        near = get_close_matches(name, _likely(name), n=3)
        remedy = f"did you mean {' or '.join(near)}?" if near else "expected an instruction of GCN, such as v_add_u32"
        raise AssemblyError(word.span, f"there is no instruction '{word.text}' that is modeled", remedy)
    return name, encoding, op


def _likely(name: str) -> list[str]:
    """Return names that begin like one, and are about as long."""
    return [one for one in OPERATIONS if one[:3] == name[:3] and abs(len(one) - len(name)) <= 2]


def _check_modifiers(name: str, encoding: str, op: GcnOp, modifiers: Mapping[str, str], whole: Span) -> None:
    kind = "dpp" if encoding.endswith("dpp") else encoding if encoding == "sdwa" else "e64"
    known = {*op.modifiers, *(_SELECTED[kind] if name.startswith("v_") else ())}
    for one in modifiers:
        if one not in known:
            listed = ", ".join(sorted(known)) or "none"
            raise AssemblyError(whole, f"{name} does not take '{one}'", f"expected one of {listed}, or nothing")
