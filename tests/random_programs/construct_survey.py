"""Warpsmith's answers about random functions and ports of them, set against the oracle and the referee."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct, field

from tests.random_programs.acceptance import is_right
from tests.random_programs.constructs import Size, Source, make_source, render
from tests.random_programs.survey import value_of
from tests.random_programs.tracing import Entry, Number, run
from warpsmith.base.verdict import Proved, Verdict
from warpsmith.flows.port import PortOptions, PortResult, port
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.poly.analyze import analyze
from warpsmith.poly.facts import FunctionFacts, LoopFacts, PolyOptions
from warpsmith.report.port.build import loop_entries
from warpsmith.tree.program import Assumption

__all__ = ["ConstructPorts", "Survey", "batches", "judge_batch", "port_batch"]

# (n, m, w): rows apart; then rows that overlap, and next to nothing
APART: tuple[Size, ...] = ((8, 9, 31), (9, 7, 32), (7, 7, 33))
OVERLAPPING: tuple[Size, ...] = ((4, 4, 2), (5, 5, 5), (6, 3, 4), (1, 2, 1), (0, 1, 5))
PORT_SIZES: tuple[Size, ...] = ((8, 9, 31), (4, 5, 2), (0, 1, 5))


def batches(seed: int, count: int, size: int) -> Iterator[list[Source]]:
    """Yield `count` different functions in batches of `size`, always the same ones."""
    rng, seen, found = random.Random(seed), set[str](), list[Source]()
    while len(found) < count:
        source = make_source(rng, "f")
        if source.text not in seen:
            seen.add(source.text)
            name = f"f{len(found)}"
            found.append(
                Source(name, source.text.replace("double f(", f"double {name}(", 1), source.kinds, source.never)
            )
    for start in range(0, count, size):
        yield found[start : start + size]


# --- verdicts


class Survey(Struct):
    """Counts over all functions, and everything that is wrong or was not found."""

    functions: int = 0
    loops: int = 0
    parallel: int = 0
    found: int = 0
    reductions: int = 0
    combined: int = 0
    never: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    categories: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        counts = ", ".join(f"{n} {name}" for name, n in self.categories.most_common())
        return (
            f"{self.functions} functions, {self.loops} loops ({counts}): {self.parallel} parallel by the oracle, "
            f"{self.found} of them found; {self.combined} of {self.reductions} reductions found; "
            f"{self.never} loops that may never be parallel"
        )


def judge_batch(batch: Sequence[Source], directory: Path, survey: Survey) -> None:
    """Add what is right and wrong with the verdicts on a batch to `survey`."""
    path = directory / "constructs.c"
    path.write_text(render(batch, APART))
    loaded = load_program([str(path)], FrontOptions())
    assert not loaded.findings, loaded.findings
    known = {f.function.symbol.name: f for f in analyze(loaded.program, PolyOptions()).functions}
    for source in batch:
        survey.functions += 1
        survey.kinds.update(source.kinds)
        _judge(source, known[source.name], survey)


def _judge(source: Source, facts: FunctionFacts, survey: Survey) -> None:
    apart, overlapping = _runs(facts, APART), _runs(facts, OVERLAPPING)
    for loop in facts.loops:
        survey.loops += 1
        survey.categories[loop.category] += 1
        entries = [e for e in apart if e.loop is loop.loop]
        bad = [e for e in (*entries, *(e for e in overlapping if e.loop is loop.loop)) if e.bad]
        parallel = any(e.repeats for e in entries) and not any(e.bad for e in entries)
        survey.parallel += parallel
        proved = isinstance(loop.verdict, Proved)
        survey.found += parallel and proved
        if parallel and not proved:
            survey.missed.append(f"{loop.id}: {'; '.join(r.text for r in loop.reasons[:3])}\n{source.text}")
        if proved and any(_holds(loop.verdict, e) for e in bad):
            survey.wrong.append(f"{loop.id} is called parallel\n{source.text}")
        if (loop.category == "parallel") != proved:
            survey.wrong.append(f"{loop.id} is called {loop.category}, its verdict is another\n{source.text}")
        if _is_never(source, loop):
            survey.never += 1
            if proved or (_is_left(source) and isinstance(loop.combined, Proved)):
                survey.wrong.append(f"{loop.id} may never be called parallel\n{source.text}")
    if "reduction" in source.kinds:
        survey.reductions += 1
        survey.combined += any(loop.category == "reduction" for loop in facts.loops)


def _is_never(source: Source, loop: LoopFacts) -> bool:
    return loop.id.rpartition("/")[2] in source.never


def _is_left(source: Source) -> bool:
    return "early exit" in source.kinds


def _runs(facts: FunctionFacts, sizes: Sequence[Size]) -> list[Entry]:
    """Run the function with data on which conditions hold sometimes, always, and never."""
    found: list[Entry] = []
    for n, m, w in sizes:
        for data in (_mixed, _high, _low):
            found += run(facts.function, {"n": n, "given": n, "m": m, "w": w}, data)
    return found


def _mixed(name: str, element: int) -> Number:
    return (element * 7 + 3) % 5 if name == "idx" else 0.25 + (element * 7 + len(name)) % 9 / 8.0


def _high(name: str, element: int) -> Number:
    return element if name == "idx" else 1.5 + element % 7 / 8.0


def _low(name: str, element: int) -> Number:
    return 3 if name == "idx" else 0.125 + element % 5 / 16.0


def _holds(verdict: Verdict, entry: Entry) -> bool:
    """Whether all conditions of a verdict hold where an entry begins."""
    assumed = verdict.assumptions if isinstance(verdict, Proved) else ()
    conditions = [a.condition for a in assumed if isinstance(a, Assumption) and a.condition is not None]
    return all(value_of(condition, entry.names) for condition in conditions)


# --- ports


class ConstructPorts(Struct):
    """Counts over all functions. `after`: those with a loop that steps made parallel; `thanks`: those that are ported
    with steps, and not without."""

    functions: int = 0
    ported: int = 0
    kernels: int = 0
    after: int = 0
    thanks: set[str] = field(default_factory=set)
    kinds: Counter[str] = field(default_factory=Counter)
    categories: Counter[str] = field(default_factory=Counter)
    steps: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        share = 100 * self.ported // max(1, self.functions)
        return (
            f"{self.functions} functions: {self.ported} ported ({share} %), {self.kernels} kernels, {self.after} with "
            f"loops that are parallel after steps, {len(self.thanks)} ported thanks to steps; {dict(self.steps)}"
        )


def port_batch(batch: Sequence[Source], directory: Path, ports: ConstructPorts) -> None:
    """Port a batch with steps, let the referee judge it, and count; name the functions at fault."""
    result = _port(batch, directory, PortOptions())
    plain = _port(batch, directory, PortOptions(steps=False, verify=False))
    with_steps, without = _ported(result), _ported(plain)
    by_name = {source.name: source for source in batch}
    ports.functions += len(batch)
    ports.ported += len(with_steps & by_name.keys())
    ports.thanks |= (with_steps - without) & by_name.keys()
    ports.kernels += len(result.plan.fragments) if result.plan else 0
    ports.steps.update(type(a.step).name for a in result.prepared.applied)
    for name in with_steps & by_name.keys():
        ports.kinds.update(by_name[name].kinds)
    changed = set[str]()
    fragments = result.plan.fragments if result.plan else ()
    threads = {mapped.loop.header.start for f in fragments for mapped in f.kernel.mapped}
    for entry in loop_entries(result.prepared, result.plan):
        ports.categories[entry.category] += 1
        if entry.category == "parallel-after":
            changed.add(entry.function)
        source = by_name.get(entry.function)
        left = source is not None and _is_left(source) and entry.variable in source.never
        if left and (entry.span.start in threads or entry.category in ("parallel", "parallel-after")):
            ports.wrong.append(f"{entry.id} may never be called parallel\n{by_name[entry.function].text}")
    ports.after += len(changed)
    if not is_right(result):
        ports.wrong += _guilty(batch, directory) or [f"only together: {_word(result)}"]


def _port(batch: Sequence[Source], directory: Path, options: PortOptions) -> PortResult:
    path = directory / "constructs.c"
    path.write_text(render(batch, PORT_SIZES))
    return port([str(path)], options)


def _ported(result: PortResult) -> set[str]:
    return {f.function.symbol.name for f in result.plan.fragments} if result.plan else set()


def _guilty(batch: Sequence[Source], directory: Path) -> list[str]:
    found: list[str] = []
    for source in batch:
        result = _port([source], directory, PortOptions())
        if not is_right(result):
            found.append(f"{_word(result)}\n{source.text}")
    return found


def _word(result: PortResult) -> str:
    errors = [f.message for f in (*result.diagnostics, *result.findings) if f.severity == "error"]
    verification = result.verification
    said = [] if verification is None else [verification.status, *(f.message for f in verification.reasons[:4])]
    return "\n".join([*errors, *said])
