"""Kernels of a port have the launches that its host code makes; one of the user's has the one that is asked for."""

from __future__ import annotations

import numpy as np
import pytest

from tests.flows.journey.begun import begun_step, begun_with
from warpsmith.base.errors import UsageError
from warpsmith.flows.journey.inputs import TravelInputs, make_inputs
from warpsmith.flows.journey.origin import port_options
from warpsmith.flows.journey.reasons import UnableError
from warpsmith.flows.journey.versions import port_version
from warpsmith.flows.port import PortResult, port
from warpsmith.front.inputs import Source

ROWS = """void rows(int n, int k, double by, double *a)
{
    for (int i = k; i < n; i++)
        a[i] = a[i] + k;
}
"""
SUM = "void f(int n, int *a, int *s) { for (int i = 0; i < n; i++) s[0] += a[i]; }\n"
SERIAL = "void f(int n, int *a) { while (a[0] != n) a[0] = a[a[0]]; }\n"


def _port(text: str) -> PortResult:
    return port([Source("f.c", text=text)], port_options({"n": 600}))


def test_launches_of_a_port_follow_the_loops_around_them() -> None:
    inputs = TravelInputs({"n": 600}, {"a": np.zeros(600)})
    version = port_version("port", _port(ROWS), inputs, ("rows", ({"k": 0}, {"k": 100}, {"k": 600})))
    # the last round has no thread, and no launch
    assert [call.launch.grid[0] * call.launch.block[0] for call in version.calls] == [768, 512]
    assert [call.launch.arguments["k"] for call in version.calls] == [bytes(4), (100).to_bytes(4, "little")]
    assert [dict(call.arrays) for call in version.calls] == [{"a_gpu": "a"}] * 2
    assert "k=100" in version.calls[1].texts and len(version.kernels) == 1


@pytest.mark.parametrize(("text", "why"), [(SUM, "combine"), (SERIAL, "no loop becomes a kernel")])
def test_what_is_no_launch_of_kernels_alone_is_a_reason(text: str, why: str) -> None:
    inputs = TravelInputs({"n": 600}, {"a": np.zeros(600, "<i4"), "s": np.zeros(1, "<i4")})
    with pytest.raises(UnableError, match=why):
        port_version("port", _port(text), inputs, ("f", ({},)))


def test_a_kernel_of_the_users_has_one_launch() -> None:
    (version,) = begun_step().versions
    (call,) = version.calls
    assert (call.launch.grid, call.launch.block, call.arrays) == ((2, 1, 1), (32, 1, 1), {"v": "v"})
    assert call.texts == ("n=60",) and call.launch.arguments == {"n": (60).to_bytes(4, "little")}
    with pytest.raises(UsageError):
        begun_with("__global__ void k(int *v) {}\n", ())


def test_inputs_are_made_as_arguments_of_simulate_are() -> None:
    inputs = make_inputs(("n=3", "v=iota:i32[n]"))
    assert inputs.numbers == {"n": 3} and inputs.arrays["v"].tolist() == [0, 1, 2]
