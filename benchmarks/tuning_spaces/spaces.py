"""The recorded kernels: where they lie in a checkout of benchmark_hub, and how a configuration launches them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, Literal

from msgspec import Struct, field

from warpsmith.analysis.uniformity.facts import Dim

__all__ = ["FITTING_DEVICES", "SPACES", "Configuration", "Space", "text_of"]

Configuration = Mapping[str, int]
"""A value for each tuning parameter."""

FITTING_DEVICES: Final = frozenset({"a4000", "rtx2080ti"})
"""Devices that are for fitting, with the kernels that are."""


class Space(Struct, frozen=True):
    """A kernel with the times of its configurations. `sources`: files that are put together; `records`: for each device
    of devices.toml the recorded times; `launch`: block and grid of a configuration; `kept`: configurations that the
    source can be built for; `fitting`: the kernel is not held out."""

    name: str
    kernel: str
    language: Literal["cuda", "opencl"]
    sources: tuple[str, ...]
    records: Mapping[str, str]
    launch: Callable[[Configuration], tuple[Dim, Dim]]
    fitting: bool
    arguments: Mapping[str, int] = field(default_factory=dict)
    include: str = ""
    kept: Callable[[Configuration], bool] = lambda configuration: True

    def is_fitting(self, device: str) -> bool:
        """Whether the times of a device may be looked at."""
        return self.fitting and device in FITTING_DEVICES


def text_of(space: Space, hub: Path, configuration: Configuration) -> str:
    """Return the source of a kernel as Kernel Tuner compiles it: parameters as defines in front; an unroll factor of 0
    leaves the loop to the compiler."""
    text = "".join((hub / source).read_text("latin-1") for source in space.sources)
    for name, value in configuration.items():
        if name.startswith("loop_unroll_factor") and value == 0:
            text = re.sub(rf"\n\s*#pragma\s+unroll\s+{name}\b", "\n", text)
    return "".join(f"#define {name} {value}\n" for name, value in configuration.items()) + text


def _over(size: int, *parts: int) -> int:
    """Return how many blocks cover a size."""
    width = 1
    for part in parts:
        width *= part
    return -(-size // width)


def _convolution(c: Configuration) -> tuple[Dim, Dim]:
    x, y = c["block_size_x"], c["block_size_y"]
    return (x, y, 1), (_over(4096, x, c["tile_size_x"]), _over(4096, y, c["tile_size_y"]), 1)


def _dedispersion(c: Configuration) -> tuple[Dim, Dim]:
    x, y = c["block_size_x"], c["block_size_y"]
    return (x, y, 1), (_over(25_000, x), _over(2048, y), 1)


def _pnpoly(c: Configuration) -> tuple[Dim, Dim]:
    return (c["block_size_x"], 1, 1), (_over(20_000_000, c["block_size_x"], c["tile_size"]), 1, 1)


def _gemm(c: Configuration) -> tuple[Dim, Dim]:
    return (c["MDIMC"], c["NDIMC"], 1), (_over(4096, c["MWG"]), _over(4096, c["NWG"]), 1)


_UNUSED: Final = "currently_unused/cachefiles/KernelTuner data"
_OF_UNUSED: Final = {
    "rtx2080ti": "RTX_2080_Ti", "rtx3090": "RTX_3090", "titan-rtx": "RTX_Titan", "rtx3060-laptop": "RTX_3060_laptop",
}  # fmt: skip
_GEMM: Final = "currently_unused/kernels/gemm"


def _unused(kernel: str) -> Mapping[str, str]:
    return {device: f"{_UNUSED}/{kernel}/{name}.json.gz" for device, name in _OF_UNUSED.items()}


def _used(kernel: str) -> Mapping[str, str]:
    named = {"a4000": "A4000", "a6000": "A6000", "a100-pcie": "A100"}
    return {device: f"cachefiles/{kernel}/{name}.json.gz" for device, name in named.items()}


SPACES: Final = (
    Space("convolution_milo", "convolution_kernel", "cuda", ("kernels/convolution_milo.cu",), _used("convolution_milo"),
          _convolution, True, kept=lambda c: c["use_shmem"] == 1),
    Space("convolution", "convolution_kernel", "cuda", ("currently_unused/kernels/convolution.cu",),
          _unused("convolution"), _convolution, True),
    Space("dedispersion_milo", "dedispersion_kernel", "cuda", ("kernels/dedisp_milo/dedispersion.cu",),
          _used("dedispersion_milo"), _dedispersion, True, include="kernels/dedisp_milo"),
    Space("pnpoly", "cn_pnpoly", "cuda", ("currently_unused/kernels/pnpoly.cu",), _unused("pnpoly"), _pnpoly, False,
          {"n": 20_000_000}),
    Space("gemm", "Xgemm", "opencl",
          tuple(f"{_GEMM}/{name}.opencl" for name in ("common", "xgemm_part1", "xgemm_part2", "xgemm_part3")),
          _unused("gemm"), _gemm, False, {"kSizeM": 4096, "kSizeN": 4096, "kSizeK": 4096}),
)  # fmt: skip
"""All that is read: not the second, smaller record of convolution_milo on the A4000, nor the older one on the A6000."""
