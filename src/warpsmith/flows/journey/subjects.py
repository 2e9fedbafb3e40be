"""What is sent on its way: four programs of our own, or a kernel or a function with loops of the user's.

bitonic.c     loops, which `port` turns into kernels: the version `port`; run natively, they are the original
bitonic.cu    the same, written as a kernel by hand: the version `by hand`
bitonic.br    the same as a program of Brook+
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import resources
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from warpsmith.front.inputs import Source
from warpsmith.kernels.units import KernelFile
from warpsmith.simt.launch import Dim

__all__ = ["NAMES", "HandLaunch", "Rounds", "Subject", "loops_subject", "own_subject", "program_text", "users_subject"]

NAMES: Final = ("bitonic", "matmul", "lu", "dec2zero")
Rounds = tuple[Mapping[str, int], ...]


class HandLaunch(Struct, frozen=True):
    """How a kernel that is there already is launched; see SimulateOptions."""

    file: KernelFile
    kernel: str = ""
    block: Dim | None = None
    grid: Dim | None = None
    shared: int = 0


class Subject(Struct, frozen=True):
    """One computation. `values`: arguments as people write them, by the names of the C function or else of the
    kernel; `loops`: a file of C with the function `name` ("": the only one that has kernels), "" where there is none,
    `source`: that file where it is the user's; `rounds`: the counters of the host's loops in each turn of them, None
    where they are found in the function; `hand`: the kernel that is there; `streams`: a file of Brook+ with the
    function `name`; `searched`: the sizes for which a faster port is searched, larger than those of the inputs, which
    every machine runs."""

    name: str
    values: tuple[str, ...]
    loops: str = ""
    rounds: Rounds | None = ({},)
    hand: HandLaunch | None = None
    streams: str = ""
    searched: Mapping[str, int] = field(default_factory=dict)
    source: Source | None = None

    @property
    def loops_source(self) -> Source:
        """The file with the loops, ready to be ported: its text is here."""
        return self.source or Source(self.loops, text=program_text(self.loops))

    @property
    def loops_text(self) -> str:
        """The text of that file, to be shown."""
        return (self.loops_source.text or "").encode("latin-1").decode("utf-8", "replace")

    @property
    def sizes(self) -> Mapping[str, int]:
        """The whole numbers among the values."""
        pairs = (one.partition("=") for one in self.values)
        return {name: int(value) for name, _, value in pairs if value.isdecimal()}


def program_text(name: str) -> str:
    """Return the text of one of our programs."""
    return resources.files("warpsmith.flows.journey").joinpath(f"programs/{name}").read_text("utf-8")


def own_subject(name: str) -> Subject:
    """Return one of the four; raises KeyError."""
    return {"bitonic": _bitonic, "matmul": _matmul, "lu": _lu, "dec2zero": _dec2zero}[name]()


def users_subject(launch: HandLaunch, values: tuple[str, ...]) -> Subject:
    """Return a kernel of the user's."""
    return Subject(launch.kernel or launch.file.path, values, hand=launch)


def loops_subject(source: Source, function: str, values: tuple[str, ...]) -> Subject:
    """Return a function with loops of the user's ("": the only one that has kernels); the source has its text."""
    subject = Subject(function, values, source.path, rounds=None, source=source)
    return replace(subject, searched=subject.sizes)


def _by_hand(name: str, block: Dim, grid: Dim = (1, 1, 1), shared: int = 0) -> HandLaunch:
    return HandLaunch(KernelFile(f"{name}.cu", text=program_text(f"{name}.cu")), name, block, grid, shared)


def _bitonic() -> Subject:
    values = ("n=64", "x=rand:i32[n]:seed=1:below=1000")
    hand = _by_hand("bitonic", (64, 1, 1), shared=4 * 64)
    return Subject("bitonic", values, "bitonic.c", tuple(_passes(64)), hand, "bitonic.br", {"n": 1 << 16})


def _passes(count: int) -> Iterator[Mapping[str, int]]:
    run = 2
    while run <= count:
        apart = run // 2
        while apart > 0:
            yield {"run": run, "apart": apart}
            apart //= 2
        run *= 2


def _matmul() -> Subject:
    values = ("n=20", "a=rand:f32[n*n]:seed=1", "b=rand:f32[n*n]:seed=2", "c=zeros:f32[n*n]")
    return Subject("matmul", values, "matmul.c", hand=_by_hand("matmul", (16, 16, 1), (2, 2, 1)), searched={"n": 512})


def _lu() -> Subject:
    # the diagonal is greater than all that stands beside it, so that no pivot is near zero
    values = ("n=12", "a=each:f32[n*n]=(i % 13 == 0) * 40 + (i * 7 + 3) % 11")
    return Subject("lu", values, "lu.c", tuple({"k": k} for k in range(11)), searched={"n": 512})


def _dec2zero() -> Subject:
    # the input Random of the experiment in the manual, smaller
    values = ("n=256", "v=libc:i32[n]:below=32")
    return Subject(
        "dec2zero", values, "dec2zero.c", hand=_by_hand("dec2zero", (64, 1, 1), (4, 1, 1)), searched={"n": 1 << 16}
    )
