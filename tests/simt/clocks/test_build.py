"""A machine in C is compiled once, and kept; without a compiler there is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpsmith.simt.caches import fast as caches
from warpsmith.simt.clocks import build
from warpsmith.simt.clocks import fast as clocks

MACHINES = {clocks.PACKAGE: "machine.c", caches.PACKAGE: "caches.c"}


@pytest.mark.parametrize("package", MACHINES)
def test_a_library_is_kept_and_taken_again(package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPSMITH_CACHE_DIR", str(tmp_path))
    given = package, MACHINES[package], ("-DWS_WIDTH=8", "-O0")
    assert build.compiled_library(*given) is not None
    (one,) = (tmp_path / package.rpartition(".")[2]).iterdir()
    monkeypatch.setattr(build, "compile_texts", lambda *given: pytest.fail("compiled again"))
    assert build.compiled_library(*given) is not None
    assert list(one.parent.iterdir()) == [one]


def test_no_compiler_and_one_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPSMITH_CACHE_DIR", str(tmp_path))
    broken = tmp_path / "gcc"
    broken.write_text("#!/bin/sh\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert clocks.library.__wrapped__(8) is None and caches.library.__wrapped__() is None
    broken.unlink()
    assert clocks.library.__wrapped__(8) is None and caches.library.__wrapped__() is None


@pytest.mark.slow
def test_a_change_of_any_file_is_compiled_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPSMITH_CACHE_DIR", str(tmp_path))
    texts = build.read_texts(clocks.PACKAGE)
    assert {"machine.c", "machine.h", "caches.h", "scheduling.h"} <= texts.keys()
    assert max(text.count(b"\n") for text in texts.values()) <= 400
    assert build.compiled_library(clocks.PACKAGE, "machine.c") is not None
    for count, name in enumerate(sorted(texts), 2):
        changed = {**texts, name: texts[name] + b"/* more */\n"}
        monkeypatch.setattr(build, "read_texts", lambda package, changed=changed: changed)
        assert build.compiled_library(clocks.PACKAGE, "machine.c") is not None
        assert len(list((tmp_path / "clocks").iterdir())) == count, name
