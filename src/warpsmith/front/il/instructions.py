"""One instruction of IL, read from its line."""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import Final

from warpsmith.front.il.declarations import DECLARATIONS
from warpsmith.front.il.nodes import IlDestination, IlInstruction, IlSource
from warpsmith.front.il.operands import read_destination, read_source
from warpsmith.front.il.ops import CONDITIONAL, IL_OPS, NUMBERED, IlOp
from warpsmith.front.il.tokens import IlLine, IlTextError

__all__ = ["read_instruction"]

_ZEROS: Final = ("infinity", "fltmax")
_NUMBER: Final = re.compile(r"\d{1,3}")


def read_instruction(line: IlLine) -> IlInstruction:
    """Return the instruction that a line is; raises IlTextError."""
    op, saturate, zero, controls = _opcode(line)
    resource, sampler = _resource(line, op, controls)
    wanted = op.sources + op.writes
    if len(line.operands) != wanted:
        count = f"{len(line.operands)} operand{'' if len(line.operands) == 1 else 's'}"
        raise IlTextError(line.whole, f"{line.word} has {count}", f"expected {_form(op)}")
    destination: IlDestination | None = None
    words = line.operands
    if op.writes:
        destination, words = read_destination(words[0]), words[1:]
    sources = tuple(read_source(one) for one in words)
    _check_places(line, op, sources)
    if destination is not None:
        _check_target(line, op, destination)
    places = tuple(one.span for one in line.operands)
    return IlInstruction(op, destination, sources, saturate, zero, resource, sampler, line.whole, places)


def _opcode(line: IlLine) -> tuple[IlOp, bool, str, tuple[str, ...]]:
    """Return the row, whether it saturates, what a division by zero gives, and the values of the controls."""
    word, zero = line.word, ""
    controls = tuple((one.name, one.value) for one in line.controls)
    if word.endswith("_zeroop"):
        word = word.removesuffix("_zeroop")
        zero = controls[0][1] if controls else ""
        controls = controls[1:]
        if word in IL_OPS and (not IL_OPS[word].divides or zero not in _ZEROS):
            said = "has no zeroop" if not IL_OPS[word].divides else f"with zeroop '{zero}' is not read"
            raise IlTextError(line.place, f"{word} {said}", "expected div_zeroop(infinity) or (fltmax)")
    saturate = word.endswith("_sat") and word not in IL_OPS
    op = IL_OPS.get(word.removesuffix("_sat") if saturate else word)
    if op is None:
        raise IlTextError(line.place, f"there is no instruction '{line.word}'", _near(line.word))
    if saturate and (op.form not in ("map", "scalar") or op.gives != "float"):
        raise IlTextError(line.place, f"{op.name} cannot saturate: it gives no float", f"expected {op.name}")
    names = tuple(name for name, _ in controls)
    wanted = ("", "sampler") if op.form == "sample" else ("",) if op.form in NUMBERED else ()
    if names != wanted:
        raise IlTextError(line.place, f"{word} says {len(names)} things in parentheses", f"expected {_form(op)}")
    return op, saturate, zero, tuple(value for _, value in controls)


def _near(word: str) -> str:
    known = [*IL_OPS, *DECLARATIONS, "endmain", "end"]
    near = get_close_matches(word[:64].lower(), known, n=3)
    return f"did you mean {' or '.join(near)}?" if near else f"expected one of {', '.join(IL_OPS)}"


def _resource(line: IlLine, op: IlOp, controls: tuple[str, ...]) -> tuple[int, int]:
    for text in controls:
        if not _NUMBER.fullmatch(text):
            raise IlTextError(line.place, f"'{text}' is no number of a resource", f"expected {_form(op)}")
    resource, sampler = (*(int(text) for text in controls), 0, 0)[:2]
    return resource, sampler


def _check_target(line: IlLine, op: IlOp, destination: IlDestination) -> None:
    """Check what an op demands of its destination."""
    kind, place = destination.register.kind, line.operands[0].span
    if (op.form == "uav_store") != (kind == "mem"):
        expected = "expected mem0.x___" if op.form == "uav_store" else "expected r0 or o0"
        raise IlTextError(place, f"{op.name} cannot write to {kind}", expected)
    if op.form in ("sample", "load", "uav_load", "lds_load", "atomic") and kind == "g":
        raise IlTextError(place, "a fetch cannot go to g", "expected r0 or o0")
    if op.form in ("uav_store", "uav_load", "lds_load", "atomic") and set(destination.mask) & {"0", "1"}:
        raise IlTextError(place, f"{op.name} has no constants in its mask", "expected .x___, .xy__ …")


def _check_places(line: IlLine, op: IlOp, sources: tuple[IlSource, ...]) -> None:
    """Check what an op demands of its sources."""
    for source, word in zip(sources, line.operands[op.writes :], strict=True):
        if op.form == "scalar" and len(set(source.swizzle)) > 1:
            one = f"{word.text.partition('.')[0]}.x"
            raise IlTextError(word.span, f"{op.name} takes one component", f"expected {one}: one for all places")
        if op.form in CONDITIONAL and (source.negated or source.absolute):
            raise IlTextError(word.span, "a condition has no modifier", f"expected {op.name} r0.x")
        if op.reads == "bits" and (source.negated or source.absolute):
            raise IlTextError(word.span, f"{op.name} reads bits, which have no sign", "expected no modifier")
        if op.reads == "integer" and source.absolute:
            raise IlTextError(word.span, f"_abs is of floats, and {op.name} reads integers", "expected no _abs")


def _form(op: IlOp) -> str:
    name = "sample_resource(0)_sampler(0)" if op.form == "sample" else op.name + "(0)" * (op.form in NUMBERED)
    operands = (["DEST"] if op.writes else []) + [f"SOURCE{n}" for n in range(op.sources)]
    return f"{name} {', '.join(operands)}".rstrip()
