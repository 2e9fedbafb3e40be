"""Programs."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace as struct_replace

from tests.tree.test_walk import TEXT, load
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.tree.nodes import For, replace
from warpsmith.tree.program import Kernel, MappedLoop
from warpsmith.tree.walk import (
    walk,
)


def test_a_function_is_replaced_everywhere(tmp_path: Path) -> None:
    program = load(tmp_path)
    old = program.units[0].functions[0]
    new = replace(old, static=True)
    changed = program.with_function(old, new)
    assert new in changed.units[0].items and new in changed.units[0].functions
    assert old not in changed.units[0].items
    assert [f for _, f in changed.functions()] == [new]


def test_a_function_of_another_unit_leaves_the_units_alone(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("static int helper(int n) { return n; }\nint f(int n) { return helper(n); }\n")
    (tmp_path / "b.c").write_text("int g(int n) { return n; }\n")
    program = load_program([str(tmp_path / "a.c"), str(tmp_path / "b.c")], FrontOptions()).program
    assert [(u is program.units[0], f.symbol.name) for u, f in program.functions()] == [
        (True, "helper"), (True, "f"), (False, "g"),
    ]  # fmt: skip
    old = program.units[1].functions[0]
    changed = program.with_function(old, replace(old, static=True))
    assert changed.units[0] is program.units[0] and changed.units[1] is not program.units[1]
    assert changed != program and program.with_function(replace(old), old).units == program.units


def test_the_line_of_a_kernel_is_that_of_its_loop(tmp_path: Path) -> None:
    path = tmp_path / "a.c"
    path.write_text(TEXT)
    unit = load_program([str(path)], FrontOptions()).program.units[0]
    loop = next(n for n in walk(unit.functions[0]) if isinstance(n, For))
    plain = Kernel("k", "f", "f#1", unit.functions[0].span, (), (), (1, 1, 1), (), (), loop.body, ())
    assert plain.line == 3 and struct_replace(plain, mapped=(MappedLoop(loop, "x", "f/i"),)).line == 5
