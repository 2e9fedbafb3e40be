"""Tests that run a compiler for each of many values: a part of them by default, all of them where slow tests are asked
for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

__all__ = ["one_in"]


def one_in(step: int, values: Iterable[Any]) -> list[Any]:
    """Return the values as parameters, of which the first and every `step`th after it are not slow."""
    whole = [value if isinstance(value, tuple) else (value,) for value in values]
    return [pytest.param(*value, marks=[pytest.mark.slow] if at % step else []) for at, value in enumerate(whole)]
