"""A C++ reference that is bound to the result of an operator names an object, and is no copy of its value."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpsmith.base.verdict import Proved
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.poly.analyze import analyze
from warpsmith.poly.facts import PolyOptions

_LOOP = """#include <algorithm>
void f(int m, double *a, int *c) {
  int x = 0, y = 0;
  for (int i = 0; i < m; i++) { %s }
}
"""


def _is_parallel(folder: Path, body: str) -> bool:
    path = folder / "case.cpp"
    path.write_text(_LOOP % body)
    loaded = load_program([str(path)], FrontOptions())
    assert not [f for f in loaded.findings if f.severity == "error"], loaded.findings
    ((loop,),) = [f.loops for f in analyze(loaded.program, PolyOptions()).functions]
    return isinstance(loop.verdict, Proved)


_OBJECTS = [
    "c[i] ? x : y", "(i, x)", "x = 3", "x += 2", "++x", "(c[i] ? x : (y))", "static_cast<int &>(x)", "(int &)x",
]  # fmt: skip


@pytest.mark.parametrize("init", _OBJECTS)
@pytest.mark.parametrize("type", ["int &", "auto &&"])
def test_a_write_through_it_is_a_write_of_the_object(tmp_path: Path, init: str, type: str) -> None:
    assert not _is_parallel(tmp_path, f"{type}r = {init}; a[i] = x; r = i;")


def test_a_read_through_it_sees_later_writes(tmp_path: Path) -> None:
    assert not _is_parallel(tmp_path, "x = i; const int &r = std::max(x, y); x = 3; a[i] = r; y = c[i];")
    assert not _is_parallel(tmp_path, "const int &r = c[i] ? x : y; y = i; x = 4; a[i] = r;")


def test_the_address_of_a_choice_keeps_both(tmp_path: Path) -> None:
    assert not _is_parallel(tmp_path, "int *p = &(c[i] ? x : y); a[i] = x; *p = i;")


@pytest.mark.parametrize("init", ["a[i] * 2", "2", "(int)a[i]", "static_cast<int>(a[i])", "-c[i]", "c[i] ? 1 : x"])
def test_a_value_is_held(tmp_path: Path, init: str) -> None:
    assert _is_parallel(tmp_path, f"const int &r = {init}; a[i] = r;")
