"""The vocabulary of a kernel's language: a rule makes its sentences from these words.

              CUDA                   OpenCL
thread(x)     threadIdx.x            get_local_id(0)
barrier       __syncthreads()        barrier(CLK_LOCAL_MEM_FENCE)
shared        shared                 local
private       local                  private

PTX has no functions of its own for these: what is said of it names those of CUDA.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from msgspec import Struct

__all__ = ["CUDA", "OPENCL", "Vocabulary", "vocabulary"]

Axis = Literal["x", "y", "z"]

_ELEMENTARY: Final = ("sin", "cos", "tan", "exp", "exp10", "log", "log2", "log10")


class Vocabulary(Struct, frozen=True):
    """The words of one language. `shared`, `private`: its adjectives for the memory of a block and of a thread;
    `fast`: the fast form of an op or a function, as advice; `masked`: whether exchanges name their lanes in a mask."""

    threads: Mapping[Axis, str]
    barrier: str
    barrier_of_device_memory: str
    warp_barrier: str
    broadcast: str
    shuffle_down: str
    reduce_add: str
    release: str
    lock_fences: str
    shared: str
    private: str
    inline: str
    fast: Mapping[str, str]
    masked: bool

    def thread(self, axis: Axis) -> str:
        """Return the index of a thread in its block along an axis."""
        return self.threads[axis]

    def limiter(self, name: str) -> str:
        """Return what limits how many blocks fit (machine/occupancy.py)."""
        return f"{self.shared} memory" if name == "shared memory" else name


CUDA: Final = Vocabulary(
    threads={"x": "threadIdx.x", "y": "threadIdx.y", "z": "threadIdx.z"},
    barrier="__syncthreads()",
    barrier_of_device_memory="__syncthreads(), which orders device memory too,",
    warp_barrier="__syncwarp()",
    broadcast="__shfl_sync",
    shuffle_down="__shfl_down_sync",
    reduce_add="__reduce_add_sync",
    release="give it back by __threadfence(); atomicExch(lock, 0)",
    lock_fences="put __threadfence() behind what takes the lock, and in front of what gives it back",
    shared="shared",
    private="local",
    inline="__forceinline__",
    fast={
        **{name: f"__{name}f(x)" for name in _ELEMENTARY},
        "pow": "__powf(x, y)",
        "fdiv": "__fdividef(x, y)",
        "rcp": "__fdividef(1.0f, x)",
        "sqrt": "sqrtf(x) under -prec-sqrt=false",
    },
    masked=True,
)
"""rsqrtf and exp2f have no fast forms: they are fast as they are."""

OPENCL: Final = Vocabulary(
    threads={"x": "get_local_id(0)", "y": "get_local_id(1)", "z": "get_local_id(2)"},
    barrier="barrier(CLK_LOCAL_MEM_FENCE)",
    barrier_of_device_memory="barrier(CLK_GLOBAL_MEM_FENCE)",
    warp_barrier="sub_group_barrier(CLK_LOCAL_MEM_FENCE)",
    broadcast="sub_group_broadcast",
    shuffle_down="sub_group_shuffle_down",
    reduce_add="sub_group_reduce_add",
    release="give it back by mem_fence(CLK_GLOBAL_MEM_FENCE); atomic_xchg(lock, 0)",
    lock_fences="put mem_fence(CLK_GLOBAL_MEM_FENCE) behind what takes the lock, and in front of what gives it back",
    shared="local",
    private="private",
    inline="inline",
    fast={
        **{name: f"native_{name}(x)" for name in _ELEMENTARY},
        "pow": "native_powr(x, y)",
        "fdiv": "native_divide(x, y)",
        "rcp": "native_recip(x)",
        "sqrt": "native_sqrt(x)",
    },
    masked=False,
)


def vocabulary(language: Literal["cuda", "opencl", "ptx"]) -> Vocabulary:
    """Return the words for what is said of a kernel in `language`."""
    return OPENCL if language == "opencl" else CUDA
