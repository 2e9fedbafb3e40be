"""A program of R600 as text, in the manner of AMD's tools:

    00 TEX: CNT(1)
          0  SAMPLE      R1.x___, R0.x___, t0, s0
    01 ALU: CNT(2)
          1  x: ADD_INT     R2.x, KC0[2].x, -1
             t: FLT_TO_INT  R2.y, R0.x
    02 EXP_DONE: PIX0, R3.x___                                  of a pixel shader
    02 MEM_RAT_CACHELESS_STORE_RAW: RAT(0)[R1.x].xy__, R2       of a compute shader
    END_OF_PROGRAM

A number before a bundle or a fetch counts both. CNT counts operations, or fetches.
"""

from __future__ import annotations

from collections.abc import Iterator

from warpsmith.targets.r600.code import (
    AluClause,
    AluLine,
    AluSource,
    Gpr,
    Kc,
    Number,
    R600Code,
    StoreLine,
    TexClause,
    TexLine,
)
from warpsmith.targets.r600.schedule import INLINE

__all__ = ["print_r600"]


def print_r600(code: R600Code) -> str:
    """Return the text of a program."""
    return "\n".join((*_lines(code), "END_OF_PROGRAM", ""))


def _lines(code: R600Code) -> Iterator[str]:
    number = 0
    for place, clause in enumerate(code.clauses):
        if isinstance(clause, TexClause):
            yield f"{place:02} TEX: CNT({len(clause.lines)})"
            for tex in clause.lines:
                yield f"{number:7}  {_tex(tex)}"
                number += 1
        else:
            yield f"{place:02} ALU: CNT({_count(clause)})"
            for bundle in clause.bundles:
                for at, line in enumerate(bundle.lines):
                    yield f"{'' if at else number:>7}  {line.slot}: {_alu(line)}"
                number += 1
    for place, export in enumerate(code.exports, len(code.clauses)):
        if isinstance(export, StoreLine):
            target = f"RAT({export.view})[R{export.address}.x].{export.mask}"
            yield f"{place:02} MEM_RAT_CACHELESS_STORE_RAW: {target}, R{export.register}"
            continue
        name = "EXP_DONE" if place == len(code.clauses) + len(code.exports) - 1 else "EXP"
        yield f"{place:02} {name}: PIX{export.number}, R{export.register}.{export.swizzle}"


def _count(clause: AluClause) -> int:
    return sum(len(bundle.lines) for bundle in clause.bundles)


def _tex(one: TexLine) -> str:
    text = f"{one.name:<11} R{one.register}.{one.mask}, R{one.source}.{one.swizzle}"
    return f"{text}, u{one.resource}" if one.name == "VFETCH" else f"{text}, t{one.resource}, s{one.sampler}"


def _alu(one: AluLine) -> str:
    operands = ", ".join((_place(one.target), *map(_source, one.sources)))
    return f"{one.name:<11} {operands}{'  CLAMP' if one.clamp else ''}"


def _source(one: AluSource) -> str:
    plain = not (one.negate or one.absolute)
    text = INLINE[one.place.bits] if plain and isinstance(one.place, Number) and one.place.bits in INLINE else ""
    text = text or _place(one.place)
    return f"{'-' if one.negate else ''}{f'|{text}|' if one.absolute else text}"


def _place(one: Gpr | Kc | Number) -> str:
    match one:
        case Gpr():
            return f"R{one.register}.{one.component}"
        case Kc():
            return f"KC{one.buffer}[{one.element}].{one.component}"
        case Number():
            return f"0x{one.bits:08X}"
