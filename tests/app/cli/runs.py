"""Commands as a user types them, in this process."""

from __future__ import annotations

import json
from typing import Any

import pytest

from warpsmith.app.cli.failure import run_guarded
from warpsmith.app.cli.main import warpsmith

__all__ = ["document", "typed"]


def typed(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    """Return the exit code of a command, and what it printed: results, then what is for people."""
    capsys.readouterr()
    code = run_guarded(warpsmith, words)
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def document(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    """Return the JSON document of a command that ends well."""
    code, out, _ = typed(capsys, *words, "--json")
    assert code in (0, 1)
    return json.loads(out)
