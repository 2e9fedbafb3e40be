"""What a search has found, kept for the next one: it goes on where the budget ended the last.

    the program, the options, warpsmith's own sources  ──►  key  ──►  a file of the cache: a line for each candidate

Invariant: an answer is kept under all that it rests on, so that a search says the same with kept answers as without.
A file that cannot be read, is not whole or not ours counts as none; where the cache cannot be written, nothing is kept.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec
from msgspec import Struct

from warpsmith.base.cache import keep_bytes, read_kept
from warpsmith.loops.prepared import Prepared
from warpsmith.offload.plan import OffloadOptions
from warpsmith.survey.cache import own_version
from warpsmith.tree.nodes import Node
from warpsmith.tree.printing.printer import print_type
from warpsmith.tree.program import Program
from warpsmith.tree.types import Symbol, Type
from warpsmith.tree.walk import walk

__all__ = ["CandidateOutcome", "KeptOutcomes", "more_of", "search_key"]

_FOLDER: Final = "optimize"


class CandidateOutcome(Struct, frozen=True):
    """What came of a candidate: its predicted `seconds`, and what it is `bound` by; or None, and `why` not. `refused`:
    a step is not proved. `sectors` and `instructions` of its longest launches, as often as there are launches. Of a
    whole port `parts` are the seconds of each kernel, of copies and host, `least` what no placement of its nests goes
    below, and `key` is the same for the same text."""

    seconds: float | None
    bound: str = ""
    why: str = ""
    refused: bool = False
    sectors: float = 0.0
    instructions: float = 0.0
    parts: tuple[tuple[str, float], ...] = ()
    least: float = 0.0
    key: str = ""

    def weighed(self, other: CandidateOutcome) -> float:
        """Return the seconds, as often as this asks memory for more than another does, or executes more: what costs
        more must be faster by as much, for it is counted where the seconds are a model."""
        return (self.seconds or 0.0) * more_of(self, other)


def more_of(one: CandidateOutcome, other: CandidateOutcome) -> float:
    """Return how many times as many sectors or instructions one has, at least 1."""
    pairs = ((one.sectors, other.sectors), (one.instructions, other.instructions))
    return max([1.0, *(mine / others for mine, others in pairs if others)])


class KeptOutcomes:
    """The outcomes of one program's candidates, by what was asked."""

    def __init__(self, key: bytes | None) -> None:
        self._key = key
        self._found: dict[str, CandidateOutcome] = {}
        self._fresh: set[str] = set()
        if key is not None:
            with contextlib.suppress(OSError, ValueError, RuntimeError, msgspec.MsgspecError):
                self._found = msgspec.msgpack.decode(read_kept(_FOLDER, key), type=dict[str, CandidateOutcome])

    def get(self, question: str) -> CandidateOutcome | None:
        """Return what is known of a candidate."""
        return self._found.get(question)

    def is_earlier(self, question: str) -> bool:
        """Whether an earlier search has found the answer."""
        return question in self._found and question not in self._fresh

    def knows(self, question: str) -> bool:
        """Whether there is an answer."""
        return question in self._found

    def put(self, question: str, outcome: CandidateOutcome) -> CandidateOutcome:
        """Keep what came of a candidate."""
        self._found[question] = outcome
        self._fresh.add(question)
        return outcome

    def write(self) -> None:
        """Write all answers for the next search."""
        if self._key is not None and self._fresh:
            with contextlib.suppress(OSError, RuntimeError):
                keep_bytes(_FOLDER, self._key, msgspec.msgpack.encode(self._found))


def search_key(prepared: Prepared, options: Sequence[OffloadOptions], root: str) -> bytes:
    """Return all that candidates rest on: the program after its steps, what is asked of a port, and the port that the
    search starts from."""
    shown = [_options_text(one) for one in options]
    parts = [own_version(), *shown, repr(prepared.original.options), root, *_tree_text(prepared.program)]
    return "\n".join(parts).encode("utf-8", "surrogateescape")


def _options_text(options: OffloadOptions) -> str:
    """Return options as text: loops by their places."""
    places = None if options.selected is None else [str(loop.header) for loop in options.selected]
    named = {name: getattr(options, name) for name in options.__struct_fields__ if name != "selected"}
    return f"{places} {sorted(named.items())!r}"


def _tree_text(program: Program) -> Iterator[str]:
    """Yield each node of a program's functions: its kind, and its own values."""
    for _, function in program.functions():
        for node in walk(function):
            yield " ".join([type(node).__name__, *_values(node)])


def _values(node: Node) -> Iterator[str]:
    for name in node.__struct_fields__:
        value = getattr(node, name)
        if isinstance(value, Symbol):
            yield f"{value.key}:{print_type(value.type)}:{value.value}"
        elif isinstance(value, Type):
            yield print_type(value)
        elif isinstance(value, str | int | float | bool):
            yield repr(value)
