"""NVRTC is used where it is installed whole: the bindings alone are not enough."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from warpsmith.base.nvidia import find_tool, has_bindings, has_nvrtc, load_nvrtc


@pytest.fixture(autouse=True)
def _asked_anew() -> Iterator[None]:
    load_nvrtc.cache_clear()
    yield
    load_nvrtc.cache_clear()


def _bindings(monkeypatch: pytest.MonkeyPatch, error: Exception | None) -> ModuleType:
    made = ModuleType("cuda.bindings.nvrtc")

    def version() -> tuple[int, int, int]:
        if error is not None:
            raise error
        return 0, 13, 0

    vars(made)["nvrtcVersion"] = version
    for name in ("cuda", "cuda.bindings"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, "cuda.bindings.nvrtc", made)
    return made


def test_bindings_that_find_their_library_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    made = _bindings(monkeypatch, None)
    assert has_nvrtc() and load_nvrtc() is made


@pytest.mark.parametrize("error", [RuntimeError("libnvrtc.so.13 is nowhere"), OSError("no such file")], ids=repr)
def test_bindings_without_their_library_count_as_none(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    _bindings(monkeypatch, error)
    assert not has_nvrtc() and load_nvrtc() is None


def test_no_bindings_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cuda.bindings.nvrtc", None)
    assert not has_nvrtc()


def test_asking_for_the_bindings_loads_nothing() -> None:
    asked = "from warpsmith.base.nvidia import has_bindings; has_bindings()"
    text = f"import sys; {asked}; print('cuda.bindings.nvrtc' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_without_the_module_there_are_no_bindings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cuda.bindings.nvrtc", None)
    assert not has_bindings()


def test_tools_are_on_path_or_in_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is on PATH goes before what a package has."""
    for folder in ("nvidia/cu13/bin", "path"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "ptxas").write_text("#!/bin/sh\n")
        (tmp_path / folder / "ptxas").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    assert find_tool("ptxas") == str(tmp_path / "path" / "ptxas")
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    monkeypatch.delitem(sys.modules, "nvidia", raising=False)
    importlib.invalidate_caches()
    assert find_tool("ptxas") == str(tmp_path / "nvidia" / "cu13" / "bin" / "ptxas")
    assert find_tool("nvdisasm") is None
