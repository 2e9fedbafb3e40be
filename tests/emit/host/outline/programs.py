"""Programs that are ported by the tests of this room, and what is asked of their text."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from warpsmith.flows.port import PortOptions, PortResult, port
from warpsmith.offload.plan import OffloadOptions, TransferScheme

__all__ = ["body_of", "port_text", "texts"]


def port_text(text: str, folder: Path, *, verify: bool = False, transfers: TransferScheme = "optimized") -> PortResult:
    """Port one file."""
    path = folder / "one.c"
    path.write_text(text)
    return port([str(path)], PortOptions(verify=verify, offload=OffloadOptions(transfers=transfers)))


def texts(result: PortResult) -> Mapping[str, str]:
    """Return the files of a port by their names."""
    return {file.path: file.text for file in result.files}


def body_of(text: str, function: str) -> str:
    """Return the body of a function in generated text, on one line."""
    start = text.index("{", text.index(f" {function}(") + 1)
    return " ".join(text[start : text.index("\n}", start)].split())
