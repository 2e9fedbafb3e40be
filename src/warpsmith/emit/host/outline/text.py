"""The text of generated host functions, for the file of kernels and for the header of the user's text.

struct ws_lu_data {                                     valid as C and as C++, in both files
    double *A_gpu;
};

// lu.c:12
extern "C" struct ws_lu_data ws_lu_begin(int N, double *A)
{
    struct ws_lu_data ws_gpu = {};
    double *A_gpu = (double *)ws_data_enter(A, …);
    ws_gpu.A_gpu = A_gpu;
    return ws_gpu;
}
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from warpsmith.emit.file_names import in_comment
from warpsmith.emit.host.host import CudaWords
from warpsmith.emit.host.outline.model import DeviceState, GuardTest, HostFunction
from warpsmith.emit.host.outline.shorter import negate
from warpsmith.tree.nodes import Stmt
from warpsmith.tree.printing.printer import Printer, join_lines, nothing, print_type
from warpsmith.tree.program import Unit
from warpsmith.tree.text.wrapping import wrap

__all__ = ["declarations_of", "definition", "places", "states"]

_UNIT = "    "


def states(functions: Iterable[HostFunction]) -> Iterator[str]:
    """Yield the definitions of the structures that functions return."""
    for function in functions:
        if function.begins is not None:
            yield _state_text(function.begins)


def declarations_of(functions: Iterable[HostFunction], unit: Unit) -> Iterator[str]:
    """Yield the declarations of functions, each below the place that it stands for."""
    for function in functions:
        yield f"/* {places(function, unit)} */\n{wrap(_head(function))};"


def places(function: HostFunction, unit: Unit) -> str:
    """Return where in the user's text a function's work stands, and what it is, in words."""
    name = in_comment(PurePosixPath(unit.file.path).name)
    what = ", ".join(function.regions)
    return f"{name}:{function.place.line}{': ' if what else ''}{what}"


def definition(function: HostFunction, unit: Unit, words: CudaWords) -> str:
    """Return a function as C++."""
    printer = Printer(nothing, words)
    lines = [f"// {places(function, unit)}", wrap(f'extern "C" {_head(function)}'), "{"]
    switch = [guard for guard in function.guards if guard.condition is None]
    body = [*_needed(function), *(line for guard in switch for line in _guard_lines(guard, function, printer, words))]
    body += _written(function.written[: function.lead], printer)
    for guard in function.guards:
        body += _guard_lines(guard, function, printer, words) if guard.condition is not None else ()
    body += [*_written(function.written[function.lead :], printer), *_end(function)]
    return "\n".join([*lines, *(_UNIT + line if line else "" for line in body), "}"])


def _written(run: Iterable[Stmt], printer: Printer) -> Iterator[str]:
    for stmt in run:
        for line in join_lines(printer.stmt(stmt)).split("\n"):
            yield from wrap(line).split("\n")


def _head(function: HostFunction) -> str:
    parameters = [f"struct {state.tag} {state.variable.name}" for state in function.takes]
    parameters += [print_type(a.parameter.type, a.parameter.name) for a in function.arguments]
    result = "int" if function.answers else "void"
    if function.begins is not None:
        result = f"struct {function.begins.tag}"
    return f"{result} {function.name}({', '.join(parameters) or 'void'})"


def _state_text(state: DeviceState) -> str:
    fields = ["int on;"] if state.guarded else []
    fields += [f"{print_type(symbol.type, symbol.name)};" for symbol in state.fields]
    return "\n".join([f"struct {state.tag} {{", *(_UNIT + field for field in fields), "};"])


def _needed(function: HostFunction) -> Iterator[str]:
    """Yield what the function returns, and what it needs of the states that it takes."""
    if function.begins is not None:
        yield f"struct {function.begins.tag} {function.begins.variable.name} = {{}};"
    for state in function.takes:
        if state.guarded:
            yield f"if (!{state.variable.name}.on)"
            yield _UNIT + _leave(function)
    for state, symbol in function.unpacked:
        yield f"{print_type(symbol.type, symbol.name)} = {state.variable.name}.{symbol.name};"


def _guard_lines(guard: GuardTest, function: HostFunction, printer: Printer, words: CudaWords) -> Iterator[str]:
    """Yield the test of a guard below its reason."""
    leave = _leave(function)
    if guard.condition is None:
        yield from (f"if (!{words.on})", _UNIT + leave)
        return
    yield from _written(guard.before, printer)
    yield from (f"// {line}" for line in textwrap.wrap(in_comment(f"only where {guard.reason}"), 100))
    brace = " {" if function.otherwise else ""
    yield from wrap(f"if ({printer.expr(negate(guard.condition))}){brace}").split("\n")
    if function.withdraws:
        yield f"{_UNIT}{words.support.all_to_host}({words.support.here});"
    else:
        yield from (_UNIT + line for line in _written(function.otherwise, printer))
    yield _UNIT + leave
    yield from ("}",) if function.otherwise else ()


def _leave(function: HostFunction) -> str:
    if function.begins is not None:
        return f"return {function.begins.variable.name};"
    return "return 0;" if function.answers else "return;"


def _end(function: HostFunction) -> Iterator[str]:
    state = function.begins
    if state is None:
        if function.answers:
            yield "return 1;"
        return
    name = state.variable.name
    if state.guarded:
        yield f"{name}.on = 1;"
    for symbol in state.fields:
        yield f"{name}.{symbol.name} = {symbol.name};"
    yield f"return {name};"
