"""How a command ended; the exit code follows from it."""

from __future__ import annotations

from typing import Literal

__all__ = ["Status"]

Status = Literal["ok", "negative", "incomplete", "error"]
