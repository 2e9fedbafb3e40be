"""The request to the referee, and its answer.

Sources       one program as files, with the compiler-like options it needs
VerifyOptions how to run it, and what counts as equal
Verification  the answer, one entry per compared object
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

from msgspec import Struct, field
from msgspec.structs import replace

from warpsmith.base.findings import Finding
from warpsmith.base.progress import Progress, ignore_progress
from warpsmith.base.source import Span
from warpsmith.emit.files import OutputFile
from warpsmith.tree.nodes import Expr, Function
from warpsmith.tree.types import Symbol

__all__ = [
    "EQUAL",
    "NO_ROUNDING",
    "Copies",
    "HarnessFunction",
    "LiveOut",
    "PortedRegion",
    "Race",
    "Sources",
    "Status",
    "Verification",
    "VerifyOptions",
    "has_timed_out",
    "is_made_for",
    "joint_tolerance",
]

Status = Literal["pass", "fail", "undecided", "skipped"]

# C before 1999 lets a program call the run time of OpenMP without its header
_OPENMP = re.compile(r"omp\.h|\bomp_[gs]et_\w+\s*\(")
_OPENACC = re.compile(r"openacc\.h")
_SWITCH = re.compile(r"^\s*#\s*if(def\s|\s+defined\s*\(?\s*)\s*WARPSMITH\b", re.MULTILINE)

# what is said of floating-point numbers that differ by too much to be the same sums in another order
NO_ROUNDING = "the difference is larger than rounding"
# what a comparison says that needed no tolerance
EQUAL = (
    "not needed: nothing to compare",
    "not needed: bit for bit equal",
    "not needed: equal",
    "not needed: equal where it is compared",
)


class PortedRegion(Struct, frozen=True):
    """One region of a port: its name in captures, its kernel, where it stands; `guards`: the tests before it;
    `one_value`: the arrays of which the user says that threads write one value where they write one element."""

    name: str
    kernel: str
    span: Span | None = None
    guards: tuple[str, ...] = ()
    one_value: tuple[str, ...] = ()


class Sources(Struct, frozen=True):
    """One program. `files` are compiled by suffix (.c with the C compiler, .cpp/.cc and .cu with the C++ compiler);
    headers among them are only placed. `arguments` are -I -D -U -std as given; `directory` is where relative -I and
    quoted includes of the user's own headers are looked up; `own`: by path, the files that have options of their own
    instead, with absolute folders. `captured`: the files hold capture calls;
    `reordered_bits`: of the narrowest floating-point numbers that the port combines in another order than the original,
    0 where it combines none so (run/compare/tolerance.py); `addressed`: the regions of
    the port before which a test asks where blocks of memory lie, which differs from build to build; `regions`: those of
    the port; `shown`: that a wrong kernel is noticed has been shown by another comparison of the same kernels;
    `included`: files that others include and that are not compiled themselves, whatever their suffix; `rounding`: by
    how much of their size the numbers behind the output may differ, as another comparison has seen; `host_only`: by
    region and name, the numbers that nothing that was changed can write: they may be left out (the time it took)."""

    files: tuple[OutputFile, ...]
    arguments: tuple[str, ...] = ()
    directory: str = "."
    captured: bool = False
    reordered_bits: int = 0
    own: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    addressed: frozenset[str] = frozenset()
    regions: tuple[PortedRegion, ...] = ()
    shown: bool = False
    included: frozenset[str] = frozenset()
    rounding: float = 0.0
    host_only: frozenset[tuple[str, str]] = frozenset()

    def is_switched_off(self) -> bool:
        """Whether a port that stands in the user's own files is built without the macro that turns it on."""
        asked = any(_SWITCH.search(file.text) for file in self.files)
        options = (*self.arguments, *(word for words in self.own.values() for word in words))
        return asked and not any(word.removeprefix("-D").split("=")[0] == "WARPSMITH" for word in options)

    def uses_openmp(self) -> bool:
        """Whether a file of the program is compiled for OpenMP, or uses its run time."""
        return any(_OPENMP.search(f.text) for f in self.files) or any("-fopenmp" in a for a in self.own.values())

    def run_time_options(self) -> tuple[str, ...]:
        """Return the options with which the compiler links the run time that the program calls."""
        openacc = any(_OPENACC.search(f.text) for f in self.files)
        return (*(("-fopenmp",) if self.uses_openmp() else ()), *(("-fopenacc",) if openacc else ()))

    def starts_threads(self, file: OutputFile) -> bool:
        """Whether a file is to be compiled for OpenMP though its own options do not say so: it uses its run time, and
        asks nowhere whether it is compiled so."""
        return file.path in self.own and "omp.h" in file.text and "_OPENMP" not in file.text


class HarnessFunction(Struct, frozen=True):
    """A function to call where the program has no `main`: `extents` gives, per pointer parameter and global, how many
    elements it must have, as a host expression over the scalar parameters."""

    function: Function
    extents: Mapping[Symbol, Expr]


class VerifyOptions(Struct, frozen=True):
    """How to run both programs. `run_stdin` is a file, `run_dir` a folder whose copy they run in. Tolerances None:
    derived from the original's own spread. `device`: the GPU whose limits launches must keep. `progress` is notified of
    every build and run. `threads`: how many threads parallel regions of the original may have (OMP_NUM_THREADS).
    `one_thread`: no team has more than one, whatever the program asks for."""

    run_args: tuple[str, ...] = ()
    run_stdin: str | None = None
    run_dir: str | None = None
    absolute: float | None = None
    relative: float | None = None
    seed: int = 1
    sizes: tuple[int, ...] = (0, 1, 67)
    special_values: bool = False
    timeout_s: float = 120.0
    keep_dir: str | None = None
    device: str = "sm_80"
    progress: Progress = ignore_progress
    threads: int = 1
    one_thread: bool = False


class LiveOut(Struct, frozen=True):
    """One compared object. `extent_from` says where its real extent came from. `compared` and `masked`: of the elements
    that the region may touch, how many were compared and how many left out, at the instance of which the least share
    was compared; `identical`: every byte was the same; `rounding`: the largest difference that was allowed, as a part
    of the object's largest number."""

    region: str
    instance: int
    name: str
    elements: int
    extent_from: Literal["type", "allocation", "section"]
    max_abs: float
    max_rel: float
    max_ulp: int
    first_difference: str | None
    compared: int = 0
    masked: int = 0
    identical: bool = True
    rounding: float = 0.0

    def cover(self, compared: int, masked: int) -> LiveOut:
        """Return the row with these counts, if they are the smaller share, or the same one of more elements."""
        known, new = self.compared + self.masked, compared + masked
        if known and new and (self.compared / known, -known) <= (compared / new, -new):
            return self
        return replace(self, compared=compared, masked=masked) if new else self

    @property
    def mostly_masked(self) -> bool:
        """Whether no more than half of what the region may touch was compared."""
        return self.masked > 0 and self.compared <= self.masked


class Copies(Struct, frozen=True):
    """How many copies a run made between host and device memory, and of how many bytes, each way."""

    to_device: int = 0
    bytes_to_device: int = 0
    to_host: int = 0
    bytes_to_host: int = 0


class Race(Struct, frozen=True):
    """Two threads touched one element, at least one of them writing, with nothing that orders them; `one_value`: both
    wrote, each time what was there already."""

    variable: str
    index: int
    threads: tuple[str, str]
    spans: tuple[Span, ...]
    text: str
    kernel: str = ""
    one_value: bool = False


class Verification(Struct, frozen=True):
    """The referee's word. `reasons` say in sentences why it failed, was skipped, or is undecided: nothing is wrong, but
    too little was compared to say that all is right. `launches`: how often each kernel was launched in a run, `copies`:
    what was copied in a run; None where that is not known."""

    status: Status
    executor: Literal["emulation", "pocl", "cuda", "openmp"] = "emulation"
    schedules: int = 0
    inputs: str = ""
    live_out: tuple[LiveOut, ...] = ()
    races: tuple[Race, ...] = ()
    output_equal: bool = True
    masked_output: tuple[str, ...] = ()
    seconds: Mapping[str, float] | None = None
    tolerance: str = ""
    reasons: tuple[Finding, ...] = ()
    launches: Mapping[str, int] | None = None
    copies: Copies | None = None

    def launches_of(self, kernel: str) -> int:
        """Return how often the kernels that were made for `kernel` were launched: its own, and what finishes it."""
        return sum(count for name, count in (self.launches or {}).items() if is_made_for(kernel, name))


def is_made_for(kernel: str, name: str) -> bool:
    """Whether the device function `name` is one of those that a port's kernel consists of."""
    return name == kernel or name.startswith(f"{kernel}_")


def joint_tolerance(one: str, other: str) -> str:
    """Return the tolerance of two comparisons together: that which allows more."""
    ranks = {text: rank for rank, text in enumerate(("", *EQUAL))}
    return max(one, other, key=lambda text: ranks.get(text, len(ranks)))


def has_timed_out(verification: Verification) -> bool:
    """Whether there is no verdict because a program did not end within the time limit."""
    return verification.status == "skipped" and any(reason.rule == "VER003" for reason in verification.reasons)
