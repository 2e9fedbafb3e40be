"""Output files: what emit makes, run builds and the command line writes."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["OutputFile"]


@dataclass(frozen=True, slots=True)
class OutputFile:
    """One file by its relative path; `text` holds one character a byte (see base/source.py)."""

    path: str
    text: str

    def data(self) -> bytes:
        """Return the bytes to write."""
        return self.text.encode("latin-1")
