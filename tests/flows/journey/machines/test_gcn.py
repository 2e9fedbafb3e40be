"""GCN that `lower` writes is run wave by wave."""

from __future__ import annotations

import pytest

from tests.flows.journey.machines.ran import step_by, step_with_text
from warpsmith.base.errors import InputError
from warpsmith.flows.journey.machines.gcn import run_as_gcn
from warpsmith.flows.journey.reasons import StoppedError


def test_the_small_kernel_is_computed() -> None:
    found = step_by(run_as_gcn)
    assert (found.elements, found.differ) == (60, 0), found


def test_an_instruction_that_is_wrong_is_seen() -> None:
    assert step_with_text(run_as_gcn, "gcn", "v_subrev_u32_e32", "v_add_u32_e32").differ


def test_a_program_that_does_what_it_must_not_is_stopped() -> None:
    with pytest.raises(StoppedError, match="global_load_dword"):
        step_with_text(run_as_gcn, "gcn", "v_lshlrev_b64 v[0:1], 2", "v_lshlrev_b64 v[0:1], 22")


def test_a_text_that_is_none_is_no_run() -> None:
    with pytest.raises(InputError):
        step_with_text(run_as_gcn, "gcn", "v_subrev_u32_e32", "v_no_such_thing")
