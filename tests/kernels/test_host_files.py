"""Which files are looked at for host code."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpsmith.kernels.host_files import read_around


def test_its_folder_and_the_one_above(tmp_path: Path) -> None:
    inside = tmp_path / "src" / "device"
    inside.mkdir(parents=True)
    for path in (inside / "k.cl", inside / "a.C", inside / "b.c", inside.parent / "c.c", tmp_path / "d.c"):
        path.write_text(path.name)
    (inside / "large.c").write_text(" " * (3 << 20))
    found = dict(read_around(inside / "k.cl", {".c"}))
    assert {path.name: text for path, text in found.items()} == {"a.C": "a.C", "b.c": "b.c", "c.c": "c.c"}


def test_a_file_that_may_not_be_read_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a.c", "b.c"):
        (tmp_path / name).write_text(name)
    read = Path.read_bytes

    def refuse(path: Path) -> bytes:
        if path.name == "a.c":
            raise PermissionError(13, "Permission denied")
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", refuse)
    assert [path.name for path, _ in read_around(tmp_path / "k.cl", {".c"})] == ["b.c"]
