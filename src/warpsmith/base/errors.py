"""The error family. An error formats itself and names its exit code; only the command line exits.

WarpsmithError
├── UsageError        2   the request is wrong: a missing file, a bad option, a missing tool or extra
├── InputError        2   no input could be read or parsed (several inputs, some good: exit 3 instead)
└── RefusedError      1   what was asked for cannot be done, with the reason
"""

from __future__ import annotations

from warpsmith.base.findings import Finding, render_finding

__all__ = ["InputError", "RefusedError", "UsageError", "WarpsmithError"]


class WarpsmithError(Exception):
    """An expected failure, reported in the user's words."""

    exit_code = 2

    def __init__(self, *findings: Finding) -> None:
        super().__init__("; ".join(f.message for f in findings))
        self.findings = findings

    def __str__(self) -> str:
        return "\n".join(render_finding(f) for f in self.findings)

    def __reduce__(self) -> tuple[type[WarpsmithError], tuple[Finding, ...]]:
        # as it was made, so that it can be raised again where another process asked
        return type(self), self.findings


class UsageError(WarpsmithError):
    """The invocation cannot be carried out as given."""


class InputError(WarpsmithError):
    """An input file cannot be read or parsed."""


class RefusedError(WarpsmithError):
    """The loop or step that was asked for cannot be carried out."""

    exit_code = 1
