"""Which nests the search looks at; it is loaded for those alone."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.poly.programs import load
from warpsmith.base.time_limit import time_share
from warpsmith.loops.prepared import Prepared
from warpsmith.loops.search import localization, search
from warpsmith.loops.search import prepare as module
from warpsmith.loops.search.prepare import prepare
from warpsmith.poly.analyze import analyze
from warpsmith.poly.facts import PolyOptions
from warpsmith.tree.walk import loops

PLAIN = "void f(int n, double *restrict a) { for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) a[i*n+j] = 0; }"
SUM = (
    "void f(int n, double (*restrict a)[100], double *restrict x) {\n"
    "  for (int i = 0; i < n; i++) for (int j = 0; j < 100; j++) x[j] += a[i][j]; }"
)


def _prepared(text: str, folder: Path) -> Prepared:
    facts = analyze(load(text, folder), PolyOptions())
    return Prepared(facts, facts)


def _steps(prepared: Prepared) -> list[str]:
    return [applied.step.name for applied in prepared.applied]


def test_a_nest_that_is_good_is_left_alone(tmp_path: Path) -> None:
    assert not _steps(prepare(_prepared(PLAIN, tmp_path), None, frozenset()))


def test_a_nest_is_improved_unless_it_is_to_be_left_or_is_not_wanted(tmp_path: Path) -> None:
    given = _prepared(SUM, tmp_path)
    ((_, function),) = given.program.functions()
    outer = next(loop for loop, around in loops(function.body) if not around)
    assert "interchange" in _steps(prepare(given, None, frozenset()))
    assert "interchange" in _steps(prepare(given, frozenset({id(outer)}), frozenset()))
    assert not _steps(prepare(given, frozenset(), frozenset()))
    assert not _steps(prepare(given, None, frozenset({outer.span})))
    assert not _steps(prepare(given, None, frozenset(), only=frozenset()))


@pytest.mark.parametrize(("bound", "most"), [("_MOST_LOOPS", 1), ("_MOST_REFERENCES", 1)])
def test_a_function_of_too_many_loops_or_references_is_left_alone(
    bound: str, most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, bound, most)
    assert not _steps(prepare(_prepared(SUM, tmp_path), None, frozenset()))


def test_where_its_time_is_up_the_search_ends_with_what_it_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = _prepared(SUM, tmp_path)
    with monkeypatch.context() as patched:
        for one in (module, localization, search):
            patched.setattr(one, "time_left", lambda: 0.0)
        ended = prepare(given, None, frozenset())
    assert not _steps(ended) and ended.program is given.program
    assert [symbol.name for symbol in ended.cut] == ["f"]
    with time_share(1000):
        whole = prepare(given, None, frozenset())
    assert _steps(whole) and not whole.cut


LOADED = """
import sys
from warpsmith.flows.port import PortOptions, port
assert port(["a.c"], PortOptions(verify=False)).files
print([name for name in sys.modules if "loops.steps." in name])
"""


def test_a_port_of_good_loops_loads_no_step(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text(PLAIN)
    done = subprocess.run([sys.executable, "-c", LOADED], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout == "[]\n", done.stdout + done.stderr
