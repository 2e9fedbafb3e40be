"""What AMD IL has not, at its line."""

from __future__ import annotations

from warpsmith.base.errors import InputError
from warpsmith.base.findings import Finding
from warpsmith.base.source import Span

__all__ = ["refuse"]


def refuse(message: str, span: Span | None, *helps: str) -> InputError:
    """Return the error that says what AMD IL has not."""
    return InputError(Finding("TGT001", "error", message, span, helps))
