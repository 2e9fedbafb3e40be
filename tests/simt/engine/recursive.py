"""Kernels of CUDA C++ that call functions which call themselves, and how they are launched."""

from __future__ import annotations

import random
import struct
import tempfile
from pathlib import Path
from typing import Final

from msgspec import Struct

from tests.simt.engine.agree import Case
from warpsmith.kernels.units import KernelFile, KernelUnit, read_unit
from warpsmith.simt.launch import Launch
from warpsmith.ssa.nodes import Module
from warpsmith.ssa.reader import parse_module

__all__ = [
    "DANGLING", "DEEP", "ENDS", "FORGOTTEN", "LEFT", "OUTSIDE", "RECURSIVE", "UNWRITTEN",
    "Recursive", "case_of", "module_of", "text_case",
]  # fmt: skip

NUMBERS: Final = 64
OUT: Final = 256


class Recursive(Struct, frozen=True):
    """The text of `k(int *out, const int *in, int n)`, and `n`."""

    text: str
    n: int = 5


_FACTORIAL = """
__device__ unsigned fact(unsigned n) { return n < 2 ? 1u : n * fact(n - 1); }
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = fact(n + i % 4);
}
"""
_FIBONACCI = """
__device__ int fib(int n) { if (n < 2) return n; return fib(n - 1) + fib(n - 2); }
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = fib(n + in[i % 64] % 3);
}
"""
_ACKERMANN = """
__device__ int ack(int m, int n) {
    if (m == 0) return n + 1;
    if (n == 0) return ack(m - 1, 1);
    return ack(m - 1, ack(m, n - 1));
}
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = ack(i % 3, n % 3);
}
"""
_TREE = """
struct Node { int key; int left; int right; };
__device__ int walk(const int *tree, int at, int depth) {
    if (at < 0) return depth;
    int a = walk(tree, tree[3 * at + 1], depth + 1);
    int b = walk(tree, tree[3 * at + 2], depth + 1);
    return tree[3 * at] + (a > b ? a : b);
}
__global__ void k(int *out, const int *in, int n) {
    __shared__ int tree[3 * 15];
    if (threadIdx.x == 0)
        for (int i = 0; i < 15; i++) {
            tree[3 * i] = in[i];
            tree[3 * i + 1] = 2 * i + 1 < 15 && in[i] % 5 ? 2 * i + 1 : -1;
            tree[3 * i + 2] = 2 * i + 2 < 15 && in[i + 1] % 4 ? 2 * i + 2 : -1;
        }
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = walk(tree, i % 7, 0);
}
"""
_QUICKSORT = """
__device__ void sort(int *a, int low, int high) {
    if (low >= high) return;
    int pivot = a[high], at = low;
    for (int i = low; i < high; i++)
        if (a[i] < pivot) { int t = a[i]; a[i] = a[at]; a[at++] = t; }
    int t = a[at]; a[at] = a[high]; a[high] = t;
    sort(a, low, at - 1);
    sort(a, at + 1, high);
}
__global__ void k(int *out, const int *in, int n) {
    int mine[8], i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int j = 0; j < 8; j++) mine[j] = in[(i * 5 + j * 7) % 64] % 100;
    sort(mine, 0, i % 3 ? 7 : 5);
    int sum = 0;
    for (int j = 0; j < 8; j++) sum = sum * 3 + mine[j];
    out[i] = sum;
}
"""
_EVEN = """
__device__ bool odd(int n);
__device__ bool even(int n) { return n == 0 ? true : odd(n - 1); }
__device__ bool odd(int n) { return n == 0 ? false : even(n - 1); }
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i % 4 != 1) out[i] = even(n + i % 6) ? 10 : 20;
    else out[i] = odd(i % 5);
}
"""
_DEPTHS = """
__device__ float down(int n, float x) {
    if (n <= 0) return x;
    float made = n % 2 ? down(n - 1, x * 0.5f) : down(n - 2, x + 1.0f);
    return made - x / n;
}
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = __float_as_int(down(in[i % 64] % 9, (float)i));
}
"""
_LOOP = """
__device__ int pairs(int n, int lane) {
    int sum = 1;
    for (int i = 0; i < n; i++) {
        if ((i + lane) % 3 == 0) continue;
        sum += pairs(i, lane + 1);
        if (sum > 40) break;
    }
    return sum;
}
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
    for (int j = 0; j < i % 4; j++) {
        if (in[(i + j) % 64] % 2) sum += pairs(j + 2, i);
        else sum -= j;
    }
    out[i] = sum;
}
"""
_SWITCH = """
__device__ int run(int code, int n) {
    if (n == 0) return code;
    switch (code & 3) {
    case 0: return run(code >> 1, n - 1) + 1;
    case 1: return 3 * run(code >> 2, n - 1);
    case 2: code += run(code / 3, n - 1);
    default: break;
    }
    return code ^ run(code + 1, n - 1);
}
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = run(in[i % 64], n % 4);
}
"""
_ARRAYS = """
__device__ int fill(int *above, int n, int lane) {
    int own[3];
    for (int i = 0; i < 3; i++) own[i] = above[i] + n * i;
    own[lane % 3] += 7;
    if (n > 0) {
        if ((lane + n) % 2) own[0] += fill(own, n - 1, lane);
        else own[1] -= fill(own, n - 2, lane + 1);
    }
    above[n & 1] += own[2];
    return own[0] + 2 * own[1];
}
__global__ void k(int *out, const int *in, int n) {
    int mine[3] = {1, 2, 3}, i = blockIdx.x * blockDim.x + threadIdx.x;
    int made = fill(mine, in[i % 64] % n, i);
    out[i] = made * 11 + mine[0] * 5 + mine[1];
}
"""
_BARRIERS = """
__device__ int sum(const int *a, int low, int high) {
    if (high - low < 2) return a[low];
    int middle = (low + high) / 2;
    return sum(a, low, middle) + sum(a, middle, high);
}
__global__ void k(int *out, const int *in, int n) {
    __shared__ int tile[64];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    for (int round = 0; round < 2; round++) {
        tile[t % 64] = in[(i + round) % 64];
        __syncthreads();
        int made = t % 3 ? sum(tile, 0, 1 + t % 5) : 0;
        __syncthreads();
        out[i] = made + round;
    }
}
"""
_DOUBLES = """
__device__ double power(double x, long long n) {
    if (n == 0) return 1.0;
    double half = power(x, n / 2);
    return n % 2 ? half * half * x : half * half;
}
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = (int)power(1.0 + i % 3, in[i % 64] % 12);
}
"""
_ATOMICS = """
__device__ void count(int *sums, int n, int lane) {
    if (n == 0) return;
    atomicAdd(&sums[(n + lane) % 8], n);
    count(sums, n - 1, lane + 1);
    if (lane % 2) count(sums, n - 2 < 0 ? 0 : n - 2, lane);
}
__global__ void k(int *out, const int *in, int n) { count(out, n, threadIdx.x); }
"""
_STRIDED = """
__device__ void clear(int *out, int low, int high) {
    if (low >= high) return;
    out[low] = low * 3;
    clear(out, low + 1, high);
}
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    clear(out + i, 0, i % n == 0 ? 1 : 0);
    out[i] = 1;
}
"""

RECURSIVE: Final = {
    "factorial": Recursive(_FACTORIAL),
    "fibonacci": Recursive(_FIBONACCI, 4),
    "ackermann": Recursive(_ACKERMANN),
    "tree": Recursive(_TREE),
    "quicksort": Recursive(_QUICKSORT),
    "even": Recursive(_EVEN),
    "depths": Recursive(_DEPTHS),
    "loop": Recursive(_LOOP),
    "switch": Recursive(_SWITCH, 7),
    "arrays": Recursive(_ARRAYS),
    "barriers": Recursive(_BARRIERS),
    "doubles": Recursive(_DOUBLES),
    "atomics": Recursive(_ATOMICS),
    "strided": Recursive(_STRIDED),
}


# --- what must not be, and what C++ has no words for

_MAIN: Final = """
__global__ void k(int *out, const int *in, int n) { out[threadIdx.x] = run(n); }
"""
DEEP: Final = f"""
__device__ int run(int n) {{
    if (n == 0) return 0;
    return run(n - 1) + n;
}}{_MAIN}"""
OUTSIDE: Final = """
__device__ int run(int *a, int n) {
    if (n == 0) return 0;
    a[n * 100] = 3;
    return run(a, n - 1) + n;
}
__global__ void k(int *out, const int *in, int n) { out[threadIdx.x] = run(out, n); }
"""
DANGLING: Final = """
__device__ int *run(int n, int *above) {
    int a[4];
    for (int i = 0; i < 4; i++) a[i] = i;
    if (n == 0) return a + above[1];
    int *p = run(n - 1, a);
    return n > 1 ? p : a + *p;
}
__global__ void k(int *out, const int *in, int n) {
    int a[2] = {0, 1};
    out[threadIdx.x] = *run(n, a);
}
"""
FORGOTTEN: Final = """
__device__ int *run(int n) {
    int own[4] = {n, 2, 3, 4};
    int *q = own;
    if (n > 0) q = run(n - 1);
    if (*q > 5) q = nullptr;
    return q + n;
}
__global__ void k(int *out, const int *in, int n) { out[threadIdx.x] = run(n) != nullptr; }
"""
UNWRITTEN: Final = f"""
__device__ int run(int n) {{
    int a[4];
    a[n & 1] = 3;
    int sum = a[1] + a[2];
    return n ? sum + run(n - 1) : sum;
}}{_MAIN}"""
ENDS: Final = """
function @leave(n 4 align 4 i32, lane 4 align 4 i32) -> i32
start:
  %n:i32 = param [n+0]
  %lane:i32 = param [lane+0]
  %a:i32 = urem %lane 7:i32
  %p:i1 = eq %a %n
  branch %p gone stay
gone:
  exit
stay:
  %q:i1 = eq %n 0:i32
  branch %q back deeper
deeper:
  %m:i32 = sub %n 1:i32
  %made:i32 = call [@leave] %m %lane
  %more:i32 = add %made 1:i32
  %b:i32 = urem %more 5:i32
  %r:i1 = eq %b 3:i32
  branch %r gone back
back:
  %x:i32 = phi stay %lane deeper %more
  return %x
end
kernel @k(out 8 align 8 i64)
start:
  %out:i64 = param [out+0]
  %t:i32 = query [tid.x]
  %at:i64 = smulwide %t 4:i32
  %place:i64 = add %out %at
  jump top
top:
  %j:i32 = phi start 0:i32 again %i
  %n:i32 = sub 3:i32 %j
  %lane:i32 = add %t %j
  %made:i32 = call [@leave] %n %lane
  store [global +0 align 4] %place %made
  %c:i32 = urem %t 9:i32
  %p:i1 = eq %c %j
  branch %p some again
some:
  %other:i32 = call [@leave] 2:i32 %made
  store [global +0 align 4] %place %other
  jump again
again:
  %i:i32 = add %j 1:i32
  %q:i1 = slt %i 3:i32
  branch %q top done
done:
  barrier 0:i32
  store [global +0 align 4] %place %t
  return
end
"""
LEFT: Final = """
function @leave(n 4 align 4 i32, lane 4 align 4 i32)
start:
  %n:i32 = param [n+0]
  %lane:i32 = param [lane+0]
  jump head
head:
  %i:i32 = phi start 0:i32 more %next
  %a:i1 = sgt %n 0:i32
  %b:i1 = eq %i 0:i32
  %p:i1 = and %a %b
  branch %p deeper test
deeper:
  %m:i32 = sub %n 1:i32
  call [@leave] %m %lane
  jump test
test:
  %r:i32 = urem %lane 4:i32
  %c:i1 = eq %r %n
  branch %c gone more
more:
  %next:i32 = add %i 1:i32
  %q:i1 = slt %next 2:i32
  branch %q head back
gone:
  %x:i32 = add %lane 1:i32
  exit
back:
  return
end
kernel @k(out 8 align 8 i64)
start:
  %t:i32 = query [tid.x]
  call [@leave] 2:i32 %t
  %out:i64 = param [out+0]
  %at:i64 = smulwide %t 4:i32
  %place:i64 = add %out %at
  store [global +0 align 4] %place %t
  return
end
"""
"""Lanes leave a loop for good in one call, and others the same loop in the call around it."""


def module_of(text: str) -> Module:
    """Return the module of a kernel in CUDA C++, another one each time: what is compiled is kept by its functions."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernel.cu"
        path.write_text(text)
        unit = read_unit(KernelFile(str(path)))
    assert isinstance(unit, KernelUnit), unit
    return unit.module


def case_of(one: Recursive, width: int = 32, threads: int = 40, blocks: int = 2, **more: int) -> Case:
    """Return a launch of a kernel."""
    chosen = random.Random(one.text)
    numbers = struct.pack(f"<{NUMBERS}i", *(chosen.randrange(1000) for _ in range(NUMBERS)))
    arrays = {"out": (bytes(4 * OUT), True), "in": (numbers, True)}
    arguments = {"n": struct.pack("<i", one.n)}
    launch = Launch((blocks, 1, 1), (threads, 1, 1), arguments, warp=width, max_steps=more.get("max_steps", 3_000_000))
    return Case(module_of(one.text), "k", launch, arrays)


def text_case(text: str, width: int, threads: int = 40) -> Case:
    """Return a launch of `k(out)` in the text form of the kernel IR."""
    launch = Launch(block=(threads, 1, 1), warp=width, max_steps=3_000_000)
    return Case(parse_module(text), "k", launch, {"out": (bytes(4 * OUT), True)})
