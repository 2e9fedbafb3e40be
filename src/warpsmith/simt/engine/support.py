"""Kernels and launches that the compiled machine takes: everything else is left to the interpreter, with the reason.

Imports nothing of LLVM, so that it can be asked before that is paid for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from warpsmith.simt.engine.observers.checks import Turns
from warpsmith.simt.engine.reading.calls import called_functions, is_call, stack_of
from warpsmith.simt.launch import Launch
from warpsmith.simt.library import has_answer
from warpsmith.simt.meeting.waiting import is_grid_barrier, says_nothing
from warpsmith.ssa.graph import Graph
from warpsmith.ssa.nodes import (
    Barrier,
    Callee,
    Convert,
    Float,
    Function,
    Instruction,
    Memory,
    Module,
    Operand,
    Param,
    Query,
    Return,
    Text,
    Value,
    terminator_operands,
)
from warpsmith.ssa.ops import OPS
from warpsmith.ssa.types import BF16, F16, I1, I128

_MOST_STACK: Final = 1 << 30
"""Bytes of stack that calls may need, one inside the other."""

__all__ = ["ORDERED_ATOMICS", "order_matters", "shares_order", "waits_for_grid", "why_refused"]

_NO_HALVES: Final = frozenset({"match", "reduce", "vote"})
"""Ops of lanes that compare or combine bits."""

_REGISTERS: Final = frozenset(
    ["laneid", "warpid", "nwarpid", "dynamic_smem_size"]
    + [f"lanemask_{how}" for how in ("eq", "lt", "le", "gt", "ge")]
    + [f"{base}.{axis}" for base in ("tid", "ctaid", "ntid", "nctaid") for axis in "xyz"]
)
_LANES: Final = frozenset({"vote", "shuffle", "match", "reduce", "active"})
_NEAREST: Final = ("", "nearest")
_ROUNDINGS: Final = frozenset({"zero", "up", "down"})
_ROUNDED: Final = frozenset({"fadd", "fsub", "fmul", "fdiv", "ffma", "sqrt", "rcp", "ftrunc", "sitof", "uitof"})
"""The ops of directed.py."""
_REDUCTIONS: Final = frozenset({"", "and", "or", "count"})
ORDERED_ATOMICS: Final = frozenset({"atomic_exchange", "atomic_compare", "atomic_inc", "atomic_dec", "atomic_fadd"})
"""Atomics whose result in memory depends on the order of the threads."""


def why_refused(module: Module, function: Function, launch: Launch, turns: Turns = "linear") -> str:
    """Return why the compiled machine does not take a kernel, or this launch of it; "" where it does. Any control flow
    is taken but where blocks run one behind the other."""
    callees = called_functions(module, function)
    if turns == "linear" and any(Graph.of(one).irreducible for one in (function, *callees)):
        return "a loop that has several entries"
    if launch.only is not None or launch.lanes is not None:
        return "a part of a grid"
    if not 1 <= launch.warp <= 64:
        return f"warps of {launch.warp} lanes"
    if turns != "linear" and waits_for_grid(function):
        return "a barrier of the grid where a policy says who goes on"
    if len(_numbers(function)) > 1:
        return "barriers of several numbers"
    here = (reason for _, i in function.instructions() for reason in _reasons(function, launch, i))
    return next(here, "") or next(_calls(module, function, callees, launch, turns), "")


def _calls(
    module: Module, function: Function, callees: Sequence[Function], launch: Launch, turns: Turns
) -> Iterator[str]:
    """Yield why the calls of a kernel are not taken, and what it calls."""
    functions = (function, *callees)
    calls = [i for one in functions for _, i in one.instructions() if is_call(i)]
    if not calls:
        return
    if turns != "linear":
        yield "a call that cannot be inlined, where blocks do not run one behind the other"
    if any(map(waits_for_grid, functions)):
        yield "a barrier of the grid in a kernel with calls that cannot be inlined"
    for i in calls:
        yield from _call(module, i)
    for one in callees:
        yield from _function(one, launch)
    arrays = [symbol.name for one in functions for symbol in one.symbols if symbol.space == "local"]
    if len(set(arrays)) < len(arrays):
        yield "local arrays of one name in several functions"
    if stack_of(function, callees) > _MOST_STACK:
        yield "a function that calls itself and is too large"


def _call(module: Module, i: Instruction) -> Iterator[str]:
    """Yield why a call is not taken."""
    assert isinstance(i.detail, Callee)
    name = i.detail.name
    callee = module.function(name)
    if callee is None or not callee.blocks:
        yield f"a call of {name}, which is not defined here"
        return
    if callee.kernel:
        yield f"a call of the kernel {name}"
    sizes = [operand.type.bytes for operand in i.operands]
    same = sizes == [parameter.bytes for parameter in callee.parameters]
    if not same or tuple(value.type for value in i.results) != callee.results:
        yield f"a call of {name} with other parameters or results than it has"


def _function(callee: Function, launch: Launch) -> Iterator[str]:
    """Yield why a function that is called is not taken."""
    sizes = {parameter.name: parameter.bytes for parameter in callee.parameters}
    for _, i in callee.instructions():
        if i.op in _LANES or i.op in ("barrier", "warp_barrier"):
            yield f"{i.op} in a function that is called"
        elif isinstance(i.detail, Param):
            size = sizes.get(i.detail.parameter, 0)
            if i.detail.offset or len(i.results) != 1 or i.result.type.bytes > size:
                yield f"a parameter that {callee.name} takes apart"
            yield from _types(i)
        else:
            yield from _reasons(callee, launch, i)
    for block in callee.blocks:
        given = terminator_operands(block.terminator) if isinstance(block.terminator, Return) else None
        if given is not None and tuple(operand.type for operand in given) != callee.results:
            yield f"a return from {callee.name} with other results than it has"


def order_matters(function: Function, callees: Sequence[Function] = ()) -> str:
    """Return why what a kernel computes may depend on the order of its threads, races aside; "" where it does not.
    `callees`: the functions that it calls."""
    functions = (function, *callees)
    blocks = [block for one in functions for block in one.blocks]
    instructions = [i for block in blocks for i in block.instructions]
    used = {operand for i in instructions for operand in i.operands}
    used |= {operand for block in blocks for phi in block.phis for _, operand in phi.incoming}
    used |= {operand for block in blocks for operand in terminator_operands(block.terminator)}
    kinds = {i.op for i in instructions if i.op.startswith("atomic_")}
    if len(kinds) > 1:
        return "atomic operations of several kinds, whose order matters"
    for i in instructions:
        if i.op in ORDERED_ATOMICS:
            return f"{i.op.replace('_', ' ')}, which depends on the order of the threads"
        if i.op.startswith("atomic_") and used.intersection(i.results):
            return "the result of an atomic operation, which depends on the order of the threads"
    return ""


def shares_order(function: Function, callees: Sequence[Function] = ()) -> str:
    """Return why blocks of a kernel have to run one after the other, races aside; "" where several may run at once:
    atomic operations of compiled code are in one piece for lanes and warps, not for threads of this computer."""
    if waits_for_grid(function):
        return "barriers of the grid, at which blocks wait for each other"
    for _, i in (pair for one in (function, *callees) for pair in one.instructions()):
        if i.op.startswith("atomic_") and isinstance(i.detail, Memory) and i.detail.space not in ("shared", "local"):
            return "atomic operations on memory that all blocks share"
    return ""


def waits_for_grid(function: Function) -> bool:
    """Whether blocks of a kernel wait for each other at barriers of the grid."""
    return any(is_grid_barrier(i) for _, i in function.instructions())


def _reasons(function: Function, launch: Launch, i: Instruction) -> Iterator[str]:
    """Yield why one instruction is not taken."""
    yield from _types(i)
    yield from _op(i, launch)
    detail = i.detail
    match detail:
        case Query():
            yield from _register(launch, detail)
        case Param():
            yield from _parameter(function, launch, i, detail)
        case Memory() if detail.space == "param" or (i.op != "load" and detail.space == "constant"):
            yield f"{i.op} in {detail.space} memory"
        case Float() | Convert():
            yield from _rounding(i, detail)
        case Barrier():
            yield from _barrier(i, detail)


def _numbers(function: Function) -> set[Operand]:
    """Return which barriers of a block a kernel waits at: the machine has one, at which all warps meet."""
    return {i.operands[0] for _, i in function.instructions() if isinstance(i.detail, Barrier) and i.operands}


def _op(i: Instruction, launch: Launch) -> Iterator[str]:
    if (i.op == "unmodeled" and not (says_nothing(i) or is_grid_barrier(i))) or i.op not in OPS:
        yield f"{_text(i)}, which is not modeled"
    elif i.op == "lanewise" and not has_answer(i, launch.textures) and (i.results or _text(i) != "printf"):
        yield f"the function {_text(i)}"
    elif i.op in _LANES and launch.warp > 32:
        yield f"{i.op} in a warp of {launch.warp} lanes"


def _register(launch: Launch, detail: Query) -> Iterator[str]:
    name = detail.register
    if name not in _REGISTERS or (name.startswith("lanemask") and launch.warp > 32):
        yield f"the register %{name}"


def _types(i: Instruction) -> Iterator[str]:
    types = {value.type for value in (*i.operands, *i.results)}
    if I128 in types:
        yield "numbers of 128 bits"
    if types & {F16, BF16} and (i.op.startswith("atomic_") or i.op in _NO_HALVES):
        yield f"{i.op} of half precision"


def _text(i: Instruction) -> str:
    return i.detail.text if isinstance(i.detail, Text) else i.op


def _rounding(i: Instruction, detail: Float | Convert) -> Iterator[str]:
    whole = i.op in ("fround", "ftosi", "ftoui", "fneg", "fabs", "copysign")
    exact = i.op == "fext"
    if detail.rounding not in _NEAREST and not whole and not exact and not _rounds(i, detail):
        yield f"{i.op} rounded {detail.rounding}"


def _rounds(i: Instruction, detail: Float | Convert) -> bool:
    """Whether an op is taken with another rounding than to the nearest number."""
    return detail.rounding in _ROUNDINGS and i.op in _ROUNDED


def _parameter(function: Function, launch: Launch, i: Instruction, detail: Param) -> Iterator[str]:
    given = launch.arguments.get(detail.parameter)
    named = any(parameter.name == detail.parameter for parameter in function.parameters)
    size = sum(value.type.bytes for value in i.results)
    if len(i.results) != 1 or given is None or not named or len(given) < detail.offset + size:
        yield f"the argument {detail.parameter}"


def _barrier(i: Instruction, detail: Barrier) -> Iterator[str]:
    numbers = i.operands[:-1] if detail.reduces else i.operands
    if not detail.waits or len(numbers) > 1 or any(isinstance(number, Value) for number in numbers):
        yield "a barrier of some threads"
    if detail.reduces not in _REDUCTIONS or (detail.reduces and i.operands[-1].type != I1):
        yield f"a barrier that combines by {detail.reduces}"
