"""Output files: what emit makes, run builds and the command line writes."""

from __future__ import annotations

from msgspec import Struct

__all__ = ["OutputFile"]


class OutputFile(Struct, frozen=True):
    """One file by its relative path; `text` holds one character a byte (see base/source.py)."""

    path: str
    text: str

    def data(self) -> bytes:
        """Return the bytes to write."""
        return self.text.encode("latin-1")
