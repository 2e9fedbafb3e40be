"""What is rewritten is counted before and after, and compared."""

from __future__ import annotations

import pytest

from tests.flows.journey.begun import begun_step, begun_with, reference_of_step, settings
from warpsmith.flows.journey import rewritten
from warpsmith.flows.journey.followed import follow_all
from warpsmith.flows.journey.origin import Begun
from warpsmith.flows.journey.ran import find_reference
from warpsmith.flows.journey.rewritten import rewrite
from warpsmith.flows.journey.versions import hand_version
from warpsmith.report.journey.model import RewriteRow

# columns of the tile lie in one bank each
COLUMNS = """__global__ void k(float *out, const float *in)
{
    __shared__ float tile[32][32];
    for (int j = 0; j < 32; j += 8)
        tile[threadIdx.y + j][threadIdx.x] = in[(threadIdx.y + j) * 32 + threadIdx.x];
    __syncthreads();
    for (int j = 0; j < 32; j += 8)
        out[(threadIdx.y + j) * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y + j];
}
"""
BLOCK = (32, 8, 1)


def _columns() -> Begun:
    return begun_with(COLUMNS, ("in=iota:f32[1024]", "out=zeros:f32[1024]"), BLOCK, 1)


def _row(begun: Begun) -> RewriteRow:
    followed = follow_all(begun.versions, begun.inputs.arrays)
    return rewrite(begun, followed, find_reference(begun), settings()).rows[0]


def test_a_kernel_without_fixes_says_that_there_is_nothing_to_gain() -> None:
    begun = begun_step()
    followed = follow_all(begun.versions, begun.inputs.arrays)
    (row,) = rewrite(begun, followed, reference_of_step(), settings()).rows
    assert row.why.startswith("nothing to gain") and row.before is not None and row.after is None


def test_a_fix_is_counted_and_compared() -> None:
    row = _row(_columns())
    assert row.steps == ("MEM010",) and "tile[32][33]" in row.text
    assert row.verdict == "equal" and row.before is not None and row.after is not None
    assert (row.before.bank_conflicts, row.after.bank_conflicts) == (32 * 31, 0)


@pytest.mark.parametrize(
    ("new", "verdict"), [("tile[threadIdx.x ^ 1]", "differs"), ("tile[threadIdx.x + 64]", "stopped")]
)
def test_a_rewriting_that_is_wrong_is_seen(new: str, verdict: str, monkeypatch: pytest.MonkeyPatch) -> None:
    original = hand_version

    def spoiled(name: str, wanted: object, values: tuple[str, ...]) -> object:
        file = wanted.file  # type: ignore[attr-defined]
        text = file.text.replace("tile[threadIdx.x]", new)
        replaced = type(file)(file.path, text=text)
        return original(name, type(wanted)(replaced, block=BLOCK, grid=(1, 1, 1)), values)  # type: ignore[call-arg,arg-type]

    begun = _columns()
    monkeypatch.setattr(rewritten, "hand_version", spoiled)
    assert _row(begun).verdict == verdict
