"""A program of AMD IL as pseudo-code: one operation a line, registers without types, operators as in C.

    mod r5.x___, r4.x, cb0[0].z              r5 = r4 % cb0[0].z
    cmov_logical r7.x___, r6.x, l0.x, l0.y   r7 = r6 ? 1 : -1
    sample_resource(0)_sampler(0) r25, r24   r25 = t0[r24.xy]

Numbers stand in place of literals: as floats where an operation takes floats, else as integers where they are small.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from typing import Final

from warpsmith.base.source import Span
from warpsmith.front.il.nodes import WHOLE, IlDestination, IlInstruction, IlProgram, IlSource
from warpsmith.front.il.printing import print_il_source

__all__ = ["pseudo_lines"]

_BETWEEN: Final[Mapping[str, str]] = {
    **dict.fromkeys(("add", "iadd"), "+"), "sub": "-", **dict.fromkeys(("mul", "mul_ieee", "imul", "umul"), "*"),
    **dict.fromkeys(("div", "udiv"), "/"), **dict.fromkeys(("mod", "umod"), "%"),
    **dict.fromkeys(("lt", "ilt", "ult"), "<"), **dict.fromkeys(("ge", "ige", "uge"), ">="),
    **dict.fromkeys(("eq", "ieq"), "=="), **dict.fromkeys(("ne", "ine"), "!="),
    **dict.fromkeys(("and", "iand"), "&"), "ior": "|", "ixor": "^", "ishl": "<<", "ishr": ">>", "ushr": ">>>",
}  # fmt: skip
_CALLED: Final[Mapping[str, str]] = {
    "flr": "floor", "round_neginf": "floor", "round_posinf": "ceil", "round_z": "trunc", "round_nearest": "round",
    "frc": "frac", "itof": "float", "utof": "float", "ftoi": "int", "ftou": "uint", "imin": "min", "imax": "max",
    "umin": "min", "umax": "max", "sqrt_vec": "sqrt", "rsq_vec": "rsqrt", "sin_vec": "sin", "cos_vec": "cos",
    "exp_vec": "exp2", "log_vec": "log2", "icbits": "popcount", "rcp": "1 /",
}  # fmt: skip
_SMALL: Final = 1 << 16


def pseudo_lines(program: IlProgram) -> Iterator[tuple[str, Span | None]]:
    """Yield the lines, each with the user's line that it is of."""
    inputs = [f"in t{number}[{',' * (one.axes - 1)}]" for number, one in program.resources.items()]
    outputs = [f"out o{number}" for number in program.outputs]
    constants = [f"cb{number}[{one.size}]" for number, one in program.constants.items()]
    views = [f"uav{number}[]" for number in program.uavs]
    yield f"[{', '.join((*inputs, *outputs, *views, *constants))}]", None
    yield "{", None
    depth = 1
    for one in program.instructions:
        depth -= one.op.form in ("else", "endif", "endloop")
        yield f"{'    ' * depth}{_line(program, one)}", one.span
        depth += one.op.form in ("if", "else", "loop")
    yield "}", None


def _line(program: IlProgram, one: IlInstruction) -> str:
    floats = one.op.reads == "float"
    given = [_source(program, source, floats=floats) for source in one.sources]
    match one.op.form:
        case "if":
            return f"if ({_test(one, given[0])}) {{"
        case "break_if" | "continue_if":
            return f"if ({_test(one, given[0])}) {one.op.form.removesuffix('_if')}"
        case "else":
            return "} else {"
        case "endif" | "endloop":
            return "}"
        case "loop":
            return "loop {"
        case "break" | "continue":
            return one.op.form
        case "fence":
            return f"{one.op.name}()"
        case "uav_store" | "lds_store":
            return f"{_memory(one)}[{given[0]}] = {given[1]}"
        case _:
            return f"{_target(one.destination)} = {_value(one, given)}"


def _value(one: IlInstruction, given: list[str]) -> str:
    name = one.op.name
    if one.op.form in ("sample", "load"):
        return f"t{one.resource}[{given[0]}]"
    if one.op.form in ("uav_load", "lds_load"):
        return f"{_memory(one)}[{given[0]}]"
    if name in _BETWEEN:
        return f" {_BETWEEN[name]} ".join(given)
    if name == "mov":
        return given[0]
    if name in ("inot", "inegate"):
        return f"{'~' if name == 'inot' else '-'}{given[0]}"
    if name == "cmov_logical":
        return f"{given[0]} ? {given[1]} : {given[2]}"
    if name in ("mad", "fma", "imad", "umad"):
        return f"{given[0]} * {given[1]} + {given[2]}"
    return f"{_CALLED.get(name, name)}({', '.join(given)})"


def _memory(one: IlInstruction) -> str:
    return f"{'uav' if one.op.name.startswith('uav') else 'lds'}{one.resource}"


def _test(one: IlInstruction, word: str) -> str:
    return word if one.op.name.endswith("nz") else f"!{word}"


def _target(one: IlDestination | None) -> str:
    """Return what is written; a register of which only x is used goes by its number."""
    if one is None:
        return "_"
    text = print_il_source(IlSource(one.register))
    letters = one.computed
    return text if letters in ("x", WHOLE) else f"{text}.{letters}"


def _source(program: IlProgram, one: IlSource, *, floats: bool) -> str:
    letters = one.swizzle
    if one.register.kind == "l" and len(set(letters)) == 1 and letters[0] in WHOLE:
        word = program.literals[one.register.number].words[WHOLE.index(letters[0])]
        return _number(word, floats=floats)
    text = print_il_source(one)
    plain = one.register.kind in ("r", "x") and set(letters) == {"x"} and not one.absolute and not one.negated
    if plain:
        return text.removesuffix(".x")
    return text.replace(".xyyy", ".xy")


def _number(word: int, *, floats: bool) -> str:
    whole = word - (1 << 32) if word >> 31 else word
    value: float = struct.unpack("<f", struct.pack("<I", word))[0]
    if (abs(whole) < _SMALL and (not floats or whole == 0)) or value != value:
        return str(whole)
    return f"{value:g}" if floats or 1e-6 < abs(value) < 1e9 else hex(word)
