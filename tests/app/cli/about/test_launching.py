"""Command-line options for kernels and launches, read into files and launches."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from warpsmith.app.cli.about.launching import kernel_files, launching_of
from warpsmith.app.cli.about.settings import default_settings
from warpsmith.base.errors import UsageError

NOTHING: dict[str, object] = {"include": (), "define": (), "undefine": (), "std": None}


def test_a_launch_is_read_whole() -> None:
    given = {"block": "64,2", "grid": "7", "arg": ("n=100",), "assume": ("n % 4 == 0",), "shared": 512}
    launching = launching_of(given)
    assert launching.block == (64, 2, 1) and launching.grid == (7, 1, 1)
    assert launching.shared_bytes == 512 and launching.assume == ("n % 4 == 0",)


@pytest.mark.parametrize(
    "given",
    [{"block": "0"}, {"block": "64;2"}, {"grid": "1,2,3,4"}, {"shared": -1}, {"assume": ("((",)}, {"arg": ("n",)}],
    ids=str,
)
def test_a_launch_that_makes_no_sense_is_refused(given: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        launching_of(given)


def test_files_keep_language_options_and_instances(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text("__global__ void k() {}\n")
    given = {**NOTHING, "lang": "cuda", "define": ("N=3",), "kernel": ("k", "t<int>")}
    (file,) = kernel_files((str(path),), given, default_settings())
    assert file.path == str(path) and file.language == "cuda" and file.arguments == ("-DN=3",)
    assert file.instances == ("t<int>",) and file.text is None


def test_a_dash_is_standard_input_under_the_name_that_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"// \xff\n")))
    (file,) = kernel_files(("-",), {**NOTHING, "stdin_filename": "a.cu"}, default_settings())
    assert file.path == "a.cu" and file.text == "// \xff\n"


def _database(folder: Path) -> None:
    for name in ("k.cu", "wave.cpp", "host.cpp"):
        (folder / name).write_text("int f() { return 1; }\n")
    calls = (
        ("k.cu", "nvcc -Iinc -DN=3 -c k.cu"),
        ("wave.cpp", "nvcc -x cu -c wave.cpp"),
        ("host.cpp", "g++ -c host.cpp"),
    )
    entries = [{"directory": str(folder), "command": call, "file": name} for name, call in calls]
    (folder / "compile_commands.json").write_text(json.dumps(entries))


def test_a_database_names_the_files_of_device_code_and_their_options(tmp_path: Path) -> None:
    _database(tmp_path)
    given = {**NOTHING, "database": str(tmp_path), "define": ("M=1",)}
    first, second = kernel_files((), given, default_settings())
    assert (Path(first.path).name, first.language) == ("k.cu", None)
    assert {f"-I{tmp_path}/inc", "-DN=3"} <= set(first.arguments) and first.arguments[-1] == "-DM=1"
    assert (Path(second.path).name, second.language) == ("wave.cpp", "cuda")
    (named,) = kernel_files((str(tmp_path / "k.cu"),), given, default_settings())
    assert "-DN=3" in named.arguments


def test_a_database_without_device_code_is_refused(tmp_path: Path) -> None:
    (tmp_path / "host.cpp").write_text("int f() { return 1; }\n")
    entries = [{"directory": str(tmp_path), "command": "g++ -c host.cpp", "file": "host.cpp"}]
    (tmp_path / "compile_commands.json").write_text(json.dumps(entries))
    with pytest.raises(UsageError, match="no file of device code"):
        kernel_files((), {**NOTHING, "database": str(tmp_path)}, default_settings())
