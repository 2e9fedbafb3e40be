"""What `analyze` says comes with its figures, the gravest first."""

from __future__ import annotations

from msgspec.structs import replace

from tests.flows.journey.begun import begun_step, begun_with, settings
from warpsmith.flows.journey.found import explain_options, find

BARRIER = """__global__ void k(int *v, int n)
{
    __shared__ int s[32];
    s[threadIdx.x] = v[threadIdx.x * 32];
    if (threadIdx.x < n)
        __syncthreads();
    v[threadIdx.x] = s[31 - threadIdx.x];
}
"""


def test_a_kernel_without_mistakes_is_proven_to_have_no_races() -> None:
    stage = find(begun_step(), settings())
    (figures,) = stage.figures
    assert figures.kernel == "step" and figures.races.startswith("none, proven")
    assert not [one for one in stage.findings if one.severity == "error"]


def test_errors_come_before_what_is_slow() -> None:
    stage = find(begun_with(BARRIER, ("n=5", "v=zeros:i32[1024]"), blocks=1), settings())
    assert stage.findings[0].rule.startswith("SYN")
    assert any(one.rule == "MEM001" and one.line == 4 for one in stage.findings)
    ranks = [("error", "warning", "note").index(one.severity) for one in stage.findings]
    assert ranks == sorted(ranks)


def test_numbers_that_all_launches_share_are_known() -> None:
    # with n = 0 every thread that is there would write one element
    text = "__global__ void k(int *v, int n) { v[threadIdx.x * n] = threadIdx.x; }\n"
    version = begun_with(text, ("n=2", "v=zeros:i32[64]"), blocks=1).versions[0]
    assert explain_options(version, settings()).launching.arguments == {"n": 2}
    (call,) = version.calls
    calls = tuple(replace(call, texts=(f"n={n}", "m=-7", "by=0.5")) for n in (2, 3))
    assert explain_options(replace(version, calls=calls), settings()).launching.arguments == {"m": -7}
