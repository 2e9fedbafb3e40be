"""Which functions may launch kernels: through calls, through pointers, through text that is not read."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpsmith.emit.host.outline.launching import find_launching, is_for_the_host
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.tree.nodes import Block, Function, Launch, Update, replace
from warpsmith.tree.program import Program

_TEXT = """
extern int printf(const char *, ...);
extern void each(void (*)(void));
void kernel(void) {}
void caller(void) { kernel(); }
void outer(void) { caller(); }
void named(void) { each(kernel); }
void pointer(void (*f)(void)) { f(); }
void text(void) { __asm__("nop"); }
void update(void) {}
void host(void) { printf("host"); update(); }
"""


@pytest.fixture
def program(tmp_path: Path) -> Program:
    path = tmp_path / "f.c"
    path.write_text(_TEXT)
    program = load_program([str(path)], FrontOptions()).program
    launch = Launch(span=_named(program, "kernel").span, kernel="k", arguments=(), region="kernel")
    moved = Update(span=launch.span, to_device=False, variable=None, address=None, bytes=None, cause=launch.span)
    for name, stmt in (("kernel", launch), ("update", moved)):
        function = _named(program, name)
        program = program.with_function(function, replace(function, body=replace(function.body, statements=(stmt,))))
    return program


def _named(program: Program, name: str) -> Function:
    return next(f for _, f in program.functions() if f.symbol.name == name)


def test_every_way_to_a_launch_is_found(program: Program) -> None:
    found = {symbol.name for symbol in find_launching(program)}
    assert found == {"kernel", "caller", "outer", "named", "pointer", "text"}


@pytest.mark.parametrize("name", ["caller", "named", "host", "update"])
def test_statements_are_for_the_host_where_nothing_launches(name: str, program: Program) -> None:
    body = _named(program, name).body
    assert isinstance(body, Block)
    launching = find_launching(program)
    assert is_for_the_host(body.statements, launching) is (name in ("host", "update"))
    # without the functions of the program nothing is known to launch but what stands there
    assert is_for_the_host(body.statements, ())
