"""Which files are looked at for host code."""

from __future__ import annotations

from pathlib import Path

from warpsmith.kernels.host_files import read_around


def test_its_folder_and_the_one_above(tmp_path: Path) -> None:
    inside = tmp_path / "src" / "device"
    inside.mkdir(parents=True)
    for path in (inside / "k.cl", inside / "a.C", inside / "b.c", inside.parent / "c.c", tmp_path / "d.c"):
        path.write_text(path.name)
    (inside / "large.c").write_text(" " * (3 << 20))
    found = dict(read_around(inside / "k.cl", {".c"}))
    assert {path.name: text for path, text in found.items()} == {"a.C": "a.C", "b.c": "b.c", "c.c": "c.c"}
