"""What the referee is asked and what it answers.

Sources       one program as files, with the compiler-like options it needs
VerifyOptions how to run it, and what counts as equal
Verification  the answer, one entry per compared object
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from warpsmith.base.findings import Finding
from warpsmith.base.source import Span
from warpsmith.emit.files import OutputFile
from warpsmith.tree.nodes import Expr, Function
from warpsmith.tree.types import Symbol

__all__ = ["HarnessFunction", "LiveOut", "Race", "Sources", "Verification", "VerifyOptions", "timed_out"]


@dataclass(frozen=True, slots=True)
class Sources:
    """One program. `files` are compiled by suffix (.c with the C compiler, .cpp/.cc and .cu with the C++ compiler);
    headers among them are only placed. `arguments` are -I -D -U -std as given; `directory` is where relative -I and
    quoted includes of the user's own headers are looked up; `own`: by path, the files that have options of their own
    instead, with absolute folders. `captured`: the files hold capture calls;
    `reordered`: the port sums floating-point numbers in another order than the original; `addressed`: the regions of
    the port before which a test asks where blocks of memory lie, which differs from build to build."""

    files: tuple[OutputFile, ...]
    arguments: tuple[str, ...] = ()
    directory: str = "."
    captured: bool = False
    reordered: bool = False
    own: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    addressed: frozenset[str] = frozenset()

    def uses_openmp(self) -> bool:
        """Whether a file of the program is compiled for OpenMP, or uses its run time."""
        return any("omp.h" in f.text for f in self.files) or any("-fopenmp" in a for a in self.own.values())

    def starts_threads(self, file: OutputFile) -> bool:
        """Whether a file is to be compiled for OpenMP though its own options do not say so: it uses its run time, and
        asks nowhere whether it is compiled so."""
        return file.path in self.own and "omp.h" in file.text and "_OPENMP" not in file.text


@dataclass(frozen=True, slots=True)
class HarnessFunction:
    """A function to call where the program has no `main`: `extents` gives, per pointer parameter and global, how many
    elements it must have, as a host expression over the scalar parameters."""

    function: Function
    extents: Mapping[Symbol, Expr]


@dataclass(frozen=True, slots=True)
class VerifyOptions:
    """How to run both programs. `run_stdin` is a file, `run_dir` a folder whose copy they run in. Tolerances None:
    derived from the original's own spread."""

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


@dataclass(frozen=True, slots=True)
class LiveOut:
    """One compared object. `extent_from` says where its real extent came from."""

    region: str
    instance: int
    name: str
    elements: int
    extent_from: Literal["type", "allocation", "section"]
    max_abs: float
    max_rel: float
    max_ulp: int
    first_difference: str | None


@dataclass(frozen=True, slots=True)
class Race:
    """Two threads touched one element, at least one of them writing, with nothing that orders them."""

    variable: str
    index: int
    threads: tuple[str, str]
    spans: tuple[Span, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Verification:
    """The referee's word. `reasons` say in sentences why it failed or was skipped."""

    status: Literal["pass", "fail", "skipped"]
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


def timed_out(verification: Verification) -> bool:
    """Whether there is no verdict because a program did not end within the time limit."""
    return verification.status == "skipped" and any(reason.rule == "VER003" for reason in verification.reasons)
