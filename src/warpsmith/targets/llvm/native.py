"""The text of AVX-512 assembled and run on this processor, in a process of its own: what is wrong in it ends that one.

    text ──assembler──► library ──► a process loads it, and runs launch after launch on the arrays that it was given

What runs is the text that `lower` prints. The launch is a record of words (simt/engine/words.py, vector_ops.py), which
the process makes: addresses are its own.
"""

from __future__ import annotations

import ctypes
import struct
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import msgspec
import numpy as np
from msgspec import Struct

from warpsmith.simt.engine.words import LaunchWords
from warpsmith.simt.launch import Dim, Launch
from warpsmith.simt.layout import local_layout, shared_layout
from warpsmith.simt.memory import LaunchMemory, allocate_shared
from warpsmith.ssa.nodes import Module
from warpsmith.targets.llvm.own_process import ask_process
from warpsmith.targets.llvm.vector import VectorCode
from warpsmith.targets.llvm.vector_ops import VectorWords

__all__ = [
    "NativeCall",
    "NativeRun",
    "assemble_library",
    "has_avx512",
    "main",
    "native_call",
    "run_here",
    "run_natively",
]

Array = np.ndarray[Any, Any]
_LIMIT_S: Final = 60.0


class NativeCall(Struct, frozen=True):
    """One launch of an assembled kernel. `arguments`: the bytes of numbers by parameter; `arrays`: the array that each
    other parameter gets; `places`: what the kernel's memory operands name, numbers, or variables of `variables`."""

    kernel: int
    grid: Dim
    block: Dim
    lanes: int
    frame: int
    offsets: Mapping[str, int]
    arguments: Mapping[str, bytes]
    arrays: Mapping[str, str]
    places: tuple[int | str, ...]
    variables: Mapping[str, bytes]
    shared: int
    shared_bytes: int
    local_bytes: int


class NativeRun(Struct, frozen=True):
    """How launches ended: `stop`: why the first one that stopped did (0: none; see Stop in simt/engine/words.py)."""

    stop: int
    arrays: Mapping[str, bytes]


class _Task(Struct, frozen=True):
    libraries: tuple[str, ...]
    calls: tuple[NativeCall, ...]
    arrays: Mapping[str, bytes]


@cache
def has_avx512() -> bool:
    """Whether this processor has what skylake-avx512 has."""
    place = Path("/proc/cpuinfo")
    flags = place.read_text().split("flags", 1)[-1].split("\n", 1)[0].split() if place.exists() else []
    return {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"} <= set(flags)


def native_call(
    module: Module, kernel: tuple[str, VectorCode], launch: Launch, arrays: Mapping[str, str], number: int = 0
) -> NativeCall:
    """Return a launch of a kernel, its name and its code, as what a process needs to know; `number`: which text it is
    of."""
    name, code = kernel
    assert code.ops is not None
    memory = LaunchMemory(checks=False)
    addresses = allocate_shared(module, memory)
    names = {buffer.address: buffer.name for buffer in memory.buffers}
    shared = shared_layout(module, name, launch.shared, launch.parts)
    local = local_layout(module, name)
    starts: dict[str, int | str] = {symbol: names[at] for symbol, at in addresses.items()}
    starts |= {**shared.starts, **local.starts}
    return NativeCall(
        number, launch.grid, launch.block, code.lanes, code.frame, dict(code.ops.offsets),
        {given: data for given, data in launch.arguments.items() if given not in arrays}, dict(arrays),
        tuple(starts[place] for place in code.ops.places),
        {buffer.name: bytes(buffer.data) for buffer in memory.buffers},
        launch.shared, shared.size, -(-local.size // 64) * 64,
    )  # fmt: skip


def run_natively(texts: Sequence[str], calls: Sequence[NativeCall], arrays: Mapping[str, bytes]) -> NativeRun | str:
    """Run launches one after the other in a process of their own; return what they leave, or why the texts cannot be
    assembled here. Raises ProcessEndedError where the process does not end well."""
    with TemporaryDirectory() as folder:
        libraries = []
        for number, text in enumerate(texts):
            built = assemble_library(text, folder, f"k{number}")
            if isinstance(built, str):
                return built
            libraries.append(str(built))
        task = msgspec.json.encode(_Task(tuple(libraries), tuple(calls), arrays))
        answer = ask_process("warpsmith.targets.llvm.native", task, _LIMIT_S)
    return msgspec.json.decode(answer, type=NativeRun)


def assemble_library(text: str, folder: str, name: str) -> Path | str:
    """Return the text as a library in a folder, or what the assembler says."""
    source, library = Path(folder, f"{name}.s"), Path(folder, f"{name}.so")
    source.write_text(text)
    command = ["gcc", "-shared", "-o", str(library), str(source), "-lm"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return "gcc is not installed, which assembles it"
    return f"the assembler refuses it: {done.stderr.strip()[:200]}" if done.returncode else library


def main() -> None:
    """Run one task: the process."""
    task = msgspec.json.decode(sys.stdin.buffer.read(), type=_Task)
    held = {name: bytearray(data) for name, data in task.arrays.items()}
    libraries = [ctypes.CDLL(path) for path in task.libraries]
    variables: dict[str, bytearray] = {}
    stop = 0
    for call in task.calls:
        stop = stop or run_here(libraries[call.kernel], call, held, variables)
    sys.stdout.buffer.write(msgspec.json.encode(NativeRun(stop, {name: bytes(data) for name, data in held.items()})))


def run_here(
    library: ctypes.CDLL, call: NativeCall, held: Mapping[str, bytearray], variables: dict[str, bytearray]
) -> int:
    """Run a launch in this process, on arrays that it changes; return why it stopped, 0 where it did not. `variables`
    of the module: those of launches before, then of this one as well."""
    kept: list[Any] = []
    for name, data in call.variables.items():
        variables.setdefault(name, bytearray(data))
    state = _record(call, held, variables, kept)
    run = library.run
    run.argtypes, run.restype = (ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64), None
    x, y, z = call.grid
    run(state.ctypes.data, 0, x * y * z)
    return int(state[LaunchWords.STOP])


def _record(
    call: NativeCall, held: Mapping[str, bytearray], variables: Mapping[str, bytearray], kept: list[Any]
) -> Array:
    """Return the words of a launch; `kept`: what must live as long as they do."""
    addresses = {name: _address(variables[name], kept) for name in call.variables}
    places = [addresses[one] if isinstance(one, str) else one for one in call.places]
    arguments = dict(call.arguments)
    for parameter, name in call.arrays.items():
        arguments[parameter] = struct.pack("<Q", _address(held[name], kept))
    threads = call.block[0] * call.block[1] * call.block[2]
    warps = -(-threads // call.lanes)
    padded = (warps + 1) * call.lanes
    blocks = {VectorWords.SHARED: call.shared_bytes, VectorWords.LOCALS: call.local_bytes * padded}
    memory: dict[int, int] = {word: _bytes(count, kept) for word, count in blocks.items()}
    cleared = [number for word, count in blocks.items() if count for number in (memory[word], count)]
    words: dict[int, int] = {
        LaunchWords.PARAMETERS: _parameters(call.offsets, arguments, kept),
        LaunchWords.INDICES: _indices(call.block, padded, kept),
        LaunchWords.PADDED: padded,
        LaunchWords.THREADS: threads,
        LaunchWords.WARPS: warps,
        LaunchWords.WIDTH: call.lanes,
        LaunchWords.FRAMES: _bytes(call.frame * warps, kept),
        LaunchWords.FRAME_BYTES: call.frame,
        LaunchWords.STATUS: _bytes(8 * warps, kept),
        LaunchWords.WARP_EPOCHS: _bytes(8 * warps, kept),
        LaunchWords.CLEARED: _words(cleared, kept),
        LaunchWords.CLEARED_COUNT: len(cleared) // 2,
        LaunchWords.REDUCED: _bytes(32, kept),
        LaunchWords.PLACES: _words(places, kept),
        LaunchWords.BYTES: call.shared,
        VectorWords.LOCAL_BYTES: call.local_bytes,
        **memory,
    }
    state = np.zeros(max(VectorWords) + 1, "<i8")
    for word, number in words.items():
        state[word] = number
    for at, number in enumerate((*call.block, *call.grid)):
        state[LaunchWords.NTID_X + at] = number
    return state


def _bytes(count: int, kept: list[Any]) -> int:
    made = np.zeros(count + 128, "u1")
    kept.append(made)
    return -(-made.ctypes.data // 64) * 64


def _words(numbers: Sequence[int], kept: list[Any]) -> int:
    made = np.array(numbers or [0], "<u8")
    kept.append(made)
    return int(made.ctypes.data)


def _parameters(offsets: Mapping[str, int], given: Mapping[str, bytes], kept: list[Any]) -> int:
    made = np.zeros(max((at + len(given.get(name, b"")) for name, at in offsets.items()), default=0) + 16, "u1")
    for name, at in offsets.items():
        data = given.get(name, b"")
        made[at : at + len(data)] = np.frombuffer(data, "u1")
    kept.append(made)
    return int(made.ctypes.data)


def _indices(block: Dim, padded: int, kept: list[Any]) -> int:
    threads, (x, y, _) = np.arange(padded), block
    made = np.concatenate([threads % x, threads // x % y, threads // (x * y)]).astype("<i4")
    kept.append(made)
    return int(made.ctypes.data)


def _address(data: bytearray, kept: list[Any]) -> int:
    if not data:
        return 0
    view = (ctypes.c_char * len(data)).from_buffer(data)
    kept.append(view)
    return ctypes.addressof(view)
