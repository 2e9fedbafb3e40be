"""A CUDA file with kernels, read once for the tests of this folder."""

from __future__ import annotations

import functools

from warpsmith.kernels.units import KernelFile, KernelUnit, read_unit
from warpsmith.ssa.nodes import Function

TEXT = """struct pair { int a; float b; };
__global__ void scale(float *data, int n, float by) { if (threadIdx.x < n) data[threadIdx.x] *= by; }
__global__ void scan(const double *in, unsigned long n, pair p) { }
__global__ __launch_bounds__(128) void bytes(unsigned char *b, short s, bool flag) { b[0] = s; }
__global__ void twice(int *x) { x[0] = 1; }
__global__ void fetch(float *out, cudaTextureObject_t t) { out[threadIdx.x] = tex2D<float>(t, threadIdx.x, 1.5f); }
__device__ int helper(int x) { return x; }
int main() {
  scale<<<10, 64>>>(0, 1, 2); scale<<<20, 64>>>(0, 1, 2);
  scan<<<dim3(2, 3), dim3(8, 4), 256>>>(0, 1, pair());
  int n; twice<<<n, n>>>(0);
}
"""


@functools.cache
def unit() -> KernelUnit:
    read = read_unit(KernelFile("k.cu", text=TEXT))
    assert isinstance(read, KernelUnit)
    return read


def kernel(name: str) -> Function:
    return next(f for f in unit().module.functions if f.name == name or f.name.startswith(f"_Z{len(name)}{name}"))
