"""The GPU models that are known, and their limits."""

from __future__ import annotations

import pytest

from tests.app.cli.runs import document, typed
from warpsmith.machine.devices import load_devices


def test_all_or_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert [one["name"] for one in document(capsys, "devices")["devices"]] == [one.name for one in load_devices()]
    assert [one["name"] for one in document(capsys, "devices", "h100")["devices"]] == ["h100"]
    # an architecture has several models; a title of CUDA's names one
    arch = [one.name for one in load_devices() if one.arch == "sm_80"]
    assert [one["name"] for one in document(capsys, "devices", "SM_80")["devices"]] == arch and len(arch) > 1


def test_a_model_that_is_not_known(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = typed(capsys, "devices", "x100")
    assert code == 2 and "x100" in err and not out


def test_numbers_from_memory_are_marked(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = typed(capsys, "devices")
    marked = {one.name for one in load_devices() if "memory" in one.sources.values()}
    rows = {line.split()[0]: line for line in out.splitlines()[1:]}
    assert {name for name, line in rows.items() if "~" in line} <= marked
    for one in load_devices():
        sure = "~" if one.sources.get("bandwidth_gb_s") == "memory" else ""
        assert f" {sure}{one.bandwidth_gb_s} " in rows[one.name] and one.title in rows[one.name]
    code, alone, _ = typed(capsys, "devices", "h100")
    assert code == 0 and alone.splitlines()[1].split() == rows["h100"].split()
