"""The comparison with recorded tuning spaces, on records and a kernel that we made up."""

from __future__ import annotations

import gzip
import itertools
import json
import random
from pathlib import Path

import pytest
from benchmarks.tuning_spaces.predicted import predict_configuration, read_kernel
from benchmarks.tuning_spaces.ranking import rank, tau_b
from benchmarks.tuning_spaces.records import draw, read_records
from benchmarks.tuning_spaces.spaces import FITTING_DEVICES, SPACES, Space, text_of

from warpsmith.machine.devices import device

KERNEL = """
#if loop_unroll_factor_k > 0
#error it is 0
#endif
extern "C" __global__ void scale(float *a, int n) {
    #pragma unroll loop_unroll_factor_k
    for (int k = 0; k < work; k++) {
        int i = (blockIdx.x * work + k) * block_size_x + threadIdx.x;
        if (i < n) a[i * stride] *= 2;
    }
}
"""
SPACE = Space(
    "scale", "scale", "cuda", ("scale.cu",), {"a100": "a.json.gz"},
    lambda c: ((c["block_size_x"], 1, 1), (-(-(1 << 17) // (c["block_size_x"] * c["work"])), 1, 1)), True,
    {"n": 1 << 17}, kept=lambda c: c["stride"] < 9,
)  # fmt: skip
NAMES = ("block_size_x", "work", "stride", "loop_unroll_factor_k")


def hub(folder: Path, rows: dict[tuple[int, ...], object]) -> Path:
    cache = {
        ",".join(map(str, key)): dict(zip(NAMES, key, strict=True))
        | ({"time": time} if isinstance(time, str) else time)
        for key, time in rows.items()
        if isinstance(time, str | dict)
    }
    (folder / "a.json.gz").write_bytes(gzip.compress(json.dumps({"tune_params_keys": NAMES, "cache": cache}).encode()))
    (folder / "scale.cu").write_text(KERNEL)
    return folder


def test_records_are_what_ran_and_can_be_built(tmp_path: Path) -> None:
    rows: dict[tuple[int, ...], object] = {
        (128, 1, 1, 0): {"time": 9.0, "times": [1.0, 3.0]},
        (256, 1, 1, 0): {"time": 4.0},
        (512, 1, 1, 0): "RuntimeFailedConfig",
        (128, 1, 9, 0): {"time": 1.0},
    }
    found = read_records(SPACE, hub(tmp_path, rows) / "a.json.gz")
    assert {key: record.seconds for key, record in found.items()} == {"128,1,1,0": 2e-3, "256,1,1,0": 4e-3}
    assert found["128,1,1,0"].configuration == dict(zip(NAMES, (128, 1, 1, 0), strict=True))


def test_a_sample_is_the_same_each_time_and_for_each_device() -> None:
    keys = {str(n) for n in range(50)}
    one = draw(SPACE, keys, 20)
    assert one == draw(SPACE, {str(n) for n in range(49, -1, -1)}, 20) and len(set(one)) == 20 and set(one) <= keys
    assert draw(SPACE, keys, 99) != sorted(keys) and len(draw(SPACE, keys, 99)) == 50


@pytest.mark.parametrize("seed", range(20))
def test_tau_counts_pairs(seed: int) -> None:
    chosen = random.Random(seed)
    one, other = ([float(chosen.randrange(6)) for _ in range(9)] for _ in range(2))
    pairs = list(itertools.combinations(range(9), 2))
    same = sum((one[a] - one[b]) * (other[a] - other[b]) > 0 for a, b in pairs)
    against = sum((one[a] - one[b]) * (other[a] - other[b]) < 0 for a, b in pairs)
    untied = [sum(row[a] != row[b] for a, b in pairs) for row in (one, other)]
    assert tau_b(one, other) == pytest.approx((same - against) / (untied[0] * untied[1]) ** 0.5)


def test_tau_at_its_ends() -> None:
    assert tau_b([1, 2, 3], [10, 20, 30]) == 1 and tau_b([1, 2, 3], [3, 2, 1]) == -1 and tau_b([1, 1], [1, 2]) is None


def test_regret_is_of_what_the_model_likes_best() -> None:
    found = rank([2.0, 1.0, 4.0], [5.0, 6.0, 10.0])
    assert [found.regret, found.mean, found.median] == pytest.approx([0.2, 0.4, 0.2])
    assert found.off == pytest.approx(2.5) and found.bias == pytest.approx((2 / 5 * 1 / 6 * 4 / 10) ** (1 / 3))
    # of two that it likes as much either is taken
    assert rank([1.0, 1.0], [2.0, 4.0]).regret == pytest.approx(0.5)
    with pytest.raises(ValueError, match="nothing"):
        rank([], [])


def test_configurations_are_predicted_from_their_source(tmp_path: Path) -> None:
    folder, seconds = hub(tmp_path, {}), list[float]()
    for stride in (1, 8):
        configuration = dict(zip(NAMES, (256, 4, stride, 0), strict=True))
        assert "unroll loop_unroll" not in text_of(SPACE, folder, configuration)
        read = read_kernel(SPACE, folder, configuration)
        assert not isinstance(read, str)
        said = predict_configuration(SPACE, read, configuration, [device("a100"), device("a4000")])
        assert len(said) == 2 and all(one.prediction is not None for one in said), said
        seconds += [one.prediction.terms.memory for one in said if one.prediction is not None]
    # a float of each sector is asked for in place of eight, and the A4000 has a third of the bandwidth
    assert seconds[2] > 3 * seconds[0] and seconds[1] > 2 * seconds[0]


def test_a_source_that_cannot_be_read_has_a_reason(tmp_path: Path) -> None:
    folder = hub(tmp_path, {})
    (folder / "scale.cu").write_text("__global__ void other() {}")
    read = read_kernel(SPACE, folder, dict(zip(NAMES, (256, 4, 1, 1), strict=True)))
    assert read == "there is no kernel scale"


def test_what_is_held_out_is_so_by_kernel_or_by_device() -> None:
    held = {(s.name, d) for s in SPACES for d in s.records if not s.is_fitting(d)}
    kept = {(s.name, d) for s in SPACES for d in s.records} - held
    assert kept == {("convolution_milo", "a4000"), ("convolution", "rtx2080ti"), ("dedispersion_milo", "a4000")}
    assert {d for _, d in kept} == FITTING_DEVICES and {"pnpoly", "gemm"}.isdisjoint(name for name, _ in kept)
    assert all(device(d) for s in SPACES for d in s.records)
