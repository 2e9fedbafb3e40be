"""What accesses depend on: parameters, memory, the grid, through conditions, joins and barriers."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.flows.witness.kernels import unit_of
from warpsmith.flows.witness.dependence import Origins, origins

HEAD = "__shared__ int s[64]; int t = threadIdx.x, o = 0;"


def of(folder: Path, body: str) -> Origins:
    """Return what the store of a kernel to `s` depends on; `in` and `out` are arrays, `n` and `m` numbers."""
    unit = unit_of(
        folder, f"__global__ void k(int *in, int *out, int n, int m) {{ {HEAD} {body} out[t] = s[63 - t]; }}"
    )
    (kernel,) = (one for one in unit.module.functions if one.kernel)
    (store,) = (i for _, i in kernel.instructions() if i.op == "store" and i.detail.space == "shared")  # type: ignore[union-attr]
    return origins(kernel, [store], frozenset({"in", "out"}))


@pytest.mark.parametrize(
    ("body", "places", "reached"),
    [
        ("s[t] = n;", set(), set()),
        ("s[t + n] = 0;", {"n"}, {"n"}),
        ("s[in[t]] = 0;", {"memory"}, {"memory"}),
        ("if (t < n) s[t] = 0;", set(), {"n"}),
        ("if (t < n) { if (m) s[t] = 0; }", set(), {"n", "m"}),
        ("if (n > 3) return; s[t] = 0;", set(), {"n"}),
        ("for (int i = 0; i < n; i++) s[t] = i;", set(), {"n"}),
        ("for (int i = 0; i < n; i++) s[i] = i;", set(), {"n"}),
        ("if (n > 3) o = m; s[t + o] = 0;", {"m"}, {"n", "m"}),
        ("s[t] = 0; if (m > 3) __syncthreads();", set(), {"m"}),
        ("s[t + gridDim.x] = 0;", {"grid"}, {"grid"}),
        ("s[t + blockIdx.x % 2] = 0;", {"blocks"}, {"blocks"}),
        ("if (n > 3) out[t + 99] = m; s[t] = 0;", set(), set()),
    ],
)
def test_what_decides(body: str, places: set[str], reached: set[str], tmp_path: Path) -> None:
    found = of(tmp_path, body)
    assert (set(found.places), set(found.reached)) == (places, reached)
    assert found.all == places | reached
