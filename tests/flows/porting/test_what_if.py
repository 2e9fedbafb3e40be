"""Other mappings of a port's kernels: all are tried, and each takes what a port with that mapping is predicted to."""

from __future__ import annotations

from math import prod
from pathlib import Path

import pytest

from tests.flows.porting.test_gain import ported
from warpsmith.flows.porting import what_if
from warpsmith.flows.porting.predicted import predict_port
from warpsmith.flows.porting.what_if import predict_mappings
from warpsmith.offload.plan import GainOptions, OffloadOptions
from warpsmith.report.model import KernelMappings

ALL = GainOptions(everything=True)
SCALE = """
void scale(int n, int m, double *restrict a, const double *restrict b) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            a[i * m + j] = 0.5 * b[i * m + j];
}
"""
SIZES = {"n": 3000, "m": 4000}


def mappings(text: str, folder: Path, sizes: dict[str, int] | None = None) -> tuple[KernelMappings, ...]:
    made = ported(text, folder, ALL, sizes=sizes)
    assert made.ported is not None
    return predict_mappings(made.prepared, made.ported, OffloadOptions(gain=ALL, sizes=sizes))


def test_all_axes_and_blocks_are_tried_and_rows_along_x_are_slow(tmp_path: Path) -> None:
    (found,) = mappings(SCALE, tmp_path, SIZES)
    assert found.complete and found.axes == (("i", "y"), ("j", "x"))
    tried = {(one.axes, one.block) for one in found.choices}
    assert len(tried) == len(found.choices) == 2 * 9 and (found.axes, found.block) in tried
    assert all(prod(one.block) == prod(found.block) for one in found.choices)
    first, last = found.choices[0], found.choices[-1]
    # the port's own is the first of those that tie
    assert (first.axes, first.block) == (found.axes, found.block)
    assert first.prediction.seconds is not None and last.prediction.seconds is not None
    assert last.prediction.seconds > 1.3 * first.prediction.seconds
    assert dict(last.axes)["i"] == "x" or last.block[0] < 8


def test_a_choice_takes_what_a_port_of_it_is_predicted_to_take(tmp_path: Path) -> None:
    (found,) = mappings(SCALE, tmp_path, SIZES)
    for axes, block in ((("x", "y"), (32, 8, 1)), (("y", "x"), (4, 64, 1)), (("y", "x"), (256, 1, 1))):
        step = f"map=scale/i,axes={':'.join(axes)},block={':'.join(map(str, block[:2]))}"
        made = ported(SCALE, tmp_path, ALL, sizes=SIZES, transforms=(step,))
        predicted = predict_port(made.prepared, made.ported, OffloadOptions(gain=ALL, sizes=SIZES))
        assert predicted is not None
        (one,) = [c for c in found.choices if c.axes == tuple(zip("ij", axes, strict=True)) and c.block == block]
        assert one.prediction.seconds == pytest.approx(predicted.kernels[0].seconds)


def test_what_combines_values_keeps_its_mapping_and_what_lacks_sizes_says_so(tmp_path: Path) -> None:
    text = "double f(const double *x) { double s = 0; for (int i = 0; i < 90000; i++) s += x[i]; return s; }"
    assert mappings(text, tmp_path) == ()
    (found,) = mappings(SCALE, tmp_path)
    assert found.choices == () and found.lacks == "the size of n, m"


def test_time_that_is_up_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(what_if, "_SECONDS", 1e-6)
    (found,) = mappings(SCALE, tmp_path, SIZES)
    assert not found.complete and found.lacks == "time"
