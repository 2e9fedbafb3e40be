"""Files read one by one, each without the trees of the others: what a survey of a large project needs.

    sources ─► worker ─► one Parsed a file ─► Exports (plain facts)      … all files' exports are merged …
                                           └► unit(knowledge)            the tree, with what the other files gave

The loops of a file are counted in clang's own rows and not in our tree: what is opaque in the tree is counted all the
same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from warpsmith.base.findings import Finding
from warpsmith.base.source import Span
from warpsmith.front.c.context import Context
from warpsmith.front.c.counted.escapes import escaped_keys
from warpsmith.front.c.counted.writes import Knowledge
from warpsmith.front.c.unit import build_unit
from warpsmith.front.clang import kinds
from warpsmith.front.clang.process import parse_files
from warpsmith.front.clang.wire import ELSEWHERE, Dump
from warpsmith.front.cxx.algorithms.names import find_algorithm
from warpsmith.front.inputs import Input, Source, read_input
from warpsmith.front.load import (
    Files,
    FrontOptions,
    full_source,
    parse_problems,
    parse_request,
    too_deep_findings,
)
from warpsmith.tree.effects.effects import EffectsTable
from warpsmith.tree.nodes import Function, While
from warpsmith.tree.program import Unit
from warpsmith.tree.walk import loops

__all__ = ["LoopPlace", "Parsed", "has_uncounted", "parse_separately"]

_FORMS: Final = {kinds.FOR: "for", kinds.WHILE: "while", kinds.DO: "do", kinds.RANGE_FOR: "range for"}


class LoopPlace(Struct, frozen=True):
    """One loop as clang sees it. `number` tells apart loops that one macro use makes; `span` is all of it, `function`
    the name of the function around it."""

    span: Span
    number: int
    form: str
    function: str


class Parsed(Struct, frozen=True, eq=False):
    """One file after the parser; `context` is None where it could not be read: then `findings` say why."""

    source: Source
    given: Input | None
    context: Context | None
    findings: tuple[Finding, ...]

    def unit(self, knowledge: Knowledge) -> Unit:
        """Return the tree of a file that could be read."""
        assert self.given is not None and self.context is not None
        return build_unit(self.context, self.given.language, self.given.arguments, knowledge)

    def unit_again(self, knowledge: Knowledge) -> Unit:
        """Return the tree with what is known by now: functions are built again whose `for` loops may be counted now."""
        assert self.given is not None and self.context is not None
        return build_unit(self.context, self.given.language, self.given.arguments, knowledge, has_uncounted)

    def library(self, effects: EffectsTable) -> frozenset[str]:
        """Return the keys of the functions that system headers declare."""
        return frozenset(self.context.library_keys(effects)) if self.context is not None else frozenset()

    def find_escaped(self, effects: EffectsTable) -> frozenset[str]:
        """Return the keys of the variables whose address is taken and may be kept."""
        return frozenset(escaped_keys(self.context, effects)) if self.context is not None else frozenset()

    def has_main(self) -> bool:
        """Whether the program starts in this file."""
        return self.context is not None and self.context.defines("main")

    def read_files(self) -> tuple[str, ...]:
        """Return the absolute paths of all files that the parser read for this one, itself included."""
        included = self.context.dump.includes if self.context is not None else ()
        return tuple(dict.fromkeys(str(Path(path).absolute()) for path in (self.source.path, *included)))

    def warnings(self) -> tuple[Finding, ...]:
        """Return what the tree could not hold."""
        return too_deep_findings(self.context) if self.context is not None else ()

    def loops(self) -> tuple[LoopPlace, ...]:
        """Return every loop of the user's text in this unit, each once, in the order in which clang met them."""
        return tuple(_loops(self.context)) if self.context is not None else ()


def has_uncounted(function: Function) -> bool:
    """Whether a `for` loop of a function is not counted, as far as was known when it was built."""
    return any(isinstance(loop, While) and loop.form == "for" for loop, _ in loops(function.body))


def parse_separately(sources: Sequence[Source], options: FrontOptions) -> list[Parsed]:
    """Parse files that share nothing but the worker process; one answer a source, in order, each with its own time."""
    made = [read_input(full_source(source, options), options.node_limit) for source in sources]
    inputs = [given for given in made if isinstance(given, Input)]
    answers = (parse_files([parse_request(given, options)], options.timeout_s)[0] for given in inputs)
    parsed: list[Parsed] = []
    for source, given in zip(sources, made, strict=True):
        if isinstance(given, Finding):
            parsed.append(Parsed(source, None, None, (given,)))
            continue
        answer, files = next(answers), Files([given])
        problems = parse_problems(given, answer, options, files)
        usable = isinstance(answer, Dump) and not problems
        context = Context(answer, files.read) if usable and isinstance(answer, Dump) else None
        parsed.append(Parsed(source, given, context, problems))
    return parsed


def _loops(context: Context) -> Iterator[LoopPlace]:
    seen: set[tuple[str, int, int]] = set()
    for top, number in (*context.tops, *context.dump.instances):
        met: Counter[int] = Counter()
        for row, name in _loop_rows(context, top):
            text = context.text(number)
            # a body that is included from another file has its offsets there: it stands for the whole top
            placed = top if context.table.flags[row] & ELSEWHERE else row
            start = context.table.start[placed]
            met[start] += 1
            if _runs_once(context, row, text.file.text):
                continue
            first, last = context.table.range(placed, text.uses)
            key = (text.file.path, first, met[start])
            if key not in seen:
                seen.add(key)
                form = _FORMS.get(context.table.kind[row]) or f"std::{find_algorithm(context, row)}"
                yield LoopPlace(Span(text.file, first, last), met[start] - 1, form, name)


def _runs_once(context: Context, row: int, text: str) -> bool:
    """Whether a loop is `do … while (0)`, with which a macro makes one statement of several: it is no loop."""
    table = context.table
    if table.kind[row] != kinds.DO or not (condition := table.parts(row)[1:]):
        return False
    literal = condition[0]
    while table.kind[literal] not in (kinds.INTEGER, kinds.CXX_BOOL) and len(table.expressions(literal)) == 1:
        literal = table.expressions(literal)[0]
    if table.kind[literal] not in (kinds.INTEGER, kinds.CXX_BOOL):
        return False
    if table.aux[literal] >= 0:
        return context.dump.values[table.aux[literal]] == 0
    return text[table.start[literal] : table.end[literal]] in ("0", "false")


def _loop_rows(context: Context, top: int) -> Iterator[tuple[int, str]]:
    """Yield the rows of loops below a top-level declaration, with the names of the functions around them."""
    table = context.table
    around: list[tuple[int, str]] = []
    for row in range(top, table.after[top]):
        while around and row >= around[-1][0]:
            around.pop()
        kind = table.kind[row]
        if kind in kinds.FUNCTIONS and table.aux[row] >= 0:
            around.append((table.after[row], context.dump.declared[table.aux[row]][1]))
        if kind in _FORMS or find_algorithm(context, row):
            yield row, around[-1][1] if around else ""
