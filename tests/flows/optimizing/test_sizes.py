"""Which sizes a prediction lacks, by the names that the user knows."""

from __future__ import annotations

from pathlib import Path

from tests.flows.optimizing.begun import begin
from warpsmith.flows.optimizing.scored import predict_kernels
from warpsmith.flows.optimizing.sizes import find_missing

TEXT = """
void f(int rows, int inner, double a, double *restrict x, const double *restrict y) {
    for (int i = 0; i < rows; i++)
        for (int k = 0; k < inner; k++)
            x[i] += a * y[k];
}
"""


def missing(folder: Path, sizes: dict[str, int]) -> set[str]:
    from msgspec.structs import replace

    from tests.flows.optimizing.begun import OPTIONS

    begun = begin(TEXT, folder, options=replace(OPTIONS, sizes=sizes))
    planned = begun.root.planned
    predicted = predict_kernels(planned, begun.shared.times)
    (fragment,) = planned.port.plan.fragments
    launched = planned.estimate.kernels.get(fragment.kernel.name)
    return set(find_missing(fragment.kernel, predicted[fragment.region][0], launched))


def test_sizes_of_launches_and_of_loops_are_named_until_all_are_known(tmp_path: Path) -> None:
    assert "rows" in missing(tmp_path, {})
    assert missing(tmp_path, {"rows": 5000}) == {"inner"}
    assert missing(tmp_path, {"rows": 5000, "inner": 300}) == set()
