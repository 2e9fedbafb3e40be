"""Every target of `lower` has a row: its text, or the line that it cannot take."""

from __future__ import annotations

from tests.flows.journey.begun import begun_step, begun_with, written_step
from warpsmith.flows.journey.written import ORDER, Texts, write_targets
from warpsmith.flows.lower import TARGETS

SHARED = """__global__ void k(int *v)
{
    __shared__ int s[32];
    s[threadIdx.x] = v[0];
    v[threadIdx.x] = s[1];
}
"""


def test_no_target_is_left_out() -> None:
    stage, texts = written_step()
    assert set(ORDER) == set(TARGETS) == {row.target for row in stage.rows}
    for row in stage.rows:
        assert bool(row.text) != bool(row.why), row
        assert row.lines == 0 or row.lines <= len(row.text.splitlines())
    kernel = begun_step().versions[0].kernels[0].name
    assert set(texts["yours"]) == {(kernel, target) for target in ORDER}


def test_what_a_target_cannot_take_has_its_line() -> None:
    begun = begun_with(SHARED, ("v=zeros:i32[64]",))
    texts: dict[str, Texts] = {}
    why = {row.target: row.why for row in write_targets(begun, texts).rows}
    assert why["mask"].startswith("k.cu:3:") and "shared memory" in why["mask"]
    assert why["brook"].startswith("k.cu:") and not why["ptx"]
