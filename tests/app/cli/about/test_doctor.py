"""Which tools are found, what is missing, and how to get it."""

from __future__ import annotations

import shutil
from importlib.metadata import PackageNotFoundError

import pytest

from tests.app.cli.runs import document, typed
from warpsmith.app.cli.about import doctor


def states(capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    return {one["name"]: one["state"] for one in document(capsys, "doctor")["tools"]}


def test_a_needed_tool_that_is_missing_is_a_negative_answer(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None if name in ("g++", "nvcc") else f"/usr/bin/{name}")
    monkeypatch.setattr(doctor, "version", lambda name: "1.0")
    found = states(capsys)
    assert (found["g++"], found["nvcc"], found["gcc"], found["libclang"]) == ("missing", "optional", "ok", "ok")
    code, out, _ = typed(capsys, "doctor")
    assert code == 1 and "install g++: the emulation needs it" in " ".join(out.split())


def test_what_is_optional_may_be_missing(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def version(name: str) -> str:
        if name == "nvidia-cuda-nvrtc":
            raise PackageNotFoundError(name)
        return "1.0"

    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(doctor, "version", version)
    assert states(capsys)["nvidia-cuda-nvrtc"] == "optional" and typed(capsys, "doctor")[0] == 0
    monkeypatch.setattr(doctor, "version", lambda name: version("nvidia-cuda-nvrtc"))
    assert states(capsys)["islpy"] == "missing" and typed(capsys, "doctor")[0] == 1
