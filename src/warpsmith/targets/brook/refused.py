"""The error that a kernel cannot be Brook+."""

from __future__ import annotations

from warpsmith.base.errors import InputError
from warpsmith.base.findings import Finding
from warpsmith.base.source import Span

__all__ = ["refuse_brook"]


def refuse_brook(message: str, span: Span | None, *helps: str) -> InputError:
    """Return the error that Brook+ has no words for what stands at a place."""
    return InputError(Finding("TGT001", "error", message, span, helps))
