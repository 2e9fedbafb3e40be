"""The files of the run time: formatted, right C and C++ as they stand, and what a port gets of them is what a compiler
would see with the same macros defined."""

from __future__ import annotations

import re
import subprocess
import sysconfig
from collections.abc import Iterator
from importlib.resources import files
from itertools import product
from pathlib import Path

import pytest

from tests.sampling import one_in
from warpsmith.base.source import SourceFile
from warpsmith.emit.device.reduction import combination
from warpsmith.emit.parts import FEATURES, Value, fill, part_names, select
from warpsmith.front.clang.process import parse_files
from warpsmith.front.clang.wire import Dump
from warpsmith.front.cuda.check import DEVICE_TIME_LIMIT_S, device_request
from warpsmith.run.native.device_compile import has_nvcc
from warpsmith.run.native.tools import c_compiler, cxx_compiler
from warpsmith.tree.types import DOUBLE, INT

FOLDER = Path(str(files("warpsmith.emit") / "runtime"))
EMULATION = Path(str(files("warpsmith.run") / "emulation" / "include"))
FORMATTED = [
    *(FOLDER / name for name in part_names()),
    *sorted(Path(str(files("warpsmith.run") / "native" / "device_headers")).glob("*.h")),
    Path(str(files("warpsmith.run") / "capture" / "ws_harness.h")),
]
STRICT = ("-Wall", "-Wextra", "-Werror", "-fsyntax-only")
# rows are known by the allocations that they lie in
TABLES = (
    (),
    ("ALLOCATIONS",),
    ("ALLOCATIONS", "ROWS"),
    ("ALLOCATIONS", "ROWS", "VECTORS"),
    ("PRESENT",),
    ("PRESENT", "ALLOCATIONS"),
    ("PRESENT", "ALLOCATIONS", "ROWS"),
    ("PRESENT", "ALLOCATIONS", "ROWS", "VECTORS"),
    ("PRESENT", "ALLOCATIONS", "GIVEN", "MANAGED"),
    ("PRESENT", "ALLOCATIONS", "ROWS", "VECTORS", "GIVEN", "MANAGED"),
    ("ALLOCATIONS", "GIVEN", "PINNED"),
    ("PRESENT", "ALLOCATIONS", "GIVEN", "PINNED"),
)
CHOICES = [
    frozenset((*tables, *(name for name, wanted in zip(("SWITCH", "OTHER_ALLOCATIONS"), more, strict=True) if wanted)))
    for tables, more in product(TABLES, product((False, True), repeat=2))
]
# parts that are nothing without what is asked for
BELONGS_TO = {"given.cu": frozenset({"GIVEN"})}
# the switch and another table of blocks are asked for in different parts
COMPILED = [choice for choice in CHOICES if ("SWITCH" in choice) == ("OTHER_ALLOCATIONS" in choice)]


def _defined(features: frozenset[str]) -> list[str]:
    return [f"-DWS_WITH_{name}" for name in sorted(features)]


def _name(features: frozenset[str]) -> str:
    return "+".join(sorted(features)).lower() or "least"


def _checked(text: str, folder: Path, *options: str, compiler: str | None = None, suffix: str = "cpp") -> str:
    source = folder / f"part.{suffix}"
    source.write_text(text)
    command = [compiler or cxx_compiler(), *STRICT, *options, "-I", str(FOLDER), "-isystem", str(EMULATION)]
    return subprocess.run([*command, str(source)], capture_output=True, text=True, check=False).stderr


def test_they_are_formatted() -> None:
    tool = Path(sysconfig.get_path("scripts")) / "clang-format"
    command = [str(tool), "--dry-run", "-Werror", f"--style=file:{FOLDER / '.clang-format'}", *map(str, FORMATTED)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_package_has_all_of_them() -> None:
    assert set(part_names()) == {path.name for path in FOLDER.iterdir() if path.suffix in (".cu", ".h")}
    assert len(part_names()) > 20
    # ports are written with one character a byte
    assert all((FOLDER / name).read_bytes().isascii() for name in part_names())


@pytest.mark.slow
@pytest.mark.parametrize("name", one_in(4, part_names()))
def test_each_compiles_as_it_stands(name: str, tmp_path: Path) -> None:
    # alone, it has functions that nobody calls
    options = ("-std=c++17", "-Wno-unused-function", *_defined(BELONGS_TO.get(name, frozenset())))
    assert _checked(f'#include "{name}"\n', tmp_path, *options) == ""


@pytest.mark.parametrize("features", one_in(8, COMPILED), ids=_name)
def test_every_choice_compiles(features: frozenset[str], tmp_path: Path) -> None:
    assert _checked('#include "runtime.cu"\n', tmp_path, "-std=c++17", *_defined(features)) == ""


@pytest.mark.parametrize("features", COMPILED, ids=_name)
def test_every_choice_is_checked_without_the_headers_of_the_library(features: frozenset[str]) -> None:
    path, arguments, text, limit, only = device_request(SourceFile("port.cu", "#include <mutex>\n"))
    assert any(word.endswith("/plain") for word in arguments)
    arguments += [*_defined(features), "-include", str(FOLDER / "runtime.cu")]
    (answer,) = parse_files([(path, arguments, text, limit, only)], DEVICE_TIME_LIMIT_S)
    assert isinstance(answer, Dump)
    assert not answer.diagnostics


@pytest.mark.parametrize("language", ["c99", "c17", "c++11", "c++17"])
def test_the_header_is_c_and_cxx(language: str, tmp_path: Path) -> None:
    compiler, suffix = (cxx_compiler(), "cpp") if "++" in language else (c_compiler(), "c")
    for features in CHOICES:
        options = (f"-std={language}", "-pedantic", *_defined(features))
        text = '#include "runtime.h"\n#include "runtime.h"\nint no_empty_unit;\n'
        assert _checked(text, tmp_path, *options, compiler=compiler, suffix=suffix) == ""


@pytest.mark.slow
@pytest.mark.skipif(not has_nvcc(), reason="nvcc is not installed")
def test_nvcc_takes_all_of_it(tmp_path: Path) -> None:
    forget = "".join(f"#undef {macro}\n" for macro in ("WS_TYPE", "WS_NAME", "WS_WORD", "WS_COMBINED", "WS_AFTER"))
    text = "".join(f'#include "{name}"\n{forget}' for name in ("runtime.cu", *FILLED))
    (tmp_path / "all.cu").write_text(text)
    features = [f"-DWS_WITH_{name}" for name in ("PRESENT", "ALLOCATIONS", "ROWS", "VECTORS", "SWITCH")]
    more = ["-Xcompiler", "-Wall,-Wextra,-Werror,-Wno-unused-function", "-diag-suppress", "177"]
    command = ["nvcc", "-std=c++17", "-Werror", "all-warnings", *more, *features, "-I", str(FOLDER), "-c", "all.cu"]
    done = subprocess.run([*command, "-o", "all.o"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


# --- what a port gets of them


def _words(text: str, folder: Path, *options: str) -> list[str]:
    """Return the words that the preprocessor leaves of a text, with system headers that are empty."""
    empty = folder / "empty"
    for name in _included():
        (empty / name).parent.mkdir(parents=True, exist_ok=True)
        (empty / name).write_text("")
    folders = ["-nostdinc", "-I", str(empty), "-I", str(FOLDER)]
    command = [cxx_compiler(), "-x", "c++", "-E", "-P", *folders, *options, "-"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    # where a line stands, __FILE__ and __LINE__, is not what this is about
    return re.findall(r"\w+|\"[^\"]*\"|\S", re.sub(r"\"[^\"]*\", \d+", "here", done.stdout))


def _included() -> Iterator[str]:
    for name in part_names():
        yield from re.findall(r"#include <([^>]+)>", (FOLDER / name).read_text())


@pytest.mark.parametrize("features", CHOICES, ids=_name)
@pytest.mark.parametrize("name", ["runtime.cu", "runtime.h"])
# the emulation's macros, and glibc's, are asked for in some places
@pytest.mark.parametrize("outside", [(), ("-DWS_TELL_COPY(a,b,c,d)=", "-D__GLIBC__")], ids=["", "emulated"])
def test_a_port_gets_what_the_preprocessor_would_leave(
    name: str, features: frozenset[str], outside: tuple[str, ...], tmp_path: Path
) -> None:
    whole = _words(f'#include "{name}"\n', tmp_path, *_defined(features), *outside)
    selected = select(name, features).text
    assert _words(selected, tmp_path, *outside) == whole
    assert "WS_WITH_" not in selected and '#include "' not in selected


def test_headers_are_told_of() -> None:
    part = select("runtime.cu", frozenset({"PRESENT", "ALLOCATIONS", "ROWS"}))
    for header in part.headers:
        assert f"#include <{header}>" not in part.text
    assert {"cuda_runtime.h", "map", "sched.h", "vector"} <= set(part.headers)
    # what only some systems have stays where it is
    assert "#ifdef __linux__\n#include <fcntl.h>\n" in part.text


def test_what_stands_before_is_left_out() -> None:
    part = select("runtime.cu", frozenset(), before={"check.cu"})
    assert "void ws_check(" not in part.text and "ws_check(status" in part.text


def test_each_feature_is_asked_for_somewhere() -> None:
    asked = {name for part in part_names() for name in re.findall(r"WS_WITH_(\w+)", (FOLDER / part).read_text())}
    assert asked == FEATURES | {"VALUES"}


SUM: dict[str, Value] = {
    "WS_TYPE": "unsigned int",
    "WS_NAME": "ws1_block_sum",
    "WS_COMBINED": lambda one, other: combination("+", INT, one, other),
}
FILLED: dict[str, tuple[dict[str, Value], tuple[str, ...]]] = {
    "block_reduction.cu": (SUM | {"WS_WORD": "sum"}, ("-DWS_COMBINED(a,b)=a + b",)),
    "column_reduction.cu": (SUM | {"WS_WORD": "sum"}, ("-DWS_COMBINED(a,b)=a + b",)),
    "warp_reduction.cu": (SUM | {"WS_WORD": "sum"}, ("-DWS_COMBINED(a,b)=a + b",)),
    "block_scan.cu": (SUM, ("-DWS_COMBINED(a,b)=a + b",)),
    "block_recurrence.cu": (
        {
            "WS_TYPE": "unsigned int",
            "WS_MAP": "ws1_map_unsigned_int",
            "WS_AFTER": "ws1_map_unsigned_int_after",
            "WS_NAME": "ws1_block_scan_map_unsigned_int",
        },
        (),
    ),
    "block_latest.cu": (
        {
            "WS_TYPE": "short",
            "WS_COUNT": "3",
            "WS_LATEST": "ws1_latest_3_short",
            "WS_AFTER": "ws1_latest_3_short_after",
            "WS_NAME": "ws1_block_scan_latest_3_short",
        },
        (),
    ),
    "block_extreme.cu": (
        {
            "WS_TYPE": DOUBLE.name,
            "WS_NAME": "ws_block_last_max",
            "WS_WORD": "maximum",
            "WS_WHICH": "last",
            "WS_BETTER": lambda one, when, other, then: f"{one} > {other} || ({one} == {other} && {when} > {then})",
        },
        ("-DWS_BETTER(a,s,b,t)=a > b || (a == b && s > t)",),
    ),
}


@pytest.mark.parametrize("name", FILLED)
def test_values_stand_where_the_preprocessor_would_put_them(name: str, tmp_path: Path) -> None:
    values, macros = FILLED[name]
    plain = [f"-D{macro}={value}" for macro, value in values.items() if isinstance(value, str)]
    text = fill(name, values)
    assert _words(text, tmp_path) == _words(f'#include "{name}"\n', tmp_path, "-DWS_WITH_VALUES", *plain, *macros)
    assert "WS_" not in text


def test_every_file_with_samples_is_tested() -> None:
    assert set(FILLED) == {name for name in part_names() if "WS_WITH_VALUES" in (FOLDER / name).read_text()}


@pytest.mark.parametrize("change", ["too few", "too many"])
def test_a_value_too_few_or_too_many_is_seen(change: str) -> None:
    values: dict[str, Value] = {**SUM, "WS_LANE": "3"} if change == "too many" else {"WS_TYPE": "int"}
    with pytest.raises(AssertionError):
        fill("block_scan.cu", values)


def test_no_feature_is_made_up() -> None:
    with pytest.raises(AssertionError):
        select("runtime.cu", frozenset({"WINGS"}))


# --- names


ALL = frozenset({"PRESENT", "ALLOCATIONS", "ROWS", "VECTORS", "SWITCH", "OTHER_ALLOCATIONS"})


def _with_headers(features: frozenset[str], prefix: str) -> str:
    part = select("runtime.cu", features, prefix=prefix)
    return "".join(f"#include <{header}>\n" for header in part.headers) + part.text


def test_another_prefix_changes_names_and_nothing_else(tmp_path: Path) -> None:
    text = _with_headers(ALL, "ws7")
    assert text.replace("ws7_", "ws_").replace("WS7_", "WS_") == _with_headers(ALL, "ws")
    assert _checked(text, tmp_path, "-std=c++17", "-Wno-unused-function") == ""
    header = select("runtime.h", ALL, prefix="ws7").text
    assert set(re.findall(r"\bws_\w+(?=\()", header)) == {
        "ws_allocation_bytes", "ws_allocation_lower", "ws_allocation_upper", "ws_allocation_size",
        "ws_allocations_apart", "ws_row_starts", "ws_row_starts_of", "ws_row_zero", "ws_rows_distinct",
        "ws_rows_clear", "ws_rows_apart", "ws_vector_rows", "ws_vector_sizes", "ws_list_rows", "ws_list_sizes",
        "ws_list_resized",
    }  # fmt: skip


@pytest.mark.slow
def test_two_run_times_go_into_one_program(tmp_path: Path) -> None:
    own = ALL - {"OTHER_ALLOCATIONS"}
    for name, features, prefix in (("one", own, "ws"), ("two", ALL, "ws1")):
        (tmp_path / f"{name}.cpp").write_text(_with_headers(features, prefix))
    command = [cxx_compiler(), "-std=c++17", "-w", "-shared", "-fPIC", "-isystem", str(EMULATION)]
    done = subprocess.run(
        [*command, "one.cpp", "two.cpp", "-o", "both.so"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_the_callers_of_functions_say_what_the_harness_has(tmp_path: Path) -> None:
    folder = FORMATTED[-1].parent
    text = f'#define _GNU_SOURCE\n#include "{folder}/ws_harness.h"\n#include "{folder}/ws_harness.c"\n'
    assert _checked(text, tmp_path, "-std=c11", compiler=c_compiler(), suffix="c") == ""
