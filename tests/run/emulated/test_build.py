"""How programs are compiled for the emulation: which files, with which options, and what is said where that fails."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from tests.run.emulated.small_programs import program
from warpsmith.emit.files import OutputFile
from warpsmith.run.emulated import build
from warpsmith.run.emulated.build import Executable, build_emulated, run_emulated, schedule_environment
from warpsmith.run.native.programs import RUNTIME_FILE
from warpsmith.run.native.tools import Ran
from warpsmith.run.verification import Sources

KERNEL = OutputFile("k.cu", "__global__ void k(int *a) { a[0] = 1; }\nvoid go(int *a) { k<<<1, 1>>>(a); }\n")
HOST = OutputFile("a.c", "int main(void) { return 0; }\n")


class Compiler:
    """Stands in for the compiler: remembers its commands, and answers as told."""

    def __init__(self) -> None:
        self.commands: list[list[str]] = []
        self.answer: Callable[[list[str]], Ran] = lambda _: Ran(0, b"", b"", 0.0)

    def __call__(self, command: Sequence[str], *_: object, **__: object) -> Ran:
        self.commands.append(list(command))
        return self.answer(list(command))

    def of(self, name: str) -> list[str]:
        """Return the command that compiles a file."""
        return next(command for command in self.commands if name in command and "-c" in command)


@pytest.fixture
def compiler(monkeypatch: pytest.MonkeyPatch) -> Compiler:
    made = Compiler()
    monkeypatch.setattr(build, "run_limited", made)
    monkeypatch.setattr(build, "kept_folder", lambda *_: Path("/kept"))
    monkeypatch.setattr(build, "runtime_object", lambda *_: Path("/kept/ws_runtime.o"))
    monkeypatch.setattr(build, "header_words", lambda *_: ("-include", "foremost"))
    return made


def test_device_code_is_watched_and_a_plain_host_is_not(compiler: Compiler, tmp_path: Path) -> None:
    made = build_emulated(Sources((HOST, KERNEL)), tmp_path, flags=("-DOURS",))
    assert made.finding is None and made.command == (str(tmp_path / "program"),)
    host, device = compiler.of("a.c"), compiler.of("k.cu")
    assert "-fsanitize=thread" in device and "-std=gnu++17" in device and "-D__CUDACC__=1" in device
    assert "-fsanitize=thread" not in host and "-std=gnu++17" not in host and "-fopenmp" not in host
    assert "-DOURS" in host and "-DOURS" in device
    link = compiler.commands[-1]
    assert {"ws_0.o", "ws_1.o", "/kept/launch.o"} <= set(link) and "-fopenmp" not in link
    # what is launched is C++ by then
    assert "<<<" not in (tmp_path / "k.cu").read_text() and (tmp_path / "a.c").read_text() == HOST.text


def test_a_host_that_runs_beside_its_copies_is_watched_too(compiler: Compiler, tmp_path: Path) -> None:
    build_emulated(Sources((HOST, OutputFile("b.cu", "void f() { cudaMemcpyAsync(0, 0, 0, 0); }"))), tmp_path)
    host = compiler.of("a.c")
    assert "-fsanitize=thread" in host and host[host.index("-include") + 1] == "ws_host.h"


def test_the_users_options_reach_the_users_files_alone(compiler: Compiler, tmp_path: Path) -> None:
    (tmp_path / "inc").mkdir()
    words = ("-std=c99", "-std=c++20", "-Iinc", "-I", "nowhere", "-D", "A=1", "-UB")
    sources = Sources((HOST, KERNEL), words, str(tmp_path))
    ours = OutputFile("ours.c", "int ours;\n")
    build_emulated(sources, tmp_path / "build", extra_files=(ours,), flags=("-DOURS",))
    host, device, own = (compiler.of(name) for name in ("a.c", "k.cu", "ours.c"))
    # a standard of the other language is left out; folders are found from anywhere
    assert ("-std=c99" in host, "-std=c++20" in host) == (True, False)
    assert ("-std=c99" in device, "-std=c++20" in device) == (False, True)
    assert f"-I{tmp_path / 'inc'}" in host and host[host.index("-I", host.index("-UB") - 5) + 1].endswith("/nowhere")
    assert ("-D", "A=1") in pairwise(host) and "-UB" in host
    assert host[-3 - 2 : -3] == ["-I.", f"-I{tmp_path}"]
    assert not {"-UB", "-DOURS", "-std=c99", f"-I{tmp_path / 'inc'}"} & set(own)


def test_a_file_with_options_of_its_own_has_no_others(compiler: Compiler, tmp_path: Path) -> None:
    other = OutputFile("b.c", "#include <omp.h>\n")
    sources = Sources((HOST, other), ("-DALL",), own={"./a.c": ("-DOWN",)})
    build_emulated(sources, tmp_path)
    assert "-DOWN" in compiler.of("a.c") and "-DALL" not in compiler.of("a.c")
    assert "-DALL" in compiler.of("b.c")
    # a program that starts threads is linked with them, and compiled where the file's own options do not decide
    assert "-fopenmp" in compiler.commands[-1] and "-fopenmp" in compiler.of("b.c")
    assert "-fopenmp" not in compiler.of("a.c")


def test_files_that_others_include_are_placed_and_not_compiled(compiler: Compiler, tmp_path: Path) -> None:
    runtime = OutputFile(RUNTIME_FILE, "int r;\n")
    files = (HOST, OutputFile("part.c", "int p;\n"), OutputFile("h.h", "int h;\n"), OutputFile("../a.c", "twice"))
    build_emulated(Sources(files, included=frozenset({"./part.c"})), tmp_path, extra_files=(runtime,))
    assert len(compiler.commands) == 2 and "/kept/ws_runtime.o" in compiler.commands[-1]
    assert (tmp_path / "part.c").is_file() and (tmp_path / "h.h").is_file()
    assert (tmp_path / "a.c").read_text() == HOST.text


def test_a_name_that_looks_like_an_option_is_a_file(compiler: Compiler, tmp_path: Path) -> None:
    build_emulated(Sources((OutputFile("-o.c", "int a;\n"), OutputFile("../..", "int b;\n"))), tmp_path)
    assert compiler.of("./-o.c") and compiler.of("file.cu")


@pytest.mark.parametrize(("word", "precompiled"), [("-Iinc", True), ("-DX", False)])
def test_precompiled_headers_serve_where_no_option_could_change_them(
    compiler: Compiler, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, word: str, precompiled: bool
) -> None:
    monkeypatch.setenv("CXX", "g++")
    build_emulated(Sources((KERNEL,), (word,)), tmp_path)
    assert ("foremost" in compiler.of("k.cu")) == precompiled


def test_headers_with_syntax_of_cuda_are_rewritten_in_front_of_the_users(compiler: Compiler, tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "inc" / "sub").mkdir(parents=True)
    (home / "inc" / "one.cuh").write_text('#include "sub/two.cuh"\n#include "plain.h"\n')
    (home / "inc" / "sub" / "two.cuh").write_text('#include "three.cuh"\nvoid f() { k<<<1, 2>>>(); }\n')
    (home / "inc" / "sub" / "three.cuh").write_text("__device__ int v;\nvoid g() { k<<<1, 2>>>(); }\n")
    (home / "inc" / "plain.h").write_text("int plain;\n")
    source = OutputFile("a.cu", '#include "one.cuh"\n#include <vector>\n#include "missing.h"\n')
    build_emulated(Sources((source,), ("-I", "inc"), str(home)), tmp_path / "build")
    placed = {path.name for path in (tmp_path / "build").rglob("*.*")}
    assert placed == {"a.cu", "two.cuh", "three.cuh"}
    assert "<<<" not in (tmp_path / "build" / "sub" / "two.cuh").read_text()


def failing(stderr: str, *, timed_out: bool = False, linking: bool = False) -> Callable[[list[str]], Ran]:
    ran = Ran(1, b"", stderr.encode(), 0.0, timed_out)
    return lambda command: ran if ("-c" not in command) == linking else Ran(0, b"", b"", 0.0)


@pytest.mark.parametrize(
    ("stderr", "said", "line"),
    [
        ("./k.cu:2:5: error: no such thing\nk.cu:1:1: error: x", "no such thing", 2),
        ("k.cu:1: fatal error: no header", "no header", 1),
        ("/usr/include/x.h:7:1: error: elsewhere", "elsewhere", None),
        ("something odd\nmore", "something odd", None),
        ("", "no message", None),
    ],
)
def test_the_first_error_is_a_finding_at_the_users_line(
    compiler: Compiler, tmp_path: Path, stderr: str, said: str, line: int | None
) -> None:
    compiler.answer = failing(stderr)
    made = build_emulated(Sources((KERNEL,)), tmp_path)
    assert made.command == () and made.finding is not None and made.finding.rule == "VER031"
    assert made.finding.message == f"the program does not compile for the emulation: {said}"
    assert (made.finding.span.line if made.finding.span else None) == line


def test_a_compiler_without_end_is_said(compiler: Compiler, tmp_path: Path) -> None:
    compiler.answer = failing("k.cu:1:1: error: x", timed_out=True)
    finding = build_emulated(Sources((KERNEL,)), tmp_path).finding
    assert finding is not None and finding.message.endswith("it took too long") and finding.span is None


@pytest.mark.parametrize(
    ("stderr", "said"),
    [
        ("undefined reference to `g'\nundefined reference to `f'\nundefined reference to `g'", "f, g is not defined"),
        ("".join(f"undefined reference to `f{n}'\n" for n in range(7)), "f3, f4 and 2 more is not defined"),
        ("note\nmultiple definition of `main'", "multiple definition of `main'"),
        ("only a note\nmore", "only a note"),
        ("", "?"),
    ],
)
def test_what_the_linker_says(compiler: Compiler, tmp_path: Path, stderr: str, said: str) -> None:
    compiler.answer = failing(stderr, linking=True)
    finding = build_emulated(Sources((HOST,)), tmp_path).finding
    assert finding is not None and finding.rule == "VER032" and said in finding.message


@pytest.mark.parametrize(("schedule", "word"), [(-1, "ascending"), (0, "0"), (3, "3")])
def test_the_environment_of_a_schedule(schedule: int, word: str) -> None:
    plain = schedule_environment(schedule, Path("r"))
    assert plain["WARPSMITH_EMULATION_SCHEDULE"] == word and plain["WARPSMITH_EMULATION_REPORT"] == "r"
    assert len(plain) == 3
    seeds = {
        schedule_environment(s, Path("r"), seed=seed)["WARPSMITH_EMULATION_SEED"] for s in (0, 1) for seed in (1, 2)
    }
    assert len(seeds) == 4
    more = schedule_environment(schedule, Path("r"), Path("c"), memory=0)
    assert (more["WARPSMITH_EMULATION_COUNTS"], more["WARPSMITH_EMULATION_MEMORY"]) == ("c", "0")


def test_a_run_has_its_own_environment_arguments_and_input(tmp_path: Path) -> None:
    script = "cat; echo $1 $X $WARPSMITH_EMULATION_SCHEDULE; pwd; echo '{\"id\": 1}' > $WARPSMITH_EMULATION_REPORT"
    executable = Executable(("sh", "-c", script, "sh"), tmp_path, Sources(()))
    own = {"X": "x", "WARPSMITH_EMULATION_SCHEDULE": "other"}
    got = run_emulated(executable, 2, arguments=("one",), stdin=b"in ", cwd=tmp_path, environment=own)
    assert got.ran.stdout.decode() == f"in one x 2\n{tmp_path}\n"
    assert [failure.rule for failure in got.seen.failures] == ["VER045"]


# --- real compilers


def test_a_compile_error_is_a_finding_at_the_users_line(tmp_path: Path) -> None:
    built = build_emulated(program("\n\nint main() { return missing; }\n"), tmp_path)
    assert built.command == ()
    assert built.finding is not None and built.finding.span is not None
    assert "missing" in built.finding.message
    assert (built.finding.span.file.path, built.finding.span.line) == ("p.cu", 2)


def test_a_name_that_nobody_defines_is_a_finding(tmp_path: Path) -> None:
    built = build_emulated(Sources((OutputFile("a.c", "void f(void); int main(void) { f(); return 0; }\n"),)), tmp_path)
    assert built.finding is not None
    assert "f is not defined" in built.finding.message


@pytest.mark.slow
def test_the_cache_may_be_unwritable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    built = build_emulated(program("int main() { return 0; }\n"), tmp_path / "build")
    assert built.finding is None
