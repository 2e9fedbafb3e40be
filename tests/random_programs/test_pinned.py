"""`--pinned`: random programs of several files do what they did, on page-locked memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.random_programs.acceptance import is_accepted
from tests.random_programs.resident_programs import resident_program
from tests.random_programs.test_managed import PROGRAM
from warpsmith.flows.port import PortOptions, PortResult, port
from warpsmith.offload.plan import DataScheme, OffloadOptions


def _ported(files: dict[str, str], directory: Path, data: DataScheme) -> PortResult:
    for name, text in files.items():
        (directory / name).write_text(text)
    options = PortOptions(offload=OffloadOptions(data=data, pinned=True))
    return port([str(directory / name) for name in files if name.endswith(".c")], options)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 112))
def test_random_programs_do_what_they_did(seed: int, tmp_path: Path) -> None:
    result = _ported(resident_program(seed).files, tmp_path, "per-call" if seed % 2 else "resident")
    assert is_accepted(result.verification), result.verification


@pytest.mark.slow
@pytest.mark.parametrize("data", ["resident", "per-call"])
def test_copies_are_as_they_were(data: DataScheme, tmp_path: Path) -> None:
    result = _ported({"p.c": PROGRAM}, tmp_path, data)
    pageable = port([str(tmp_path / "p.c")], PortOptions(offload=OffloadOptions(data=data)))
    assert is_accepted(result.verification), result.verification
    assert result.verification is not None and pageable.verification is not None
    assert result.verification.copies == pageable.verification.copies
    text = next(file.text for file in result.files if file.path.endswith("p.c"))
    assert text.count("ws_pinned_") == 4 and "ws_managed_" not in text
    assert any("ws_pin_variable(host, bytes);" in file.text for file in result.files)
