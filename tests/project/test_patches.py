"""Patches as git takes them: line ends, missing line ends, odd names, new files and files that go."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from warpsmith.project.patches import FileChange, Patch, find_patch_root, join_patches, patch_name, series_texts

LINES = "".join(f"line {n}\n" for n in range(40))


def apply(folder: Path, text: str, *options: str) -> None:
    command = ["git", "apply", *options, "-"]
    done = subprocess.run(command, input=text.encode("latin-1"), cwd=folder, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr


def run(command: Sequence[str], folder: Path) -> tuple[int, str]:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


@pytest.mark.parametrize(
    "change",
    [
        FileChange("a.c", LINES, LINES.replace("line 7\n", "line 7\nmore\n")),
        FileChange("a.c", LINES, LINES.replace("line 7\n", "").replace("line 30", "line thirty")),
        FileChange("a.c", LINES.rstrip(), LINES.rstrip() + " more"),
        FileChange("a.c", LINES.rstrip(), LINES),
        FileChange("a.c", LINES, LINES.rstrip()),
        FileChange("a.c", LINES.replace("\n", "\r\n"), LINES.replace("\n", "\r\n").replace("7\r", "7\r\nmore\r")),
        FileChange("a.c", "\xef\xbb\xbf" + LINES, "\xef\xbb\xbf#ifdef X\n" + LINES),
        FileChange("a.c", "\xe9\xff\n", "\xe9\xff\n\xe4\n"),
        FileChange("new/deep/b.cu", None, LINES),
        FileChange("new.h", None, "no line end"),
        FileChange("gone.h", LINES, None),
        FileChange("with blank.c", LINES, LINES + "more\n"),
        FileChange('odd"name\\.c', LINES, LINES + "more\n"),
        FileChange("\u00fcber.c", LINES, LINES + "more\n"),
    ],
    ids=lambda change: change.path.encode("ascii", "replace").decode(),
)
def test_git_applies_it_and_takes_it_back(change: FileChange, tmp_path: Path) -> None:
    path = tmp_path / change.path
    if change.before is not None:
        path.write_bytes(change.before.encode("latin-1"))
    (text,) = series_texts([Patch("one", "two", (change,))], "x")
    apply(tmp_path, text, "--check")
    apply(tmp_path, text)
    assert (path.read_bytes().decode("latin-1") if path.exists() else None) == change.after
    apply(tmp_path, text, "-R")
    assert (path.read_bytes().decode("latin-1") if path.exists() else None) == change.before


def test_a_patch_without_a_change_is_left_out() -> None:
    same, other = FileChange("a", "x\n", "x\n"), FileChange("b", "x\n", "y\n")
    texts = series_texts([Patch("nothing", "", (same,)), Patch("b: some thing", "", (same, other))], "x")
    assert len(texts) == 1
    assert "a/a" not in texts[0]
    assert patch_name(1, texts[0]) == "0001-b-some-thing.patch"


def test_git_takes_back_what_several_steps_change(tmp_path: Path) -> None:
    steps = [
        Patch("first", "why", (FileChange("record", None, "1\n"), FileChange("a", LINES, LINES + "more\n"))),
        Patch("second", "", (FileChange("record", "1\n", "1\n2\n"), FileChange("gone", LINES, None))),
    ]
    before = {"a": LINES, "gone": LINES}
    for name, text in before.items():
        (tmp_path / name).write_text(text)
    (text,) = series_texts([join_patches(steps, "all")], "x")
    assert "first\nwhy" in text and "second" in text
    apply(tmp_path, text)
    found = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert found == {"a": LINES + "more\n", "record": "1\n2\n"}
    apply(tmp_path, text, "-R")
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == before


def test_git_am_takes_the_series(tmp_path: Path) -> None:
    git = ["git", "-c", "user.name=x", "-c", "user.email=x@x"]
    (tmp_path / "a").write_text(LINES)
    for command in (["init", "-q"], ["add", "a"], ["commit", "-qm", "start"]):
        subprocess.run([*git, *command], cwd=tmp_path, check=True)
    second = LINES + "more\n"
    texts = series_texts(
        [
            Patch("first", "why", (FileChange("a", LINES, second),)),
            Patch("second", "", (FileChange("b", None, "b\n"),)),
        ],
        "x",
    )
    for number, text in enumerate(texts):
        (tmp_path / f"{number}.patch").write_text(text)
        subprocess.run([*git, "am", "-q", f"{number}.patch"], cwd=tmp_path, check=True)
    log = subprocess.run([*git, "log", "--format=%s"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert log.stdout.split() == ["second", "first", "start"]


@pytest.mark.parametrize("start", [".", "code/our solver", "code"])
def test_a_project_in_a_folder_of_its_checkout(start: str, tmp_path: Path) -> None:
    # git passes over paths that it does not find from the top of the checkout, and says nothing
    root = tmp_path / "code" / "our solver"
    root.mkdir(parents=True)
    (root / "a.c").write_text(LINES)
    assert find_patch_root(str(root)) == str(root)
    subprocess.run(["git", "init", "-q", "."], cwd=tmp_path, check=True)
    assert find_patch_root(str(root)) == str(tmp_path)
    changes = (FileChange("a.c", LINES, "new\n" + LINES), FileChange("gpu/b.cu", None, LINES))
    (text,) = series_texts([Patch("one", "two", changes)], "x", "code/our solver/")
    apply(tmp_path / start, text)
    assert (root / "a.c").read_text() == "new\n" + LINES
    assert (root / "gpu/b.cu").read_text() == LINES
