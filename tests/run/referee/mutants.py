"""Ways to get a CUDA port wrong.

A mutant is the correct port with one piece of text replaced. `race` names the array on which two threads must be
reported; `rule` the finding that must say it; neither: the mistake shows in the result, or as an access that is not
allowed. Comparisons that say too little (all objects left out, results that nobody sees) are in test_doubts.py.
"""

from __future__ import annotations

from msgspec import Struct

from tests.run.referee.mutant_programs import CHAIN_PORT


class Mutant(Struct, frozen=True):
    """`old` is replaced by `new` in the correct port of `program`; `race`: the array that must be named; `rule`: the
    first finding."""

    name: str
    program: str
    old: str
    new: str
    race: str | None = None
    rule: str | None = None


_UPDATE = "        A[i * N + j] -= t;"
_SERIAL_SCAN = CHAIN_PORT[CHAIN_PORT.index("    if (blockIdx.x == 0 && th") : CHAIN_PORT.index("__global__ void pairs")]
_SUM_START = CHAIN_PORT.index("    if (i == 0) {\n        float s")
_SERIAL_SUM = CHAIN_PORT[_SUM_START : CHAIN_PORT.index("    if (i < n && y_gpu[i] > 20)")]
_LAST_PAIR = "    if (i == n)\n        a_gpu[n] = b_gpu[n - 1] + e_gpu[n - 1];\n"
_TILE_SUM = "tile[t] + 2 * tile[t + 1] + tile[t + 2]"
_C_TO_DEVICE = "    cudaMemcpy(c_gpu, c, sizeof c, cudaMemcpyHostToDevice);\n"
_BARRIER = "    __syncthreads();\n"
_GUARD = "    if (i < N && j < N) {\n"
_MORE_OUT = """    {
        double *W;
        cudaMalloc((void **)&W, bytes + 16 * N);
        cudaMemcpy(W, A_gpu, bytes, cudaMemcpyDeviceToDevice);
        cudaMemcpy(A, W, bytes + 16 * N, cudaMemcpyDeviceToHost);
    }"""
_DIVIDE_TOO = "    if (i < N && j == k + 1)\n        A[i * N + k] *= 1.0 + 1e-9;\n"
_TO_HOST = "    cudaMemcpy(A, A_gpu, bytes, cudaMemcpyDeviceToHost);"
_TO_DEVICE = "    cudaMemcpy(A_gpu, A, bytes, cudaMemcpyHostToDevice);"
_INNER = "enum { INNER = N - 1 };\nstatic"
_LAUNCH = "        update<<<grid, block>>>(A_gpu, N, k);"
_STEP = "        step<<<blocks, BLOCK>>>(u_gpu, v_gpu, gain);\n"

MUTANTS: tuple[Mutant, ...] = (
    # the prefix sum run in parallel: right in ascending order
    Mutant(
        "wrong parallel scan",
        "chain",
        _SERIAL_SCAN,
        "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i == 0)\n        scan_gpu[0] = y_gpu[0];\n"
        "    else if (i < n)\n        scan_gpu[i] = scan_gpu[i - 1] + y_gpu[i];\n}\n\n",
        race="scan_gpu",
    ),
    Mutant(
        "s2244 run in parallel",
        "chain",
        "    if (i < n)\n        a_gpu[i] = b_gpu[i] + c_gpu[i];\n    if (i == n)\n"
        "        a_gpu[n] = b_gpu[n - 1] + e_gpu[n - 1];\n",
        "    if (i < n) {\n        a_gpu[i + 1] = b_gpu[i] + e_gpu[i];\n"
        "        a_gpu[i] = b_gpu[i] + c_gpu[i];\n    }\n",
        race="a_gpu",
    ),
    Mutant(
        "plain sum run in parallel",
        "chain",
        _SERIAL_SUM,
        "    if (i == 0)\n        *total_gpu = 0;\n    if (i < n)\n        *total_gpu += b_gpu[i];\n",
        race="total_gpu",
    ),
    Mutant("counter without atomics", "chain", "atomicAdd(hits_gpu, 1);", "*hits_gpu += 1;", race="hits_gpu"),
    Mutant("counter not set to zero", "chain", "    cudaMemset(hits_gpu, 0, sizeof hits);\n", ""),
    Mutant("read of memory that nobody wrote", "chain", _C_TO_DEVICE, ""),
    Mutant(
        "integers cut to a byte",
        "chain",
        "y_gpu[i] = 3 * x_gpu[i] + y_gpu[i];",
        "y_gpu[i] = (signed char)(40 * x_gpu[i] - 37 * x_gpu[i] + y_gpu[i] * 3) / 3;",
    ),
    Mutant("partial write copied out whole", "chain", _LAST_PAIR, ""),
    Mutant("wrong grid", "chain", "saxpy<<<(N + 63) / 64, 64>>>", "saxpy<<<N / 64, 64>>>"),
    Mutant(
        "swapped buffers",
        "chain",
        "saxpy<<<(N + 63) / 64, 64>>>(x_gpu, y_gpu, N)",
        "saxpy<<<(N + 63) / 64, 64>>>(y_gpu, x_gpu, N)",
    ),
    Mutant(
        "host memory in a kernel",
        "chain",
        "prefix<<<(N + 63) / 64, 64>>>(y_gpu, scan_gpu, N)",
        "prefix<<<(N + 63) / 64, 64>>>(y, scan_gpu, N)",
    ),
    Mutant("dropped copy in", "lu", _TO_DEVICE, ""),
    Mutant("dropped copy out", "lu", _TO_HOST, ""),
    Mutant("zeros returned", "lu", _TO_HOST, "    memset(A, 0, bytes);"),
    Mutant("half of the result copied out", "lu", _TO_HOST, _TO_HOST.replace("bytes", "bytes / 2")),
    Mutant("more copied out than was computed", "lu", _TO_HOST, _MORE_OUT),
    Mutant("guard too low", "lu", "if (i < N && j < N) {", "if (i < N && j < N - 1) {"),
    Mutant("guard too high", "lu", "if (i < N && j < N) {", "if (i <= N && j < N) {"),
    Mutant("host global in a kernel", "lu", _UPDATE, "        A[i * N + j] -= t * scale;"),
    Mutant(
        "temporary in global memory",
        "lu",
        "double t = A[i * N + k] * A[k * N + j];\n        A[i * N + j] -= t;",
        "device_temp = A[i * N + k] * A[k * N + j];\n        A[i * N + j] -= device_temp;",
        race="device_temp",
    ),
    Mutant(
        "the sequential loop in parallel",
        "lu",
        "update<<<grid, block>>>(A_gpu, N, k);",
        "update<<<grid, block>>>(A_gpu, N, k); update<<<grid, block>>>(A_gpu, N, 0);",
    ),
    Mutant(
        "division and update in one kernel",
        "lu",
        _GUARD,
        _DIVIDE_TOO + _GUARD,
        race="A_gpu",
    ),
    Mutant(
        "stale host read",
        "lu",
        "update<<<grid, block>>>(A_gpu, N, k);",
        "update<<<grid, block>>>(A_gpu, N, k); A[0] = A[1] + 1; cudaMemcpy(A_gpu, A, 8, cudaMemcpyHostToDevice);",
    ),
    Mutant("device memory read by the host", "lu", _TO_HOST, _TO_HOST + " A[0] = A_gpu[0];"),
    Mutant("missing barrier", "heat", _BARRIER, "", race="tile"),
    Mutant(
        "barrier that not all reach",
        "heat",
        "    __syncthreads();\n",
        "    if (t % 2)\n        __syncthreads();\n",
        race="tile",
    ),
    Mutant("wrong block size for the tile", "heat", "step<<<blocks, BLOCK>>>(", "step<<<blocks, 2 * BLOCK>>>("),
    Mutant("tile read past its end", "heat", _TILE_SUM, _TILE_SUM.replace("t + 2", "t + 3")),
    Mutant(
        "updated in place",
        "heat",
        "step<<<blocks, BLOCK>>>(u_gpu, v_gpu, gain)",
        "step<<<blocks, BLOCK>>>(u_gpu, u_gpu, gain)",
        race="u_gpu",
    ),
    Mutant(
        "shared temporary",
        "heat",
        f"double sum = {_TILE_SUM};\n        v_gpu[i] = gain * sum;",
        f"shared_temp = {_TILE_SUM};\n        v_gpu[i] = gain * shared_temp;",
        race="shared_temp",
    ),
    Mutant("one time step too few", "heat", "for (int t = 0; t < T; t++) {", "for (int t = 0; t < T - 1; t++) {"),
    Mutant("never launched", "heat", "        step<<<blocks, BLOCK>>>(u_gpu, v_gpu, gain);\n", ""),
    Mutant("single precision", "heat", "double sum = tile[t]", "float sum = tile[t]"),
    Mutant("single precision behind an uncertain number", "line", "a_gpu[i] = b", "a_gpu[i] = (float)b", rule="VER009"),
    Mutant("fused tokens", "lu", "/ *pivot", "/*pivot", rule="VER007"),
    Mutant("local enum as extent, another value", "heat", _INNER, "enum { INNER = N / 2 };\nstatic", rule="VER007"),
    Mutant("local enum as extent, absent", "heat", _INNER, "static", rule="VER001"),
)

# The compiler for the host folds the variable into a number, so that a run shows nothing; nvcc refuses it.
HOST_CONSTANTS: tuple[Mutant, ...] = (
    Mutant("kernel reads host global", "heat", "gain * sum", "2 * half * gain * sum", rule="VER049"),
    Mutant("kernel reads host constant by address", "heat", "gain * sum", "2 * *&half * gain * sum", rule="VER049"),
)

# Right, and slow: the counts of copies tell them from the correct port.
COPIES_IN_A_LOOP: tuple[Mutant, ...] = (
    Mutant("copy in a host loop", "lu", _LAUNCH, f"{_LAUNCH}\n    {_TO_HOST}"),
    Mutant("copies there and back in a host loop", "lu", _LAUNCH, f"{_LAUNCH}\n    {_TO_HOST}\n    {_TO_DEVICE}"),
)
