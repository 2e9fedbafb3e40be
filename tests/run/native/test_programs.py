"""Programs built by the host's compiler, and run with the user's inputs under limits."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from warpsmith.emit.files import OutputFile
from warpsmith.run.native.programs import RunOutcome, RunSetting, build_native, place, run_program
from warpsmith.run.verification import Sources, VerifyOptions

MAIN = OutputFile("a.c", "int f(void);\nint main(void) { return f(); }\n")


def run(script: str, folder: Path, options: VerifyOptions | None = None, *, timeout_s: float = 20.0) -> RunOutcome:
    """Run a script of the shell as if it were the program."""
    work = folder / "work"
    work.mkdir()
    setting = RunSetting(work, {"X": "x"}, timeout_s)
    return run_program(("sh", "-c", script, "sh"), options or VerifyOptions(), setting)


def test_files_are_placed_below_the_folder_however_they_are_named(tmp_path: Path) -> None:
    place(Sources((OutputFile("../../up.c", "1"), OutputFile("/abs/b.c", "2"), OutputFile("..", "3"))), tmp_path / "in")
    found = {str(p.relative_to(tmp_path)): p.read_text() for p in tmp_path.rglob("*") if p.is_file()}
    assert found == {"in/up.c": "1", "in/abs/b.c": "2", "in/file.c": "3"}


def test_each_file_is_compiled_for_its_language(tmp_path: Path) -> None:
    files = (
        MAIN,
        OutputFile("-f.cpp", '#include "h.h"\nextern "C" int f() { return TEN + OWN + HEADER - 3; }\n'),
        OutputFile("h.h", "#define HEADER 4\n"),
        OutputFile("part.c", "not to be compiled"),
        OutputFile("notes.txt", "nor this"),
    )
    sources = Sources(files, ("-DTEN=10",), own={"-f.cpp": ("-DTEN=20", "-DOWN=1")}, included=frozenset({"part.c"}))
    built = build_native(sources, ("-O0",), tmp_path)
    assert built.message == "" and os.waitstatus_to_exitcode(os.system(built.command[0])) == 22


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("int f(void) { return missing; }", "b.c:1:22: error: 'missing' undeclared"),
        ("int g;", "undefined reference to `f'"),
    ],
)
def test_what_cannot_be_built_is_said_in_the_compilers_first_words(text: str, said: str, tmp_path: Path) -> None:
    built = build_native(Sources((MAIN, OutputFile("b.c", text + "\n"))), (), tmp_path)
    assert built.command == () and said in built.message and "\n" not in built.message


def test_a_name_that_two_files_define_is_said(tmp_path: Path) -> None:
    twice = (MAIN, OutputFile("b.c", "int f(void) { return 1; }\n"), OutputFile("c.c", "int f(void) { return 2; }\n"))
    assert "multiple definition of `f'" in build_native(Sources(twice), (), tmp_path / "build").message


def test_threads_are_built_for_a_program_that_uses_them(tmp_path: Path) -> None:
    text = "#include <omp.h>\nint main(void) { return _OPENMP > 0 ? 7 : omp_get_num_threads(); }\n"
    built = build_native(Sources((OutputFile("a.c", text),)), (), tmp_path)
    assert built.message == "" and os.waitstatus_to_exitcode(os.system(built.command[0])) == 7


def test_a_run_has_the_users_arguments_input_and_a_copy_of_the_users_files(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    for name in ("same", "old", "gone"):
        (home / name).write_text(name)
    (home / "link").symlink_to("same")
    (tmp_path / "in").write_text("typed ")
    script = "cat; echo $1 $X $OMP_NUM_THREADS; echo new > old; mkdir d; echo 1 > d/new; rm gone; echo said >&2; exit 3"
    options = VerifyOptions(("one",), str(tmp_path / "in"), str(home))
    got = run(script, tmp_path, options)
    assert (got.exit_code, got.failure, got.stdout, got.stderr) == (3, "", b"typed one x 1\n", "said\n")
    assert got.files == {"old": b"new\n", "d/new": b"1\n"}
    assert (home / "old").read_text() == "old" and (home / "gone").exists()
    assert not (tmp_path / "work" / "files").exists() and got.log.complete


def test_a_switch_of_other_programs_does_not_reach_this_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPSMITH_OFF", "1")
    monkeypatch.setenv("OMP_NUM_THREADS", "9")
    monkeypatch.setenv("OTHER", "kept")
    assert run('echo "[$WARPSMITH_OFF] $OMP_NUM_THREADS $OTHER"', tmp_path).stdout == b"[] 1 kept\n"


@pytest.mark.parametrize(
    ("signal", "said"),
    [
        ("SEGV", "a memory access outside its memory"),
        ("FPE", "an arithmetic exception"),
        ("ABRT", "abort"),
        ("KILL", "a kill signal (out of memory?)"),
        ("TERM", "signal 15"),
    ],
)
def test_a_signal_is_said_in_words_and_its_output_is_nothing(signal: str, said: str, tmp_path: Path) -> None:
    got = run(f"echo half; echo 1 > file; kill -{signal} $$", tmp_path)
    assert got.failure == f"it crashed: {said}"
    assert (got.stdout, got.files) == (b"", {})


def test_a_run_without_end_is_stopped_with_all_that_it_started(tmp_path: Path) -> None:
    got = run(f"(sleep 0.4; touch {tmp_path}/late) & echo out; sleep 30", tmp_path, timeout_s=0.2)
    assert got.failure == "it did not end within 0.2 s" and got.seconds < 10
    os.system("sleep 0.5")
    assert not (tmp_path / "late").exists()


def test_a_run_may_not_write_without_bounds(tmp_path: Path) -> None:
    got = run("sleep 0.1; ulimit -f", tmp_path)
    assert int(got.stdout) * 512 == 256 << 20
