"""Functions whose text is not theirs alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpsmith.front.load import FrontOptions, load_program
from warpsmith.tree.nodes import replace
from warpsmith.tree.program import Program
from warpsmith.tree.shared import _has_constexpr, is_own, is_shared, restore_shared, shared_functions

HEADER = """#pragma once
template <typename T> void invert(T *a) { for (int i = 0; i < 3; i++) a[i] = -a[i]; }
inline void plain(int *a) { for (int i = 0; i < 3; i++) a[i] = 0; }
static void hidden(int *a) { for (int i = 0; i < 3; i++) a[i] = 1; }
"""


def program(folder: Path, *arguments: str) -> Program:
    (folder / "lib").mkdir(exist_ok=True)
    (folder / "lib" / "h.hpp").write_text(HEADER)
    for name in ("a", "b"):
        (folder / f"{name}.cpp").write_text(
            f'#include "lib/h.hpp"\nvoid {name}(int *x, float *y) {{ invert(x); invert(y); plain(x); hidden(x); }}\n'
        )
    return load_program([str(folder / f"{n}.cpp") for n in "ab"], FrontOptions(arguments=arguments)).program


def test_a_shared_text_is_named_once(tmp_path: Path) -> None:
    made = program(tmp_path)
    found = [
        (Path(u.file.path).name, f.symbol.label or f.symbol.name) for u, f in shared_functions(made, str(tmp_path))
    ]
    assert sorted(found) == [("a.cpp", "invert<float>"), ("a.cpp", "invert<int>"), ("a.cpp", "plain")]
    assert list(shared_functions(made, str(tmp_path / "elsewhere"))) == []
    own = {f.symbol.name for u, f in made.functions() if is_own(u, f)}
    assert own == {"a", "b"} and not any(
        is_shared(u, f) for u, f in made.functions() if f.symbol.name in ("a", "hidden")
    )


def test_before_cxx17_instances_are_not(tmp_path: Path) -> None:
    found = [f.symbol.name for _, f in shared_functions(program(tmp_path, "-std=c++14"), str(tmp_path))]
    assert found == ["plain"]


@pytest.mark.parametrize(
    ("arguments", "newer"),
    [((), True), (("-std=c++17",), True), (("--std=gnu++20",), True), (("-std=c++14",), False), (("-std=c99",), True),
     (("-std=c++14", "-std=c++2b"), True), (("-std=c++17", "-std=c++11"), False)],
)  # fmt: skip
def test_the_last_standard_counts(arguments: tuple[str, ...], newer: bool) -> None:
    assert _has_constexpr(arguments) is newer


def test_shared_functions_go_back_to_what_they_were(tmp_path: Path) -> None:
    made = program(tmp_path)
    changed = made
    for _, function in made.functions():
        changed = changed.with_function(function, replace(function, static=not function.static))
    back = restore_shared(made, changed)
    same = {f.symbol.name for (_, f), (_, g) in zip(made.functions(), back.functions(), strict=True) if f is g}
    assert same == {"invert", "plain", "hidden"}
