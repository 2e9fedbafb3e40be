"""The compiled machine is compiled once, and kept; without a compiler there is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpsmith.simt.clocks import build


@pytest.mark.slow
def test_a_library_is_kept_and_taken_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPSMITH_CACHE_DIR", str(tmp_path))
    kept = build.library.__wrapped__
    assert kept(8) is not None
    (one,) = (tmp_path / "clocks").iterdir()
    monkeypatch.setattr(build, "_compile", lambda *given: pytest.fail("compiled again"))
    assert kept(8) is not None
    assert list((tmp_path / "clocks").iterdir()) == [one]


def test_no_compiler_and_one_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPSMITH_CACHE_DIR", str(tmp_path))
    broken = tmp_path / "gcc"
    broken.write_text("#!/bin/sh\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert build.library.__wrapped__(8) is None
    broken.unlink()
    assert build.library.__wrapped__(8) is None


@pytest.mark.slow
def test_a_change_of_any_file_is_compiled_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPSMITH_CACHE_DIR", str(tmp_path))
    texts = build._texts()
    assert {"machine.c", "machine.h", "caches.h", "scheduling.h"} <= texts.keys()
    assert max(text.count(b"\n") for text in texts.values()) <= 400
    kept = build.library.__wrapped__
    assert kept(8) is not None
    for count, name in enumerate(sorted(texts), 2):
        changed = {**texts, name: texts[name] + b"/* more */\n"}
        monkeypatch.setattr(build, "_texts", lambda changed=changed: changed)
        assert kept(8) is not None
        assert len(list((tmp_path / "clocks").iterdir())) == count, name
