"""What a program of IL must hold as a whole: what is used is declared, once; control flow is closed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from warpsmith.base.findings import Finding, Note
from warpsmith.base.source import Span
from warpsmith.front.il.nodes import (
    BUILTIN_INPUTS,
    WHOLE,
    IlConstants,
    IlDeclaration,
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
from warpsmith.front.il.ops import IlForm

__all__ = ["check_program", "operands_of", "places_read"]

_CLOSES: Final[dict[IlForm, IlForm]] = {"else": "if", "endif": "if", "endloop": "loop"}
_IN_LOOPS: Final = frozenset[IlForm](("break", "continue", "break_if", "continue_if"))


def check_program(program: IlProgram) -> tuple[Finding, ...]:
    """Return what is wrong, each with its place."""
    return (*_check_declarations(program), *_check_flow(program), *_check_uses(program))


def _wrong(span: Span | None, message: str, *helps: str, related: tuple[Note, ...] = ()) -> Finding:
    return Finding("ILT001", "error", message, span, helps, related)


# --- declarations


def _check_declarations(program: IlProgram) -> Iterator[Finding]:
    seen: dict[str, IlDeclaration] = {}
    for one in program.declarations:
        name = _declared(one)
        if name in seen:
            before = seen[name].span
            related = (Note(before, "it is declared here as well"),) if before else ()
            yield _wrong(one.span, f"{name} is declared twice", "leave one out", related=related)
        seen.setdefault(name, one)
        if isinstance(one, IlThreads | IlMostThreads | IlUav | IlLds) and program.kind == "ps":
            what = "unordered access views" if isinstance(one, IlUav) else "groups of threads"
            yield _wrong(one.span, f"a pixel shader has no {what}", "begin with il_cs_2_0")
        if isinstance(one, IlOutput | IlInput) and program.kind == "cs":
            yield _wrong(one.span, f"a compute shader has no {name}", "write to g[…], and read vAbsTidFlat")
    if program.kind == "cs" and program.threads is None and program.most_threads is None:
        span = program.instructions[0].span if program.instructions else None
        yield _wrong(span, "nothing says how many threads a group has", "expected dcl_num_thread_per_group 64")


def _declared(one: IlDeclaration) -> str:
    match one:
        case IlOutput():
            return f"o{one.number}"
        case IlInput():
            return f"v{one.number}"
        case IlResource():
            return f"resource {one.number}"
        case IlLiteral():
            return f"l{one.number}"
        case IlConstants():
            return f"cb{one.number}"
        case IlThreads() | IlMostThreads():
            return "the size of a group"
        case IlTemporaries():
            return f"x{one.number}"
        case IlUav():
            return f"uav {one.number}"
        case IlLds():
            return f"lds {one.number}"


# --- control flow


def _check_flow(program: IlProgram) -> Iterator[Finding]:
    opened: list[IlInstruction] = []
    past_else: list[bool] = []
    for one in program.instructions:
        form = one.op.form
        if form in ("if", "loop"):
            opened.append(one)
            past_else.append(False)
        elif form in _CLOSES:
            inner = opened[-1].op.form if opened else None
            if inner != _CLOSES[form] or (form == "else" and past_else[-1]):
                what = f"the {opened[-1].op.name} that is open" if opened else "nothing that is open"
                yield _wrong(one.span, f"{one.op.name} closes {what}", f"expected it behind its {_CLOSES[form]}")
            elif form == "else":
                past_else[-1] = True
            else:
                opened.pop()
                past_else.pop()
        elif form in _IN_LOOPS and not any(outer.op.form == "loop" for outer in opened):
            yield _wrong(one.span, f"{one.op.name} stands in no loop", "expected it between whileloop and endloop")
    for one in opened:
        closing = "endif" if one.op.form == "if" else "endloop"
        yield _wrong(one.span, f"{one.op.name} is not closed", f"expected {closing} behind it")


# --- uses


def operands_of(one: IlInstruction) -> Iterator[tuple[IlRegister, str, Span | None]]:
    """Yield the registers that an instruction names, with the components that it reads or writes, and their place."""
    places = one.places or (None,) * (len(one.sources) + (one.destination is not None))
    if one.destination is not None:
        yield one.destination.register, one.destination.mask, places[0]
    for source, place in zip(one.sources, places[one.destination is not None :], strict=True):
        yield source.register, places_read(one, source), place


def places_read(one: IlInstruction, source: IlSource, wanted: str | None = None) -> str:
    """Return the letters of a swizzle that count for the components `wanted` of the result (None: all written)."""
    form = one.op.form
    if form == "map":
        computed = one.destination.computed if one.destination else WHOLE
        at = computed if wanted is None else wanted
        return "".join(source.swizzle[WHOLE.index(letter)] for letter in at)
    if form == "uav_store" and one.destination is not None:
        # the first source is an address of one component
        return source.swizzle[0] + "".join(source.swizzle[WHOLE.index(letter)] for letter in one.destination.computed)
    return source.swizzle[: 2 if form in ("sample", "load") else 1]


def _check_uses(program: IlProgram) -> Iterator[Finding]:
    told: set[str] = set()
    for one in program.instructions:
        if one.op.form in ("sample", "load") and one.resource not in program.resources:
            expected = f"expected dcl_resource_id({one.resource})_type(1d,unnorm)_fmtx(float)…"
            yield _wrong(one.span, f"resource {one.resource} is not declared", expected)
        yield from _check_memory(program, one)
        for register, components, place in operands_of(one):
            found = _check_register(program, register, components)
            if found is not None and found[0] not in told:
                told.add(found[0])
                yield _wrong(place or one.span, *found)


def _check_memory(program: IlProgram, one: IlInstruction) -> Iterator[Finding]:
    form, number = one.op.form, one.resource
    if form not in ("uav_load", "uav_store", "lds_load", "lds_store", "atomic"):
        return
    if one.op.name.startswith("uav") and number not in program.uavs:
        yield _wrong(one.span, f"uav {number} is not declared", f"expected dcl_raw_uav_id({number})")
    if one.op.name.startswith("lds") and number not in program.lds:
        yield _wrong(one.span, f"lds {number} is not declared", f"expected dcl_lds_id({number}) and its bytes")


def _check_register(program: IlProgram, register: IlRegister, components: str) -> tuple[str, str] | None:
    """Return what is wrong with the use of a register, and what was expected."""
    number, kind = register.number, register.kind
    if kind in BUILTIN_INPUTS or kind == "g":
        return None if program.kind == "cs" else (f"a pixel shader has no {kind}", "begin with il_cs_2_0")
    match kind:
        case "o" if number not in program.outputs:
            return f"o{number} is not declared", f"expected dcl_output_generic o{number}"
        case "v":
            mask = next((one.mask for one in program.declarations if isinstance(one, IlInput)), None)
            if number or mask is None:
                return f"v{number} is not declared", "expected dcl_input_position_interp(linear_noperspective) v0.xy__"
            beyond = [letter for letter in components if letter in WHOLE and letter not in mask]
            return (f"v0.{beyond[0]} is not declared", f"the declaration has v0.{mask}") if beyond else None
        case "l" if number not in program.literals:
            known = ", ".join(f"l{one}" for one in program.literals) or "none"
            return f"l{number} is not declared: there is {known}", f"expected dcl_literal l{number}, …"
        case "cb":
            declared = program.constants.get(number)
            return _check_element(register, None if declared is None else declared.size, "dcl_cb")
        case "x":
            array = program.temporaries.get(number)
            return _check_element(register, None if array is None else array.size, "dcl_indexed_temp_array")
        case _:
            return None


def _check_element(register: IlRegister, size: int | None, declaration: str) -> tuple[str, str] | None:
    """Return what is wrong with an element of what has so many registers (None: it is not declared)."""
    name, index = f"{register.kind}{register.number}", register.index
    if size is None:
        return f"{name} is not declared", f"expected {declaration} {name}[…]"
    if index is not None and index.register is None and index.offset >= size:
        message = f"{name}[{index.offset}] is beyond the end: it has {size} registers"
        return message, f"expected {declaration} {name}[{index.offset + 1}]"
    return None
