"""One file of a survey: what it tells the others, and the verdicts on its loops once the others are known.

    read       source ─► places of its loops, what its functions do as far as this file says   (Exports, plain)
    summarize  what others export ─► what its functions do, with those
    analyze    the same ─► a verdict on every loop                                              (Verdicts, plain)

All that goes in and out is plain lists (tree/plain.py): it crosses processes and lies in the cache. Each of the three
may take `--timeout` seconds a file; what takes longer fails with INP009, as a file does that cannot be read. Steps are
tried for a part of that; loops for which no time is left have the verdict that they have as written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import cast

from msgspec import Struct, field
from msgspec.structs import replace

from warpsmith.base.findings import Finding
from warpsmith.base.source import Span, readable
from warpsmith.base.time_limit import OutOfTimeError, time_limit, time_share
from warpsmith.base.verdict import Reason
from warpsmith.front.c.counted.writes import Knowledge, close_over_calls, writes_of
from warpsmith.front.inputs import Source
from warpsmith.front.separate import LoopPlace, Parsed, has_uncounted, parse_separately
from warpsmith.loops.prepared import Prepared
from warpsmith.loops.search.effort import effort_of
from warpsmith.offload.automatic import automatic
from warpsmith.poly.analyze import Facts
from warpsmith.poly.effects.global_pointers import global_uses
from warpsmith.poly.effects.library import mentions
from warpsmith.poly.effects.outside import Outside, OutsideFunction, encode_function
from warpsmith.poly.effects.summaries import Summaries
from warpsmith.poly.facts import LoopFacts
from warpsmith.poly.openmp.apply_claims import apply_claims
from warpsmith.report.port.after_steps import BEST_FIRST, loop_word, unplanned_reasons
from warpsmith.report.port.served import Served
from warpsmith.survey.limits import SurveyLimits
from warpsmith.survey.plain import (
    decode_outside,
    decode_writes,
    encode_effort,
    encode_finding,
    encode_writes,
)
from warpsmith.survey.texts import compact
from warpsmith.tree.nodes import For, Function, Loop, Name, Verbatim, VerbatimExpr
from warpsmith.tree.plain import Plain, encode_symbol
from warpsmith.tree.program import Program, Unit
from warpsmith.tree.walk import loops, walk

__all__ = ["Desk"]

Place = tuple[str, int, int]
# of the time of one file: trying steps, in all files together, and at least in each
_STEPS_SHARE, _LEAST_STEPS_SHARE = 1 / 3, 1 / 40


class Desk(Struct):
    """Reads files and keeps the latest of their trees; what it answers does not depend on what it keeps."""

    limits: SurveyLimits
    sources: Sequence[Source]
    _kept: dict[int, tuple[Parsed, Unit]] = field(default_factory=dict)

    def read(self, numbers: Sequence[int]) -> list[Plain]:
        """Parse files by their numbers and return their exports, or the findings where one cannot be read."""
        answers: list[Plain] = []
        for number, parsed in zip(numbers, self._parse(numbers), strict=True):
            if parsed.context is None:
                answers.append({"failed": [encode_finding(f) for f in parsed.findings]})
                continue
            answers.append(self._in_time(number, "read", partial(self._tell, number, parsed)))
        return answers

    def summarize(self, number: int, outside: Plain) -> Plain:
        """Return what the functions of a file do, with what `outside` says of others; or why there was no time."""
        return self._in_time(number, "summarized", partial(self._summarize, number, outside))

    def analyze(self, number: int, outside: Plain, called: Plain) -> Plain:
        """Return the verdicts on the loops of a file; `called`: what its calls of other files' functions write. Or why
        there was no time."""
        return self._in_time(number, "analyzed", partial(self._analyze, number, outside, called))

    def _in_time(self, number: int, done: str, answer: Callable[[], Plain]) -> Plain:
        """Return an answer about one file, or the finding that it takes too long."""
        seconds = self.limits.front.timeout_s
        try:
            with time_limit(seconds, "processor"):
                return answer()
        except OutOfTimeError:
            late = f"{self.sources[number].path} was not {done} within {seconds:g} s of processor time"
            message = f"{late}: its loops have no verdict"
            helps = ("raise --timeout, or give parts of its long functions functions of their own",)
            return {"failed": [encode_finding(Finding("INP009", "error", message, None, helps))]}

    def _tell(self, number: int, parsed: Parsed) -> Plain:
        unit = parsed.unit(self._first_knowledge(parsed))
        self._keep(number, parsed, unit)
        return self._exports(parsed, unit)

    def _summarize(self, number: int, outside: Plain) -> Plain:
        _, unit = self._unit(number)
        program = Program((unit,), effects=self.limits.front.effects, outside=decode_outside(outside))
        return {"functions": _functions(program)}

    def _analyze(self, number: int, outside: Plain, called: Plain) -> Plain:
        parsed, unit = self._unit(number)
        knowledge = self._knowledge(parsed, unit, called)
        if knowledge.library != parsed.library(self.limits.front.effects):
            unit = parsed.unit(knowledge)
        elif any(map(has_uncounted, unit.functions)):
            unit = parsed.unit_again(knowledge)
        program = Program((unit,), effects=self.limits.front.effects, outside=decode_outside(outside))
        facts = Facts.about(program, self.limits.poly, apply_claims)
        with time_share(self.limits.front.timeout_s * max(_STEPS_SHARE / len(self.sources), _LEAST_STEPS_SHARE)):
            prepared = automatic(Prepared(facts, facts), None)
        served = Served.of(prepared, None)
        places = _Places(parsed.loops())
        verdicts: dict[int, Plain] = {}
        efforts: list[Plain] = []
        for function in unit.functions:
            numbered = places.of(function)
            efforts.append(
                [encode_effort(effort_of(function)), [numbered.get(loop, -1) for loop, _ in loops(function.body)]]
            )
            for known in facts.of(function).loops:
                where = numbered.get(known.loop)
                if where is None:
                    continue
                verdict = _verdict(prepared, served, known, places.places[where].form)
                if where not in verdicts or _rank(verdict) > _rank(verdicts[where]):
                    verdicts[where] = verdict
        rest = {n: _opaque(place, unit) for n, place in enumerate(places.places) if n not in verdicts}
        return {"verdicts": [[n, v] for n, v in sorted((verdicts | rest).items())], "efforts": efforts}

    def _parse(self, numbers: Sequence[int]) -> list[Parsed]:
        return parse_separately([self.sources[n] for n in numbers], self.limits.front)

    def _first_knowledge(self, parsed: Parsed) -> Knowledge:
        effects = self.limits.front.effects
        references = parsed.given is not None and parsed.given.language != "c"
        return Knowledge({}, parsed.library(effects), parsed.find_escaped(effects), False, references)

    def _knowledge(self, parsed: Parsed, unit: Unit, called: Plain) -> Knowledge:
        """Return what the front end may know of a file's own functions and of others'."""
        fields = cast(Mapping[str, Plain], called)
        first = self._first_knowledge(parsed)
        # a function of the project is not the library's of that name
        library = first.library - frozenset(cast(list[str], fields["defined"]))
        others = {key: decode_writes(w) for key, w in cast(Mapping[str, Plain], fields["writes"]).items()}
        own = {f.symbol.key: writes_of([f.body]) for f in unit.functions}
        return replace(
            first,
            functions=close_over_calls({**others, **own}, library),
            library=library,
            escaped=first.escaped | frozenset(cast(list[str], fields["escaped"])),
            whole=bool(fields["whole"]),
        )

    def _unit(self, number: int) -> tuple[Parsed, Unit]:
        if number not in self._kept:
            (parsed,) = self._parse((number,))
            self._keep(number, parsed, parsed.unit(self._first_knowledge(parsed)))
        # what was asked about longest ago goes first
        found = self._kept[number] = self._kept.pop(number)
        return found

    def _keep(self, number: int, parsed: Parsed, unit: Unit) -> None:
        self._kept[number] = parsed, unit
        while sum(len(u.file.text) for _, u in self._kept.values()) > self.limits.kept_bytes and len(self._kept) > 1:
            del self._kept[next(iter(self._kept))]

    def _exports(self, parsed: Parsed, unit: Unit) -> Plain:
        effects = self.limits.front.effects
        program = Program((unit,), effects=effects, outside=Outside())
        uses = global_uses(program)
        own = {f.symbol.key for f in unit.functions}
        named = {f.symbol.key: _find_named_functions(f) for f in unit.functions}
        watched = effects.find_watched()
        return {
            "files": list(parsed.read_files()),
            "loops": [_place(place) for place in parsed.loops()],
            "functions": _functions(program),
            "writes": {f.symbol.key: _number_parameters(f, encode_writes(writes_of([f.body]))) for f in unit.functions},
            "named": {key: sorted(found) for key, found in named.items()},
            "outside": sorted(frozenset().union(*named.values()) - own),
            "library": sorted(parsed.library(effects)),
            "escaped": sorted(parsed.find_escaped(effects)),
            "main": parsed.has_main(),
            "seen": sorted(s.key for s in uses.seen),
            "shared": [encode_symbol(s) for s in sorted(uses.shared, key=lambda s: s.key)],
            "taken": [encode_symbol(s) for s in sorted(uses.taken, key=lambda s: s.key)],
            "mentioned": sorted(watched.intersection(*[frozenset().union(*map(mentions, unit.functions))])),
            "warnings": [encode_finding(f) for f in parsed.warnings()],
            "lines": len(unit.file.text.splitlines()),
        }


class _Places:
    """The places of a file's loops, and which tree loop stands at which."""

    def __init__(self, places: tuple[LoopPlace, ...]) -> None:
        self.places = places
        self._numbers: dict[Place, int] = {(p.span.file.path, p.span.start, p.number): n for n, p in enumerate(places)}

    def of(self, function: Function) -> dict[Loop, int]:
        """Return the numbers of the places of a function's loops."""
        met: Counter[tuple[str, int]] = Counter()
        found: dict[Loop, int] = {}
        for loop, _ in loops(function.body):
            start = loop.span.file.path, loop.span.start
            number = self._numbers.get((*start, met[start]))
            met[start] += 1
            if number is not None:
                found[loop] = number
        return found


def _find_named_functions(function: Function) -> frozenset[str]:
    """Return the keys of the functions that a function names, called or not."""
    names = (n.symbol for n in walk(function.body) if isinstance(n, Name))
    return frozenset(s.key for s in names if s.storage == "function")


def _functions(program: Program) -> Plain:
    """Return what functions do, as texts by their keys."""
    summaries = Summaries.of(program)
    found: dict[str, Plain] = {}
    for _, f in program.functions():
        key = f.symbol.key
        text = _number_parameters(
            f, encode_function(OutsideFunction(f.symbol, f.parameters, summaries.summary(f.symbol)))
        )
        # of two bodies under one name nothing is known
        same = found.setdefault(key, text) == text
        found[key] = text if same else _number_parameters(f, encode_function(OutsideFunction(f.symbol, f.parameters)))
    return found


def _number_parameters(function: Function, plain: Plain) -> str:
    """Return what is said of a function as text. A parameter is known by its number and not by its place in the file:
    callers need not hear of an edit that only moves the function."""
    text = compact(plain)
    for number, parameter in enumerate(function.parameters):
        text = text.replace(compact(parameter.key), compact(f"{function.symbol.key}/{number}"))
    return text


def _place(place: LoopPlace) -> Plain:
    span = place.span
    head = " ".join(readable(span.file.line(span.line)).split())[:120]
    return [
        span.file.path, span.start, place.number, place.form, place.function,
        [span.line, span.column, span.end_line, span.end_column], head,
    ]  # fmt: skip


def _rank(verdict: Plain) -> int:
    """Return the place of a verdict: of two instances of a text the one counts that promises less."""
    return BEST_FIRST.index(str(cast(Mapping[str, Plain], verdict)["category"]))


def _verdict(prepared: Prepared, served: Served, facts: LoopFacts, form: str) -> Plain:
    loop = facts.loop
    word = loop_word(prepared, served, facts)
    return {
        "id": facts.id,
        "label": form if form.startswith("std::") else _label(loop),
        "variable": loop.variable.name if isinstance(loop, For) else "",
        "function": facts.function.symbol.name,
        "depth": facts.depth + 1,
        "category": word.category,
        "reasons": [_reason(reason) for reason in unplanned_reasons(prepared, facts, word)],
        "assumptions": [[a.text, a.kind] for a in word.assumptions],
        "steps": list(word.steps),
    }


def _label(loop: Loop) -> str:
    """Return a loop in few words of the user's: the counter of `for (x : v)` is ours, and has x in its name."""
    if not isinstance(loop, For):
        return loop.form
    name, key = loop.variable.name, loop.variable.key
    return f"for {name.rstrip('_').removesuffix('_at') if key.endswith(':at') else name}"


def _reason(reason: Reason) -> Plain:
    span, dependence = reason.span, reason.dependence
    place = None if span is None else _spot(span)
    detail = None
    if dependence is not None:
        detail = [
            dependence.kind, dependence.variable, _spot(dependence.source), _spot(dependence.sink),
            list(dependence.distance), list(dependence.direction), dependence.carried_by, dependence.witness,
        ]  # fmt: skip
    return [reason.rule, reason.text, place, detail, list(reason.legal_if)]


def _spot(span: Span) -> list[Plain]:
    return [span.file.path, span.line, span.column, span.end_line, span.end_column]


def _opaque(place: LoopPlace, unit: Unit) -> Plain:
    """Return the word on a loop that the tree does not show, with what hides it."""
    why = min(_hiding(place, unit), default=(0, "it stands in a construct that is not modelled"))[1]
    reason: list[Plain] = ["POR008", why, _spot(place.span), None, []]
    return {
        "id": f"{place.function or 'file'}/{place.form.replace(' ', '-')}", "label": place.form, "variable": "",
        "function": place.function, "depth": 1, "category": "unanalyzable", "reasons": [reason], "assumptions": [],
        "steps": [],
    }  # fmt: skip


def _hiding(place: LoopPlace, unit: Unit) -> Iterator[tuple[int, str]]:
    """Yield the sizes and reasons of the constructs around a place that are not modelled."""
    for function in unit.functions:
        if function.span.contains(place.span):
            for node in walk(function.body):
                if isinstance(node, Verbatim | VerbatimExpr) and node.span.contains(place.span):
                    yield node.span.end - node.span.start, f"a construct that is not modelled: {node.reason}"
