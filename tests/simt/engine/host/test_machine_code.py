"""Machine code is kept: compiled once for all processes, and never taken from what is not whole or not ours."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.simt.engine.agree import agree
from tests.simt.engine.agree_policy import agree_under
from tests.simt.engine.kernels import random_case
from tests.simt.engine.policy_kernels import graph_case
from warpsmith.simt.engine.host import machine_code
from warpsmith.simt.engine.host.machine_code import link
from warpsmith.simt.policies.machine import POLICIES

Compiler = Callable[[str, object], bytes]


@pytest.fixture
def compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the texts that are compiled from here on, with a cache that is empty."""
    monkeypatch.setenv("WARPSMITH_CACHE_DIR", str(tmp_path / "cache"))
    texts: list[str] = []
    compile_: Compiler = machine_code._compile  # type: ignore[assignment]

    def note(text: str, recipe: object) -> bytes:
        texts.append(text)
        return compile_(text, recipe)

    monkeypatch.setattr(machine_code, "_compile", note)
    return texts


def _returns(number: int) -> str:
    return f"define i64 @run() {{\n  ret i64 {number}\n}}\n"


def _run(text: str) -> int:
    found: int = link(text).function(ctypes.c_int64)()
    return found


def test_what_was_compiled_once_is_linked_again(compiled: list[str]) -> None:
    assert [_run(_returns(7)), _run(_returns(7)), _run(_returns(8)), _run(_returns(7))] == [7, 7, 8, 7]
    assert compiled == [_returns(7), _returns(8)]


def test_functions_of_the_library_are_found_where_they_are_now(compiled: list[str]) -> None:
    text = """
    declare double @exp2(double) nobuiltin
    define i64 @run() {
      %e = call double @exp2(double 5.0) nobuiltin
      %n = fptosi double %e to i64
      ret i64 %n
    }
    """
    assert [_run(text), _run(text)] == [32, 32]
    assert len(compiled) == 1


CALLED = "declare i64 @third()\ndefine i64 @second() {\n  %n = call i64 @third()\n  ret i64 %n\n}\n"
FIRST = "declare i64 @second()\ndefine i64 @run() {\n  %n = call i64 @second()\n  ret i64 %n\n}\n"
THIRD = "define i64 @third() {\n  ret i64 9\n}\n"


@pytest.mark.parametrize("parts", [(FIRST, CALLED, THIRD), (THIRD, CALLED, FIRST)], ids=["first", "last"])
def test_parts_call_each_other_in_any_order(compiled: list[str], parts: tuple[str, ...]) -> None:
    assert link(*parts).function(ctypes.c_int64)() == 9


@pytest.mark.parametrize(
    ("parts", "missing"),
    [((FIRST,), "second"), ((FIRST, CALLED), "third"), ((CALLED, FIRST), "third"), ((THIRD,), "run")],
)
def test_functions_that_are_not_there_are_an_error_in_words(
    compiled: list[str], parts: tuple[str, ...], missing: str
) -> None:
    with pytest.raises(RuntimeError, match=f"not there: {missing}$"):
        link(*parts)


def test_a_function_that_llvm_calls_by_itself_is_missed_too(
    compiled: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # as where a processor has no instruction for it, and this process no library
    text = FIRST.replace("@second", "@nowhere_in_this_process")
    monkeypatch.setattr(machine_code, "_missing", lambda _: [])
    with pytest.raises(RuntimeError, match="LLVM calls by itself"):
        link(text)


@pytest.mark.parametrize("damage", [b"", b"\x7fELF", b"x" * 4000], ids=["empty", "an object file", "noise"])
def test_damaged_code_is_compiled_again(compiled: list[str], tmp_path: Path, damage: bytes) -> None:
    assert _run(_returns(7)) == 7
    (kept,) = (tmp_path / "cache" / "simulator").iterdir()
    whole = kept.read_bytes()
    kept.write_bytes(damage)
    assert _run(_returns(7)) == 7
    assert len(compiled) == 2
    assert kept.read_bytes() == whole


def test_code_of_another_kernel_is_not_taken(compiled: list[str], tmp_path: Path) -> None:
    """As where somebody renames files of the cache."""
    assert _run(_returns(7)) == 7
    (seven,) = (tmp_path / "cache" / "simulator").iterdir()
    data = seven.read_bytes()
    seven.unlink()
    assert _run(_returns(8)) == 8
    (eight,) = (tmp_path / "cache" / "simulator").iterdir()
    eight.write_bytes(data)
    assert _run(_returns(8)) == 8


def test_another_processor_or_another_llvm_compiles_anew(compiled: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert _run(_returns(7)) == 7
    monkeypatch.setattr("llvmlite.__version__", "0.0.1")
    assert _run(_returns(7)) == 7
    monkeypatch.setattr("llvmlite.binding.get_host_cpu_name", lambda: "x86-64")
    assert _run(_returns(7)) == 7
    assert len(compiled) == 3


def test_what_is_very_large_is_compiled_as_it_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPSMITH_CACHE_DIR", str(tmp_path))
    levels: list[int] = []
    compile_ = machine_code._compile

    def note(text: str, recipe: machine_code._Recipe) -> bytes:
        levels.append(recipe.level)
        return compile_(text, recipe)

    monkeypatch.setattr(machine_code, "_compile", note)
    monkeypatch.setattr(machine_code, "_LARGE", 0)
    # what the machine says that runs it is the same
    agree(random_case(0))
    assert agree_under("ipdom", graph_case(1)) == ""
    assert levels and set(levels) == {0}
    assert [machine_code._recipe(size).level for size in (0, 1)] == [2, 0]


def test_quick_code_is_kept_beside_better_code_and_gives_way_to_it(compiled: list[str]) -> None:
    def quickly(text: str) -> int:
        found: int = link(text, quick=True).function(ctypes.c_int64)()
        return found

    assert [quickly(_returns(7)), quickly(_returns(7)), _run(_returns(7)), quickly(_returns(7))] == [7] * 4
    assert compiled == [_returns(7)] * 2
    # better code alone is taken where quick code would do
    assert [_run(_returns(8)), quickly(_returns(8))] == [8, 8]
    assert compiled[2:] == [_returns(8)]
    recipe = machine_code._recipe(0, quick=True)
    assert (recipe.level, recipe.passes) == (0, ())


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_kernels_that_are_compiled_as_they_are_written_do_the_same(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine_code, "_LARGE", 0)
    agree(random_case(seed))
    for policy in POLICIES:
        agree_under(policy, graph_case(seed))
