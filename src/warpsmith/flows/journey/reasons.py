"""Why something cannot be: in words, with the place where there is one."""

from __future__ import annotations

from warpsmith.base.errors import WarpsmithError
from warpsmith.base.findings import Finding

__all__ = ["StoppedError", "UnableError", "reason_of", "reason_text"]


class UnableError(Exception):
    """A stage, a version or a machine cannot do what is asked; the message says why."""


class StoppedError(UnableError):
    """A machine began, and did what it must not: the text that it runs is wrong, or the machine is."""


def reason_of(error: WarpsmithError | UnableError) -> str:
    """Return why, with the line that it is about."""
    if isinstance(error, UnableError):
        return str(error)
    return reason_text(error.findings[0])


def reason_text(finding: Finding) -> str:
    """Return a finding as one line, with the place that it is about."""
    where = f"{finding.span}: " if finding.span is not None else ""
    return where + finding.message
