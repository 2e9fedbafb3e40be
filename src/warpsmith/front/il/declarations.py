"""Declarations of IL, read from their lines."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Mapping
from typing import Final, cast

from warpsmith.base.source import Span
from warpsmith.front.il.nodes import (
    WHOLE,
    IlConstants,
    IlDeclaration,
    IlInput,
    IlLds,
    IlLiteral,
    IlMostThreads,
    IlOutput,
    IlResource,
    IlTemporaries,
    IlThreads,
    IlUav,
)
from warpsmith.front.il.operands import read_register
from warpsmith.front.il.tokens import IlLine, IlTextError, IlWord

__all__ = ["DECLARATIONS", "read_declaration"]

_FORMATS: Final = ("float", "sint", "uint", "unorm", "snorm", "unknown")
_NUMBER: Final = re.compile(r"\d{1,4}")
_BYTES: Final = re.compile(r"\d{1,6}")
_LDS: Final = 65536
_SIZE: Final = re.compile(r"cb(\d{1,2})\s*\[\s*(\d{1,4})\s*\]")
_ARRAY: Final = re.compile(r"x(\d{1,2})\s*\[\s*(\d{1,4})\s*\]")
_HEX: Final = re.compile(r"0[xX][0-9a-fA-F]{1,8}")
_WHOLE_NUMBER: Final = re.compile(r"-?\d{1,10}")


def read_declaration(line: IlLine) -> IlDeclaration:
    """Return the declaration that a line is; raises IlTextError."""
    return DECLARATIONS[line.word](line)


def _output(line: IlLine) -> IlDeclaration:
    _expect(line, 1, f"{line.word} o0")
    if line.word == "dcl_output_usage":
        _usage(line, ("generic",))
    register, components = read_register(line.operands[0])
    if register.kind != "o" or components not in (None, WHOLE):
        raise IlTextError(line.operands[0].span, f"'{line.operands[0].text}' is no output", "expected o0")
    return IlOutput(register.number, line.whole)


def _input(line: IlLine) -> IlDeclaration:
    _expect(line, 1, "dcl_input_position_interp(linear_noperspective) v0.xy__")
    _usage(line, ("linear_noperspective", "linear_no_perspective"))
    register, components = read_register(line.operands[0])
    mask = components or WHOLE
    if register.kind != "v" or register.number or not re.fullmatch(r"[x_][y_][z_][w_]", mask):
        expected = "expected v0.xy__: the place of the thread"
        raise IlTextError(line.operands[0].span, f"'{line.operands[0].text}' is no position", expected)
    if "z" in mask or "w" in mask:
        raise IlTextError(line.operands[0].span, "a thread has no place along z or w here", "expected v0.xy__")
    return IlInput(0, mask, line.whole)


def _usage(line: IlLine, known: tuple[str, ...]) -> None:
    given = [one.value for one in line.controls]
    if len(given) != 1 or given[0] not in known:
        said = ", ".join(given) or "nothing"
        raise IlTextError(line.place, f"{line.word} says {said} in parentheses", f"expected ({known[0]})")


def _resource(line: IlLine) -> IlDeclaration:
    form = "dcl_resource_id(0)_type(2d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)"
    _expect(line, 0, form)
    given = {one.name: one.value for one in line.controls}
    names = ("", "type", "fmtx", "fmty", "fmtz", "fmtw")
    if tuple(one.name for one in line.controls) != names or not _NUMBER.fullmatch(given[""]):
        raise IlTextError(line.place, "this declares no resource", f"expected {form}")
    kind, _, how = given["type"].replace(" ", "").partition(",")
    if kind not in ("1d", "2d"):
        raise IlTextError(line.place, f"resources of type {kind} are not read", "expected 1d or 2d")
    if how != "unnorm":
        raise IlTextError(line.place, "coordinates from 0 to 1 are not read", f"expected _type({kind},unnorm)")
    formats = tuple(given[name] for name in names[2:])
    wrong = [one for one in formats if one not in _FORMATS]
    if wrong:
        raise IlTextError(line.place, f"there is no format '{wrong[0]}'", f"expected one of {', '.join(_FORMATS)}")
    return IlResource(int(given[""]), int(kind[0]), cast("tuple[str, str, str, str]", formats), line.whole)


def _literal(line: IlLine) -> IlDeclaration:
    _expect(line, 5, "dcl_literal l0, 0x00000001, 0x00000000, 1.0, -1")
    register, components = read_register(line.operands[0])
    if register.kind != "l" or components is not None:
        raise IlTextError(line.operands[0].span, f"'{line.operands[0].text}' is no literal", "expected l0")
    words = tuple(_word(one) for one in line.operands[1:])
    return IlLiteral(register.number, cast("tuple[int, int, int, int]", words), line.whole)


def _word(word: IlWord) -> int:
    """Return the bits of a number: hexadecimal ones as they stand, whole ones as integers, others as floats."""
    text = word.text
    if _HEX.fullmatch(text):
        return int(text, 16)
    if _WHOLE_NUMBER.fullmatch(text):
        if not -(1 << 31) <= int(text) < 1 << 32:
            raise IlTextError(word.span, f"{text} does not fit 32 bits", "expected -2147483648 to 4294967295")
        return int(text) & 0xFFFFFFFF
    try:
        (bits,) = struct.unpack("<I", struct.pack("<f", float(text.removesuffix("f"))))
    except (ValueError, OverflowError) as error:
        expected = "expected 0x0000ffff, a whole number or a number with a point"
        raise IlTextError(word.span, f"'{text}' is no number of 32 bits", expected) from error
    return int(bits)


def _constants(line: IlLine) -> IlDeclaration:
    _expect(line, 1, "dcl_cb cb0[3]")
    found = _SIZE.fullmatch(line.operands[0].text)
    if found is None or not 1 <= int(found[2]) <= 4096:
        expected = "expected cb0[3]: how many registers it has, 1 to 4096"
        raise IlTextError(line.operands[0].span, f"'{line.operands[0].text}' is no constant buffer", expected)
    return IlConstants(int(found[1]), int(found[2]), line.whole)


def _temporaries(line: IlLine) -> IlDeclaration:
    _expect(line, 1, "dcl_indexed_temp_array x0[8]")
    found = _ARRAY.fullmatch(line.operands[0].text)
    if found is None or not 1 <= int(found[2]) <= 4096:
        expected = "expected x0[8]: how many registers it has, 1 to 4096"
        raise IlTextError(line.operands[0].span, f"'{line.operands[0].text}' is no array of registers", expected)
    return IlTemporaries(int(found[1]), int(found[2]), line.whole)


def _threads(line: IlLine) -> IlDeclaration:
    if not 1 <= len(line.operands) <= 3:
        raise IlTextError(line.whole, f"{line.word} has {len(line.operands)} operands", "expected 1 to 3 numbers")
    for one in line.operands:
        if not _NUMBER.fullmatch(one.text) or not 1 <= int(one.text) <= 1024:
            raise IlTextError(one.span, f"'{one.text}' is no number of threads", "expected 1 to 1024")
    x, y, z = (*(int(one.text) for one in line.operands), 1, 1)[:3]
    return IlThreads((x, y, z), line.whole)


def _most_threads(line: IlLine) -> IlDeclaration:
    _expect(line, 1, f"{line.word} 256")
    (one,) = line.operands
    if not _NUMBER.fullmatch(one.text) or not 1 <= int(one.text) <= 1024:
        raise IlTextError(one.span, f"'{one.text}' is no number of threads", "expected 1 to 1024")
    return IlMostThreads(int(one.text), line.whole)


def _uav(line: IlLine) -> IlDeclaration:
    _expect(line, 0, "dcl_raw_uav_id(0)")
    return IlUav(_number(line, "dcl_raw_uav_id(0)"), line.whole)


def _lds(line: IlLine) -> IlDeclaration:
    _expect(line, 1, "dcl_lds_id(1) 1024")
    number, (one,) = _number(line, "dcl_lds_id(1) 1024"), line.operands
    if not _BYTES.fullmatch(one.text) or not 4 <= int(one.text) <= _LDS or int(one.text) % 4:
        expected = f"expected how many bytes: a multiple of 4, 4 to {_LDS}"
        raise IlTextError(one.span, f"'{one.text}' is no size of the group's memory", expected)
    return IlLds(number, int(one.text), line.whole)


def _number(line: IlLine, form: str) -> int:
    """Return the only number in parentheses."""
    given = [one.value for one in line.controls]
    if len(given) != 1 or not _NUMBER.fullmatch(given[0]):
        raise IlTextError(line.place, f"{line.word} has no number", f"expected {form}")
    return int(given[0])


def _expect(line: IlLine, count: int, form: str) -> None:
    if len(line.operands) != count:
        place: Span = line.whole
        raise IlTextError(place, f"{line.word} has {len(line.operands)} operands", f"expected {form}")


DECLARATIONS: Final[Mapping[str, Callable[[IlLine], IlDeclaration]]] = {
    "dcl_output_generic": _output,
    "dcl_output_usage": _output,
    "dcl_input_position_interp": _input,
    "dcl_resource_id": _resource,
    "dcl_literal": _literal,
    "dcl_cb": _constants,
    "dcl_num_thread_per_group": _threads,
    "dcl_max_thread_per_group": _most_threads,
    "dcl_raw_uav_id": _uav,
    "dcl_lds_id": _lds,
    "dcl_indexed_temp_array": _temporaries,
}
