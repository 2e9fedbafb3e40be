"""Launches in OpenCL's host code, on random programs: what is known of them is what runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.front.clang.device.launches.host_programs import host_program, observed_launches
from tests.front.clang.device.launches.opencl_hosts import sites

RANDOM = """#include <CL/cl.h>
#include <algorithm>
using std::min; using std::max;
struct dim3 { unsigned x, y, z; dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {} };
#define LAUNCH(n, g, b) do { dim3 ws_block = b; size_t ws_local[3] = {ws_block.x, ws_block.y, ws_block.z}; \\
    size_t ws_global[3] = {64, 64, 64}; \\
    clEnqueueNDRangeKernel(0, clCreateKernel(0, #n, 0), 3, 0, ws_global, ws_local, 0, 0, 0); } while (0)
"""


def check_random(seeds: range, folder: Path) -> int:
    """Compare what is said of random programs with what they do; return how many blocks are known."""
    known = 0
    for seed in seeds:
        text = host_program(seed)
        said = {int(site.kernel): site for site in sites(folder, RANDOM + text, "host.cpp") if site.kernel}
        for number, seen in observed_launches(text, folder).items():
            runs = {(x, y, z) for x, y, z, *_ in seen if 0 < x * y * z <= 1024}
            site = said.get(number)
            if site is None:
                continue  # told as a launch of any kernel
            assert all(b in (None, s) for one in runs for b, s in zip(site.block, one, strict=True)), (seed, number)
            assert not site.complete or runs <= {*site.blocks, site.block}, (seed, number)
            known += None not in site.block
    return known


@pytest.mark.slow
def test_random_programs_launch_with_what_is_known(tmp_path: Path) -> None:
    assert check_random(range(3), tmp_path) > 2


@pytest.mark.slow
def test_more_random_programs(tmp_path: Path) -> None:
    assert check_random(range(300, 360), tmp_path) > 50
