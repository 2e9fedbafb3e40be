"""The emulation's headers are parsed once, and again where something that they are made of has changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpsmith.run.emulated import headers as emulated_headers
from warpsmith.run.emulated.headers import header_words
from warpsmith.run.native.tools import RunLimits, cxx_compiler

KERNELS = "#include <mutex>\nint f() { return answer; }\n"
PLAIN = ("-include", "ws_instrumented.h", "-include", "cuda_runtime.h")


def _words(home: Path, directory: Path, text: str = KERNELS) -> tuple[str, ...]:
    directory.mkdir(exist_ok=True)
    emulated_headers._holds.cache_clear()
    return header_words((cxx_compiler(), "-c", "-w", "-I", str(home)), home, text, directory, RunLimits(seconds=60.0))


def test_a_precompiled_header_is_kept_until_something_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    home, beside = tmp_path / "home", tmp_path / "beside.h"
    home.mkdir()
    beside.write_text("static const int answer = 42;\n")
    (home / "ws_instrumented.h").write_text("")
    (home / "cuda_runtime.h").write_text(f'#include "{beside}"\n')
    first = _words(home, tmp_path / "a")
    header = Path(first[1])
    assert header.with_name("ws_headers.h.gch").is_file()
    assert _words(home, tmp_path / "b") == first
    assert _words(home, tmp_path / "c", "int f();\n") == PLAIN
    beside.write_text("static const int answer = 4200;\n")
    assert _words(home, tmp_path / "d") == PLAIN
    (home / "cuda_runtime.h").write_text(f'#include "{beside}"\nint more;\n')
    assert _words(home, tmp_path / "e") not in (PLAIN, first)


def test_what_a_text_does_not_include_itself_is_not_in_its_header(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    home = tmp_path / "home"
    home.mkdir()
    (home / "ws_instrumented.h").write_text("")
    (home / "cuda_runtime.h").write_text("")
    all_of_them = "".join(f"#include <{name}>\n" for name in ("algorithm", "map", "mutex", "vector"))
    some = Path(_words(home, tmp_path / "a")[1]).read_text()
    more = Path(_words(home, tmp_path / "b", all_of_them)[1]).read_text()
    assert some.endswith("#include <mutex>\n") and "<vector>" not in some
    assert more.endswith(all_of_them)
    assert Path(_words(home, tmp_path / "c", all_of_them.replace("map", "set"))[1]).read_text() == some
