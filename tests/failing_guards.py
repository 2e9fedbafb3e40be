"""Guards of generated functions that are made to fail, as if the memory of a program lay otherwise."""

from __future__ import annotations

import re
from collections.abc import Callable

__all__ = ["count_guards", "fail_guards"]

# a guard is the test below its reason
_GUARD = re.compile(r"(^ *// only where .*\n(?: *//.*\n)*? *if \()", re.MULTILINE)


def count_guards(text: str) -> int:
    """Return how many guards a generated text has."""
    return len(_GUARD.findall(text))


def fail_guards(text: str, fails: Callable[[], bool]) -> str:
    """Return a generated text in which those guards fail that `fails` says so of, asked in their order."""
    return _GUARD.sub(lambda guard: guard[1] + ("1 || " if fails() else ""), text)
