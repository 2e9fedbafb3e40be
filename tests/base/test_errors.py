"""Errors format themselves, name their exit code, and are the same after they have crossed a process."""

from __future__ import annotations

import copy
import pickle

import pytest

from warpsmith.base.errors import InputError, RefusedError, UsageError, WarpsmithError
from warpsmith.base.findings import Finding


@pytest.mark.parametrize(("kind", "code"), [(UsageError, 2), (InputError, 2), (RefusedError, 1), (WarpsmithError, 2)])
def test_errors_format_themselves(kind: type[WarpsmithError], code: int) -> None:
    error = kind(Finding("A", "error", "first"), Finding("B", "error", "second"))
    assert error.exit_code == code
    assert str(error) == "error[A] first\nerror[B] second"
    assert error.findings[1].message == "second"
    assert isinstance(error, WarpsmithError)


@pytest.mark.parametrize("kind", [UsageError, InputError, RefusedError, WarpsmithError])
def test_an_error_can_be_raised_again_elsewhere(kind: type[WarpsmithError]) -> None:
    error = kind(Finding("A", "error", "first", help=("do this",)), Finding("B", "warning", "second"))
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(again) is kind and again.findings == error.findings and str(again) == str(error)


def test_messages_are_joined_for_whoever_prints_the_exception() -> None:
    assert RefusedError(Finding("A", "error", "one"), Finding("B", "error", "two")).args == ("one; two",)
    assert UsageError().findings == () and str(UsageError()) == ""
