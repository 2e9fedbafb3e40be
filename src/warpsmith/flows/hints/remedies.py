"""Remedies for loops that cannot run on a device: candidates applied to a copy of the program, never guessed.

    loop ── assumption ──► judged again ─┬─► parallel: a hint
         ── edit ──► parsed, judged ─────┤
         ── option ──► parsed, judged ───┴─► another reason: what is next to try, to the end of the chain

Invariant: of every hint, the loops that take the place of the loop were judged after all of its remedies, and may run
on a device then. The effort is bounded by numbers of judgements, so that the answer is the same everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import assert_never

from msgspec import Struct
from msgspec.structs import replace

from warpsmith.base.errors import InputError
from warpsmith.base.source import Edit, SourceFile, Span, apply_edits
from warpsmith.base.verdict import Proved
from warpsmith.front.inputs import Source
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.loops.remedies.accumulator import local_accumulators
from warpsmith.loops.remedies.assumptions import assumptions
from warpsmith.loops.remedies.calls import described_calls
from warpsmith.loops.remedies.gather import gather_forms
from warpsmith.loops.remedies.generator import skipping_generators
from warpsmith.loops.remedies.model import ApplySteps, EditCode, GrantAssumption, Hint, Remedy, UseOption
from warpsmith.loops.remedies.second_buffer import second_buffers
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import Category, LoopFacts
from warpsmith.poly.openmp.apply_claims import apply_claims
from warpsmith.tree.effects.file import effects_of
from warpsmith.tree.nodes import Function, Loop
from warpsmith.tree.program import Assumption, Program
from warpsmith.tree.walk import loops

__all__ = ["Inputs", "hints"]

_LONGEST_CHAIN = 3
_MOST_TRIALS = 24
_MOST_HINTS = 3
_WORST_LAST: tuple[Category, ...] = ("parallel", "reduction", "scan", "parallel-after", "sequential", "unanalyzable")
_EDITS: tuple[Callable[[Facts, LoopFacts], Iterator[EditCode]], ...] = (
    gather_forms, skipping_generators, local_accumulators, second_buffers,
)  # fmt: skip


class Inputs(Struct, frozen=True):
    """What the program was read from, so that a changed copy can be read in the same way."""

    sources: tuple[str | Source, ...]
    front: FrontOptions

    def edit(self, edits: Sequence[Edit]) -> Inputs | None:
        """Return the inputs with edited texts, or None where an edit is of no input (but of a header)."""
        texts = {
            file.path: apply_edits(file, [e for e in edits if e.span.file is file])
            for file in dict.fromkeys(edit.span.file for edit in edits)
        }
        sources = [source if isinstance(source, Source) else Source(source) for source in self.sources]
        if not texts.keys() <= {source.path for source in sources}:
            return None
        return replace(self, sources=tuple(replace(s, text=texts.get(s.path, s.text)) for s in sources))

    def describe(self, text: str) -> Inputs:
        """Return the inputs with more functions described, as a file of effects has them."""
        effects = self.front.effects.after(effects_of(SourceFile("effects", text), users=True))
        return replace(self, front=replace(self.front, effects=effects))

    def read(self) -> Program | None:
        """Return the program, or None where that is none any more."""
        try:
            loaded = load_program(self.sources, self.front)
        except InputError:
            return None
        return None if any(f.severity == "error" for f in loaded.findings) else loaded.program


class _State(Struct, frozen=True):
    """The program after some remedies, and what stands there in place of the loop."""

    facts: Facts
    loops: tuple[LoopFacts, ...]
    inputs: Inputs
    remedies: tuple[Remedy, ...] = ()

    @property
    def worst(self) -> Category:
        return max((f.category for f in self.loops), key=_WORST_LAST.index)

    @property
    def runs(self) -> bool:
        """Whether all of the loops may run on a device."""
        return bool(self.loops) and all(_may_run(loop) for loop in self.loops)

    @property
    def inputs_and_grants(self) -> tuple[Inputs, frozenset[str]]:
        """What the state was judged from."""
        return self.inputs, frozenset(assumption.text for assumption in self.facts.options.granted)

    @property
    def reasons(self) -> tuple[tuple[str, str], ...]:
        return tuple((reason.rule, reason.text) for loop in self.loops for reason in loop.reasons)


def hints(facts: Facts, loop: Loop, inputs: Inputs) -> tuple[Hint, ...]:
    """Return what lets a loop of the program run on a device, or run there without atomic updates, each of it tried:
    the shortest chains first."""
    known = facts.loop(loop)
    start = _State(facts, (known,), inputs)
    if known.category == "parallel":
        return ()
    found: list[Hint] = []
    level, trials = [start], 0
    reached = [start.inputs_and_grants]
    for _ in range(_LONGEST_CHAIN):
        following: list[_State] = []
        for state in level:
            for remedies in _candidates(state):
                trials += 1
                if trials > _MOST_TRIALS or len(found) == _MOST_HINTS:
                    return tuple(found)
                after = _apply_remedies(state, remedies)
                # the same remedies in another order are no other advice
                if after is None or after.inputs_and_grants in reached:
                    continue
                reached.append(after.inputs_and_grants)
                if after.runs:
                    if _WORST_LAST.index(after.worst) < _WORST_LAST.index(known.category):
                        found.append(Hint(after.remedies, after.worst))
                elif after.reasons != state.reasons:
                    following.append(after)
        level = [] if found else following
    return tuple(found)


def _may_run(loop: LoopFacts) -> bool:
    if loop.category == "parallel":
        return isinstance(loop.verdict, Proved)
    return loop.category in ("reduction", "scan") and isinstance(loop.combined, Proved)


def _candidates(state: _State) -> Iterator[tuple[Remedy, ...]]:
    """Yield what is worth a try on the first loop that cannot run yet."""
    known = next((loop for loop in state.loops if not _may_run(loop)), state.loops[0])
    for edit in chain.from_iterable(shape(state.facts, known) for shape in _EDITS):
        yield (edit,)
    if not _may_run(known):
        yield from assumptions(state.facts, known)
        for option in described_calls(state.facts, known):
            yield (option,)


def _apply_remedies(state: _State, remedies: tuple[Remedy, ...]) -> _State | None:
    """Return the state after remedies, or None where the program cannot be read any more."""
    inputs, options = state.inputs, state.facts.options
    edits: tuple[Edit, ...] = ()
    for remedy in remedies:
        match remedy:
            case GrantAssumption(text):
                options = replace(options, granted=(*options.granted, Assumption(text, "granted")))
            case UseOption(_, text):
                inputs = inputs.describe(text)
            case EditCode():
                edits = remedy.edits
                changed = inputs.edit(edits)
                if changed is None:
                    return None
                inputs = changed
            case ApplySteps():
                return None
            case _:
                assert_never(remedy)
    program = state.facts.program if inputs is state.inputs else inputs.read()
    if program is None:
        return None
    facts = Facts.about(program, options, apply_claims)
    found = _same_place(state, facts, edits)
    return _State(facts, found, inputs, (*state.remedies, *remedies)) if found else None


def _same_place(state: _State, facts: Facts, edits: tuple[Edit, ...]) -> tuple[LoopFacts, ...]:
    """Return the outermost loops that stand where the loops of `state` stood."""
    spans = [loop.loop.span for loop in state.loops]
    first, last = min(spans, key=lambda s: s.start), max(spans, key=lambda s: s.end)
    start, end = _move_span(Span(first.file, first.start, last.end), edits)
    symbol = state.loops[0].function.symbol
    functions = [f for _, f in facts.program.functions() if _is_same(f, symbol.key, first.file.path)]
    for function in functions:
        inside = [
            loop
            for loop, around in loops(function.body)
            if start <= loop.span.start
            and loop.span.end <= end
            and not any(start <= a.span.start and a.span.end <= end for a in around)
        ]
        if inside:
            known = facts.of(function)
            return tuple(known.of(loop) for loop in inside)
    return ()


def _is_same(function: Function, key: str, path: str) -> bool:
    return function.symbol.key == key and function.span.file.path == path


def _move_span(span: Span, edits: tuple[Edit, ...]) -> tuple[int, int]:
    """Return where the text of `span`, with what is inserted right before and behind it, lies after the edits."""
    mine = [e for e in edits if e.span.file.path == span.file.path]
    before = [e for e in mine if e.span.end < span.start]
    around = [e for e in mine if e.span.end >= span.start and e.span.start <= span.end]
    start = min([span.start, *(e.span.start for e in around)]) + sum(_growth(e) for e in before)
    return start, start + (span.end - min([span.start, *(e.span.start for e in around)])) + sum(map(_growth, around))


def _growth(edit: Edit) -> int:
    return len(edit.text) - (edit.span.end - edit.span.start)
