"""A port inside a project becomes a series of patches; what was edited by hand is never lost."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from warpsmith.emit.files import OutputFile
from warpsmith.emit.host.in_place import FOLDER, InPlace
from warpsmith.flows.porting import series as flow
from warpsmith.flows.porting.series import Earlier, ProjectBuild, Series, earlier_port, make_series

SOLVE = "int solve(void)\n{\n    return 1;\n}\n"
KERNEL = f"{FOLDER}/solve_kernels.cu"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "solve.c").write_text(SOLVE)
    (tmp_path / "Makefile").write_text("prog: solve.o\n\t$(CC) -o $@ $^\n")
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    return tmp_path


def port(kernel: str = "kernel 1\n", changed: str = "solve.c", text: str = SOLVE.replace("1;", "2;")) -> InPlace:
    return InPlace(
        (OutputFile(changed, text),), {changed: (OutputFile(KERNEL, kernel),)}, (OutputFile(f"{FOLDER}/run.h", "rt\n"),)
    )


def made(root: Path, what: InPlace, monkeypatch: pytest.MonkeyPatch) -> Series:
    """Return the series of a project whose build file is not understood."""
    monkeypatch.setattr(flow, "edit_build", lambda *given: None)
    return make_series(str(root), what, {"solve.c": ("solve/i",)}, ProjectBuild(("solve.c",)))


def keep(root: Path) -> None:
    """Commit what stands in a project."""
    own = ("-c", "user.name=a", "-c", "user.email=a@localhost")
    for command in (("add", "-A"), ("commit", "-q", "-m", "all")):
        subprocess.run(["git", "-C", str(root), *own, *command], check=True)


def applied(root: Path, series: Series) -> None:
    for patch in series.patches:
        subprocess.run(["git", "-C", str(root), "apply"], input=patch.encode("latin-1"), check=True)


def test_the_run_time_first_then_each_file_with_its_kernels(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = made(root, port(), monkeypatch)
    first, second = found.patches
    assert f"+++ b/{FOLDER}/run.h" in first and "solve" not in first.partition("diff --git")[2].replace("solve.o", "")
    assert "+++ b/solve.c" in second and f"+++ b/{KERNEL}" in second and "Ported: solve/i." in second
    # the build file is left as it is, and that is said
    assert [one.rule for one in found.findings] == ["PRJ012"]
    assert (root / "solve.c").read_text() == SOLVE


def test_one_patch_does_what_the_series_does_and_is_taken_back(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = made(root, port(), monkeypatch)
    before = {path: path.read_text() for path in root.iterdir() if path.is_file()}
    for back in ([], ["-R"]):
        command = ["git", "-C", str(root), "apply", *back]
        subprocess.run(command, input=found.whole.encode("latin-1"), check=True)
        assert (root / KERNEL).is_file() == (not back)
    assert {path: path.read_text() for path in root.iterdir() if path.is_file()} == before
    assert not (root / FOLDER).exists()


def test_a_build_file_further_in_is_asked_where_the_outer_one_shows_nothing(root: Path) -> None:
    (root / "src").mkdir()
    (root / "solve.c").rename(root / "src" / "solve.c")
    (root / "Makefile").write_text("all:\n\tcd src; make\n")
    (root / "src" / "Makefile").write_text(
        "OBJS = solve.o\nprog: $(OBJS)\n\t$(CC) -o $@ $(OBJS)\n%.o: %.c\n\t$(CC) $(CFLAGS) -c $<\n"
    )
    what = port(changed="src/solve.c")
    for inner, understood in (((), False), (("src",), True)):
        series = make_series(str(root), what, {}, ProjectBuild(("src/solve.c",), ".", inner))
        assert ("+include ../warpsmith/rules.mk" in series.whole) is understood
        assert [one.rule for one in series.findings] == ([] if understood else ["PRJ012"])


def test_patches_apply_and_what_was_ported_is_remembered(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    applied(root, made(root, port(), monkeypatch))
    assert (root / KERNEL).read_text() == "kernel 1\n"
    assert sorted(path.name for path in (root / FOLDER).iterdir()) == ["port.toml", "run.h", "solve_kernels.cu"]
    assert earlier_port(str(root)) == Earlier({"solve.c": ("solve/i",)}, {"solve.c": ()})


def test_a_kernel_that_was_edited_by_hand_is_merged_or_a_conflict(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = "".join(f"line {n}\n" for n in range(9))
    applied(root, made(root, port(lines), monkeypatch))
    keep(root)
    (root / KERNEL).write_text(lines.replace("line 1\n", "by hand\n"))
    again = made(root, port(lines.replace("line 8\n", "new\n")), monkeypatch)
    applied(root, again)
    keep(root)
    text = (root / KERNEL).read_text()
    assert "by hand\n" in text and text.endswith("new\n")
    (root / KERNEL).write_text(text.replace("line 4\n", "mine\n"))
    clash = made(root, port(lines.replace("line 4\n", "theirs\n").replace("line 8\n", "new\n")), monkeypatch)
    assert clash.patches == () and [one.rule for one in clash.findings] == ["PRJ013"]
    assert "was edited by hand" in clash.findings[0].message
    # an edit that was merged once is merged again
    (root / KERNEL).write_text(text)
    last = made(root, port(lines.replace("line 8\n", "newer\n")), monkeypatch)
    applied(root, last)
    assert "by hand\n" in (root / KERNEL).read_text() and (root / KERNEL).read_text().endswith("newer\n")


def test_what_git_does_not_have_stands_in_one_small_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "solve.c").write_text(SOLVE)
    lines = "".join(f"line {n}\n" for n in range(9))
    applied(tmp_path, made(tmp_path, port(lines), monkeypatch))
    assert sorted(path.name for path in (tmp_path / FOLDER).iterdir()) == [
        "port.base", "port.toml", "run.h", "solve_kernels.cu",
    ]  # fmt: skip
    (tmp_path / KERNEL).write_text(lines.replace("line 1\n", "by hand\n"))
    applied(tmp_path, made(tmp_path, port(lines.replace("line 8\n", "new\n")), monkeypatch))
    text = (tmp_path / KERNEL).read_text()
    assert "by hand\n" in text and text.endswith("new\n")
    # the same port again changes nothing
    assert (
        made(tmp_path, port(lines.replace("line 8\n", "new\n"), text=SOLVE.replace("1;", "2;")), monkeypatch).patches
        == ()
    )


def test_an_edit_of_what_was_never_committed_is_not_overwritten(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    applied(root, made(root, port(), monkeypatch))
    (root / KERNEL).write_text("by hand\n")
    found = made(root, port("kernel 2\n"), monkeypatch)
    assert found.patches == () and "was it committed?" in found.findings[0].message
    assert (root / KERNEL).read_text() == "by hand\n"


def test_generated_files_that_this_port_does_not_make_go_unless_they_were_edited(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    applied(root, made(root, port(), monkeypatch))
    other = InPlace((), {}, (OutputFile(f"{FOLDER}/run.h", "rt\n"),))
    applied(root, made(root, other, monkeypatch))
    assert not (root / KERNEL).exists()


def test_a_generated_file_that_was_edited_stays(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    applied(root, made(root, port(), monkeypatch))
    (root / KERNEL).write_text("by hand\n")
    applied(root, made(root, InPlace((), {}, (OutputFile(f"{FOLDER}/run.h", "rt\n"),)), monkeypatch))
    assert (root / KERNEL).read_text() == "by hand\n"


def test_files_that_keep_data_on_the_device_come_last_together(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "a.c").write_text("int a;\n")
    (root / "b.c").write_text("int b;\n")
    changed = tuple(OutputFile(f"{name}.c", f"long {name};\n") for name in ("a", "b"))
    what = InPlace((*changed, *port().changed), {}, (), frozenset({"a.c", "b.c"}))
    _, solve, last = made(root, what, monkeypatch).patches
    assert "+++ b/solve.c" in solve and "Keeps data" not in solve
    assert "+++ b/a.c" in last and "+++ b/b.c" in last and "Keeps data on the device between calls." in last


def test_a_tool_that_is_missing_is_one_that_fails(tmp_path: Path) -> None:
    assert flow._run(["no-such-tool-at-all"], tmp_path) == (127, "")
    assert flow._run(["sh", "-c", "echo a; exit 3"], tmp_path) == (3, "a\n")


def test_an_addition_that_was_edited_by_hand_is_not_overwritten(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = f"#ifdef WARPSMITH\nint more;\n#endif\n{SOLVE}"
    applied(root, made(root, port(text=text), monkeypatch))
    assert [one.rule for one in made(root, port(text=text), monkeypatch).findings] == ["PRJ012"]
    (root / "solve.c").write_text(text.replace("int more", "int less"))
    found = made(root, port(text=text), monkeypatch)
    assert found.patches == () and "edited by hand since" in found.findings[0].message


def test_a_record_that_is_none_says_nothing(tmp_path: Path) -> None:
    assert earlier_port(str(tmp_path)) == Earlier({}, {})
    (tmp_path / FOLDER).mkdir()
    (tmp_path / FOLDER / "port.toml").write_text("not = [toml")
    assert earlier_port(str(tmp_path)) == Earlier({}, {})
