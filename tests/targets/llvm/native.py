"""The text of AVX-512 assembled, loaded into this process and run: the launch is made of arrays that Python has.

What runs is the text that `lower` prints, through the system's assembler; where the processor has no AVX-512, the same
LLVM IR for the processor that is here.
"""

from __future__ import annotations

import ctypes
import struct
import subprocess
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from tests.simt.engine.agree import Case
from warpsmith.simt.engine.words import LaunchWords
from warpsmith.simt.launch import Launch
from warpsmith.simt.layout import local_layout, shared_layout
from warpsmith.simt.memory import LaunchMemory, allocate_shared
from warpsmith.targets.llvm.vector import VectorCode
from warpsmith.targets.llvm.vector_ops import VectorWords

__all__ = ["assembled", "has_avx512", "host_processor", "run_text"]

Array = np.ndarray[Any, Any]


@cache
def has_avx512() -> bool:
    """Whether this processor has what skylake-avx512 has."""
    flags = Path("/proc/cpuinfo").read_text().split("flags", 1)[-1].split("\n", 1)[0].split()
    return {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"} <= set(flags)


def host_processor() -> str:
    """Return LLVM's name of this processor."""
    import llvmlite.binding as llvm

    return str(llvm.get_host_cpu_name())


def assembled(text: str, folder: str) -> ctypes.CDLL:
    """Return the text as a library of this process."""
    source, library = Path(folder, "k.s"), Path(folder, "k.so")
    source.write_text(text)
    command = ["gcc", "-shared", "-o", str(library), str(source), "-lm"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:500]
    return ctypes.CDLL(str(library))


def run_text(text: str, code: VectorCode, case: Case) -> tuple[int, dict[str, bytes]]:
    """Run a launch; return why it stopped (0: it did not), and what each buffer holds then."""
    memory, kept = LaunchMemory(checks=False), list[Any]()
    arguments = dict(case.launch.arguments)
    for name, (data, _) in case.arrays.items():
        memory.allocate(name, data)
    places = allocate_shared(case.module, memory)
    host = {buffer.name: _address(buffer.data, kept) for buffer in memory.buffers}
    own = {buffer.address: host[buffer.name] for buffer in memory.buffers}
    arguments.update({name: struct.pack("<Q", host[name]) for name in case.arrays})
    state = _record(code, case, arguments, {name: own[at] for name, at in places.items()}, kept)
    with TemporaryDirectory() as folder:
        run = assembled(text, folder).run
        run.argtypes, run.restype = (ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64), None
        run(state.ctypes.data, 0, case.launch.blocks)
    return int(state[LaunchWords.STOP]), {buffer.name: bytes(buffer.data) for buffer in memory.buffers}


def _record(
    code: VectorCode, case: Case, arguments: dict[str, bytes], globals_: dict[str, int], kept: list[Any]
) -> Array:
    launch, ops = case.launch, code.ops
    assert ops is not None
    shared, local = (
        shared_layout(case.module, case.name, launch.shared, launch.parts),
        local_layout(case.module, case.name),
    )
    starts = {**globals_, **shared.starts, **local.starts}
    warps = -(-launch.threads // code.lanes)
    padded = (warps + 1) * code.lanes
    size = -(-local.size // 64) * 64
    blocks = {VectorWords.SHARED: shared.size, VectorWords.LOCALS: size * padded}
    memory: dict[int, int] = {word: _bytes(count, kept) for word, count in blocks.items()}
    cleared = [number for word, count in blocks.items() if count for number in (memory[word], count)]
    words: dict[int, int] = {
        LaunchWords.PARAMETERS: _parameters(ops.offsets, arguments, kept),
        LaunchWords.INDICES: _indices(launch, padded, kept),
        LaunchWords.PADDED: padded,
        LaunchWords.THREADS: launch.threads,
        LaunchWords.WARPS: warps,
        LaunchWords.WIDTH: code.lanes,
        LaunchWords.FRAMES: _bytes(code.frame * warps, kept),
        LaunchWords.FRAME_BYTES: code.frame,
        LaunchWords.STATUS: _bytes(8 * warps, kept),
        LaunchWords.WARP_EPOCHS: _bytes(8 * warps, kept),
        LaunchWords.CLEARED: _words(cleared, kept),
        LaunchWords.CLEARED_COUNT: len(cleared) // 2,
        LaunchWords.REDUCED: _bytes(32, kept),
        LaunchWords.PLACES: _words([starts[name] for name in ops.places], kept),
        LaunchWords.BYTES: launch.shared,
        VectorWords.LOCAL_BYTES: size,
        **memory,
    }
    state = np.zeros(max(VectorWords) + 1, "<i8")
    for word, number in words.items():
        state[word] = number
    for at, number in enumerate((*launch.block, *launch.grid)):
        state[LaunchWords.NTID_X + at] = number
    return state


def _bytes(count: int, kept: list[Any]) -> int:
    made = np.zeros(count + 128, "u1")
    kept.append(made)
    return -(-made.ctypes.data // 64) * 64


def _words(numbers: list[int], kept: list[Any]) -> int:
    made = np.array(numbers or [0], "<u8")
    kept.append(made)
    return int(made.ctypes.data)


def _parameters(offsets: Any, given: dict[str, bytes], kept: list[Any]) -> int:
    made = np.zeros(max((at + len(given.get(name, b"")) for name, at in offsets.items()), default=0) + 16, "u1")
    for name, at in offsets.items():
        data = given.get(name, b"")
        made[at : at + len(data)] = np.frombuffer(data, "u1")
    kept.append(made)
    return int(made.ctypes.data)


def _indices(launch: Launch, padded: int, kept: list[Any]) -> int:
    threads, (x, y, _) = np.arange(padded), launch.block
    made = np.concatenate([threads % x, threads // x % y, threads // (x * y)]).astype("<i4")
    kept.append(made)
    return int(made.ctypes.data)


def _address(data: bytearray, kept: list[Any]) -> int:
    if not data:
        return 0
    view = (ctypes.c_char * len(data)).from_buffer(data)
    kept.append(view)
    return ctypes.addressof(view)
