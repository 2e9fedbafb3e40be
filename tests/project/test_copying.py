from __future__ import annotations

import os
from pathlib import Path

from warpsmith.project.copying import copy_project, fingerprint


def test_a_copy_leads_nowhere_else(tmp_path: Path) -> None:
    root, copy, outside = tmp_path / "p", tmp_path / "c", tmp_path / "elsewhere"
    (root / "build").mkdir(parents=True)
    (root / ".git").mkdir()
    outside.mkdir()
    (outside / "data.txt").write_text("1 2 3")
    (root / ".git" / "HEAD").write_text("ref")
    (root / "a.c").write_text("int x;")
    (root / "a.o").write_bytes(b"anything")
    (root / "program").write_bytes(b"\x7fELF\2\1\1\0")
    (root / "run.sh").write_text("#!/bin/sh\n")
    (root / "run.sh").chmod(0o755)
    (root / "build" / "CMakeCache.txt").write_text(f"HOME:INTERNAL={root}/src\n")
    (root / "inside").symlink_to(root / "a.c")
    (root / "data").symlink_to(outside)
    (root / "one").symlink_to(outside / "data.txt")
    (root / "gone").symlink_to(tmp_path / "nothing")
    before = fingerprint(root)
    copy_project(root, copy, 1 << 20)
    found = {str(p.relative_to(copy)) for p in copy.rglob("*") if not p.is_dir() or p.is_symlink()}
    assert found == {"a.c", "run.sh", "build/CMakeCache.txt", "inside", "data/data.txt", "one"}
    assert (copy / "build" / "CMakeCache.txt").read_text() == f"HOME:INTERNAL={copy}/src\n"
    assert os.access(copy / "run.sh", os.X_OK)
    # no link leads back
    for path in copy.rglob("*"):
        assert copy.resolve() in path.resolve().parents, path
    (copy / "inside").write_text("int y;")
    (copy / "one").write_text("9")
    assert (root / "a.c").read_text() == "int x;" and (outside / "data.txt").read_text() == "1 2 3"
    assert fingerprint(root) == before


def test_a_change_is_seen(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("int x;")
    before = fingerprint(tmp_path)
    (tmp_path / "b.c").write_text("int y;")
    assert fingerprint(tmp_path) != before
