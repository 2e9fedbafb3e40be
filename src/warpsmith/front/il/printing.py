"""A program of IL as text, which reads back as the same program."""

from __future__ import annotations

from collections.abc import Iterator

from warpsmith.front.il.nodes import (
    WHOLE,
    IlConstants,
    IlDeclaration,
    IlDestination,
    IlInput,
    IlInstruction,
    IlLds,
    IlLiteral,
    IlMostThreads,
    IlOutput,
    IlProgram,
    IlRegister,
    IlResource,
    IlSource,
    IlTemporaries,
    IlThreads,
    IlUav,
)
from warpsmith.front.il.ops import NUMBERED

__all__ = ["il_lines", "print_il", "print_il_instruction", "print_il_source"]


def print_il(program: IlProgram) -> str:
    """Return the text of a program."""
    return "".join(f"{line}\n" for line, _ in il_lines(program))


def il_lines(program: IlProgram) -> Iterator[tuple[str, IlInstruction | None]]:
    """Yield the lines of a program, each with the instruction that it is."""
    yield f"il_{program.kind}_2_0", None
    yield from ((_declaration(one), None) for one in program.declarations)
    yield "", None
    depth = 0
    for one in program.instructions:
        if one.op.form in ("else", "endif", "endloop"):
            depth -= 1
        yield "    " * depth + print_il_instruction(one), one
        if one.op.form in ("if", "else", "loop"):
            depth += 1
    yield from (("endmain", None), ("end", None))


def _declaration(one: IlDeclaration) -> str:
    match one:
        case IlOutput():
            return f"dcl_output_generic o{one.number}"
        case IlInput():
            return f"dcl_input_position_interp(linear_noperspective) v{one.number}.{one.mask}"
        case IlResource():
            formats = "".join(f"_fmt{letter}({form})" for letter, form in zip(WHOLE, one.formats, strict=True))
            return f"dcl_resource_id({one.number})_type({one.axes}d,unnorm){formats}"
        case IlLiteral():
            return f"dcl_literal l{one.number}, {', '.join(f'0x{word:08X}' for word in one.words)}"
        case IlConstants():
            return f"dcl_cb cb{one.number}[{one.size}]"
        case IlThreads() | IlMostThreads() | IlUav() | IlLds() | IlTemporaries():
            return _of_compute(one)


def _of_compute(one: IlThreads | IlMostThreads | IlUav | IlLds | IlTemporaries) -> str:
    """Return a declaration of what pixel shaders hardly have."""
    match one:
        case IlThreads():
            return f"dcl_num_thread_per_group {', '.join(map(str, one.sizes))}"
        case IlMostThreads():
            return f"dcl_max_thread_per_group {one.count}"
        case IlUav():
            return f"dcl_raw_uav_id({one.number})"
        case IlLds():
            return f"dcl_lds_id({one.number}) {one.bytes}"
        case IlTemporaries():
            return f"dcl_indexed_temp_array x{one.number}[{one.size}]"


def print_il_instruction(one: IlInstruction) -> str:
    """Return the line of an instruction."""
    name = one.op.name
    if one.op.form == "sample":
        name += f"({one.resource})_sampler({one.sampler})"
    elif one.op.form in NUMBERED:
        name += f"({one.resource})"
    name += "_sat" if one.saturate else ""
    name += f"_zeroop({one.zero})" if one.zero else ""
    operands = [_destination(one.destination)] if one.destination else []
    operands += [print_il_source(source) for source in one.sources]
    return f"{name} {', '.join(operands)}".rstrip()


def _destination(one: IlDestination) -> str:
    return _register(one.register) + ("" if one.mask == WHOLE else f".{one.mask}")


def print_il_source(one: IlSource) -> str:
    """Return the text of a source."""
    swizzle = one.swizzle[0] if len(set(one.swizzle)) == 1 else one.swizzle
    text = _register(one.register) + ("" if swizzle == WHOLE else f".{swizzle}")
    text += "_abs" if one.absolute else ""
    return text + (f"_neg({one.negated})" if one.negated else "")


def _register(one: IlRegister) -> str:
    number = str(one.number) if one.kind in ("r", "v", "o", "l", "cb", "x", "mem") else ""
    if one.index is None:
        return f"{one.kind}{number}"
    index = one.index
    if index.register is None:
        return f"{one.kind}{number}[{index.offset}]"
    more = f"+{index.offset}" if index.offset else ""
    return f"{one.kind}{number}[r{index.register}.{index.component}{more}]"
