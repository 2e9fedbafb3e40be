"""Textbook kernels with a race, each with a twin that has none; lines whose accesses meet end in `// meets`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from warpsmith.analysis.kernel import examine
from warpsmith.analysis.uniformity.facts import KernelFacts, RaceFact
from warpsmith.base.findings import Finding
from warpsmith.kernels.shape import Launching, shape_of
from warpsmith.kernels.units import KernelFile, KernelUnit, read_unit
from warpsmith.machine.devices import device
from warpsmith.settings.read import Wanted, read_settings

__all__ = ["MEETS", "PAIRS", "facts_of", "lines_of", "text_of", "unit_of"]

MEETS: Final = "// meets"

_REDUCE = """(const float *in, float *out) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
    for (int k = 32; k > 0; k /= 2) {
        if (t < k)
            s[t] += s[t + k]; // meets
        BARRIER
    }
    out[t] = s[0]; // meets
}"""
_SCAN = """(const int *in, int *out) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
    for (int k = 1; k < 64; k *= 2) {
        int v = t >= k ? s[t - k] : 0; // meets
        BARRIER
        s[t] += v; // meets
        __syncthreads();
    }
    out[t] = s[t];
}"""
_FILL = """(const float *in, float *out) {
    __shared__ float s[256];
    int t = threadIdx.x;
    for (int i = t; i < 256; i += blockDim.x)
        s[i] = in[i]; // meets
    BARRIER
    out[t] = s[255 - t]; // meets
}"""
_TILE = """(const float *a, float *b, int n) {
    __shared__ float s[64];
    int t = threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; k += 64) {
        s[t] = a[k + t]; // meets
        __syncthreads();
        for (int j = 0; j < 64; j++)
            sum += s[j]; // meets
        BARRIER
    }
    b[t] = sum;
}"""
_COUNT = """(const int *in, int *bins, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        COUNT
}"""
_TOTAL = """(const int *in, int *total, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i] > 0)
        COUNT
}"""
_ONE = """(const float *in, float *out) {
    __shared__ float m;
    int t = threadIdx.x;
    if (t == 0)
        m = in[0]; // meets
    BARRIER
    out[t] = in[t] / m; // meets
}"""
_OTHER_BLOCK = """(float *a, float *b) {
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    a[i] = i; // meets
    __syncthreads();
    b[i] = a[PLACE]; // meets
}"""
_WARP = """(const float *in, float *out) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
    for (int k = 16; k > 0; k /= 2) {
        float v = s[t ^ k]; // meets
        BARRIER
        s[t] += v; // meets
        __syncwarp();
    }
    out[t] = s[t];
}"""
_STENCIL = """(float *a, float *b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n - 1)
        WHERE[i] = (a[i - 1] + a[i + 1]) / 2; // meets
}"""
_TRANSPOSE = """(float *a, float *b, int n) {
    int x = blockIdx.x * 8 + threadIdx.x % 8, y = threadIdx.x / 8;
    if (x < n && y < n)
        WHERE[x * n + y] = a[y * n + x]; // meets
}"""
_BITONIC = """(int *v) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = v[t];
    __syncthreads();
    for (int k = 2; k <= 64; k *= 2)
        for (int j = k / 2; j > 0; j /= 2) {
            int o = t ^ j;
            int mine = s[t], other = s[o]; // meets
            BARRIER
            s[t] = ((t & k) == 0) == (t < o) ? min(mine, other) : max(mine, other); // meets
            __syncthreads();
        }
    v[t] = s[t];
}"""
_SYNC = ("", "__syncthreads();")

PAIRS: Final[Mapping[str, tuple[str, str, tuple[str, str]]]] = {
    "reduce": (_REDUCE, "BARRIER", _SYNC),
    "scan": (_SCAN, "BARRIER", _SYNC),
    "fill": (_FILL, "BARRIER", _SYNC),
    "tile": (_TILE, "BARRIER", _SYNC),
    "count": (_COUNT, "COUNT", (f"bins[in[i]]++; {MEETS}", "atomicAdd(&bins[in[i]], 1);")),
    "total": (_TOTAL, "COUNT", (f"*total += 1; {MEETS}", "atomicAdd(total, 1);")),
    "one": (_ONE, "BARRIER", _SYNC),
    "other_block": (_OTHER_BLOCK, "PLACE", ("127 - i", "i - t + 63 - t")),
    "warp": (_WARP, "BARRIER", ("", "__syncwarp();")),
    "stencil": (_STENCIL, "WHERE", ("a", "b")),
    "transpose": (_TRANSPOSE, "WHERE", ("a", "b")),
    "bitonic": (_BITONIC, "BARRIER", _SYNC),
}  # fmt: skip
"""Name → text, what in it is replaced, by what in the kernel that races, and by what in its twin."""


def text_of(name: str, *, races: bool) -> str:
    """Return one of the kernels, named `racy` or `calm`."""
    text, what, (racy, calm) = PAIRS[name]
    return f"__global__ void {'racy' if races else 'calm'}{text.replace(what, racy if races else calm)}\n"


def unit_of(folder: Path, text: str, name: str = "k.cu") -> KernelUnit:
    """Return the kernels of a text."""
    (folder / name).write_text(text)
    unit = read_unit(KernelFile(str(folder / name)))
    assert not isinstance(unit, Finding)
    return unit


def facts_of(unit: KernelUnit, launching: Launching | None = None) -> KernelFacts:
    """Return what the text of the only kernel tells, launched in blocks of 64 threads where nothing else is said."""
    (kernel,) = (one for one in unit.module.functions if one.kernel)
    settings = read_settings(Wanted({}, None, files=False, environment=False))
    shape = shape_of(kernel, kernel.name, launching or Launching((64, 1, 1)), settings, None)
    return examine(unit.module, kernel.name, shape, device("sm_80"))


def lines_of(race: RaceFact) -> set[int]:
    """Return the lines of the two accesses."""
    spans = (race.first.access.span, race.second.access.span)
    return {span.line for span in spans if span is not None}
