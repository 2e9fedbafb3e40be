"""Every hint on the corpus of refused loops is applied as a user would: the verdict changes as the hint says, and code
that is said to give the same results does."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from msgspec import Struct

from warpsmith.flows.hints import remedies
from warpsmith.flows.hints.remedies import Inputs, hints
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.poly.analyze import Facts, analyze
from warpsmith.poly.facts import LoopFacts, PolyOptions
from warpsmith.poly.openmp.apply_claims import apply_claims
from warpsmith.report.hints import hint_json
from warpsmith.tree.effects.file import users_effects
from warpsmith.tree.program import Assumption

CORPUS = Path(__file__).parents[2] / "loops/refused"
FILES = ("recurrences.c", "memory.c", "particles.c", "pairs.c", "sums.c", "draws.c", "members.cpp")
# the loops that something helps, and what they are then; nothing may be printed for any other
HELPED = {
    "recurrences.c": {
        "shift_left/i": "parallel",
        "look_ahead/i": "parallel",
        "shift_of_two/i": "parallel",
        "horner/i/k": "scan",
    },
    "memory.c": {"scatter/i": "parallel", "scatter_unclear/i": "parallel", "csr/i/k": "parallel"},
    "particles.c": {
        "bodies/i": "parallel",
        "bodies/i/j": "reduction",
        "members/i": "parallel",
        "forces/i": "parallel",
        "collect/i": "reduction",
        "extreme/i": "reduction",
        "into_pointer/i": "reduction",
        "average/i": "scan",
        "monte_carlo/i": "reduction",
        "decay/i": "scan",
        "noise_masked/i": "parallel",
        "noise_prime/i": "parallel",
        "step_random/i": "scan",
        "unknown_call/i": "parallel",
    },
    "pairs.c": {
        "with_cutoff/i": "parallel",
        "with_cutoff/i/j": "reduction",
        "in_planes/i": "parallel",
        "counters_before/i": "parallel",
        "read_elsewhere/i/j": "reduction",
        "by_remainder/i": "parallel",
        "ahead_to_the_end/i": "parallel",
        "macro_bounds/i": "parallel",
        "with_energy/i": "reduction",
        "with_energy/i/j": "scan",
        "every_second/i/j": "scan",
        "then_scaled/i/j": "scan",
        "other_range/i/j": "scan",
    },
    "sums.c": {
        "attraction/i": "reduction",
        "nearest_pair/i": "reduction",
        "distances/i": "reduction",
        "unclear_names/i": "reduction",
        "into_an_element/i": "reduction",
        "kinetic/i": "reduction",
        "of_variable/i": "reduction",
        "other_member/i": "reduction",
        "distances/i/j": "scan",
        "unclear_names/i/j": "scan",
        "into_an_element/i/j": "scan",
        "sum_of_elements/i/j": "scan",
    },
    "draws.c": {"two_of_each/i": "parallel", "down_by_three/i": "parallel"},
    "members.cpp": {
        "Totals::add/i": "reduction",
        "Totals::decay/i": "scan",
        "by_reference/i": "reduction",
        "of_parameter/i": "reduction",
    },
}
# what a user sees first, one of each kind; the others are slow
QUICK = (
    "scatter/i",
    "unknown_call/i",
    "step_random/i",
    "Totals::add/i",
    "counters_before/i",
    "ahead_to_the_end/i",
    "attraction/i",
)


class Printed(Struct, frozen=True):
    """A hint as the JSON report has it, about a loop of a file."""

    file: str
    loop: str
    hint: dict[str, object]

    @property
    def remedies(self) -> list[dict[str, str]]:
        return json.loads(json.dumps(self.hint["remedies"]))  # type: ignore[no-any-return]


@cache
def judged(file: str) -> Facts:
    return analyze(load_program([str(CORPUS / file)], FrontOptions()).program, PolyOptions(), apply_claims)


def refused(file: str) -> Iterator[LoopFacts]:
    yield from (loop for f in judged(file).functions for loop in f.loops if loop.category != "parallel")


@cache
def printed(file: str, loop: str) -> tuple[Printed, ...]:
    """Return the hints that are printed for a loop."""
    known = next(one for one in refused(file) if one.id == loop)
    found = hints(judged(file), known.loop, Inputs((str(CORPUS / file),), FrontOptions()))
    return tuple(Printed(file, loop, json.loads(json.dumps(hint_json(hint)))) for hint in found)


def patched(file: str, one: Printed, folder: Path) -> Path:
    """Return the file after the diffs of a hint, applied by the tool that everybody has."""
    path = folder / file
    path.write_bytes((CORPUS / file).read_bytes())
    for remedy in one.remedies:
        if remedy["kind"] == "edit":
            command = ["patch", "--quiet", "--fuzz=0", str(path)]
            subprocess.run(command, input=remedy["diff"] + "\n", text=True, check=True)
    return path


def categories(one: Printed, folder: Path) -> set[str]:
    """Return the categories of the loop, and of those that were put beside it, after all remedies of a hint."""
    path = patched(one.file, one, folder)
    granted = tuple(Assumption(r["text"], "granted") for r in one.remedies if r["kind"] == "assumption")
    files: list[str] = []
    for remedy in one.remedies:
        if remedy["kind"] == "option":
            assert remedy["option"] == "--effects"
            files.append(str(folder / f"effects{len(files)}.toml"))
            Path(files[-1]).write_text(remedy["text"])
    front = FrontOptions(effects=users_effects(files))
    facts = Facts.about(load_program([str(path)], front).program, PolyOptions(granted=granted), apply_claims)
    name = one.loop.split("/")[0].split("::")[-1]
    function = next(f for _, f in facts.program.functions() if f.symbol.name.split("::")[-1] == name)
    own = re.compile(re.escape(one.loop) + r"(#\d+)?")
    before = {loop.id for loop in loops_of(one.file, name)}
    after = [loop for loop in facts.of(function).loops if own.fullmatch(loop.id)]
    return {loop.category for loop in after if loop.id == one.loop or loop.id not in before}


def loops_of(file: str, name: str) -> tuple[LoopFacts, ...]:
    functions = judged(file).functions
    return next(f.loops for f in functions if f.function.symbol.name.split("::")[-1] == name)


def worst(found: set[str]) -> str:
    return max(found, key=("parallel", "reduction", "scan", "sequential", "unanalyzable").index)


def check(one: Printed, folder: Path) -> None:
    assert worst(categories(one, folder)) == one.hint["then"]
    known = next(loop for loop in refused(one.file) if loop.id == one.loop)
    assert known.category != one.hint["then"]


def test_the_corpus_is_large_enough() -> None:
    assert sum(1 for file in FILES for _ in refused(file)) >= 60


@pytest.mark.parametrize("loop", QUICK)
def test_a_hint_does_what_it_says(loop: str, tmp_path: Path) -> None:
    file = next(f for f in FILES if loop in HELPED[f])
    (one,) = printed(file, loop)
    assert one.hint["then"] == HELPED[file][loop]
    check(one, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("file", FILES)
def test_every_hint_of_the_corpus_does_what_it_says(file: str, tmp_path: Path) -> None:
    found = {loop.id: printed(file, loop.id) for loop in refused(file)}
    assert {loop: some[0].hint["then"] for loop, some in found.items() if some} == HELPED[file]
    for loop, some in found.items():
        for number, one in enumerate(some):
            folder = tmp_path / re.sub(r"\W", "_", f"{loop}{number}")
            folder.mkdir()
            check(one, folder)


def test_a_remedy_that_does_not_help_is_found_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bug is planted: whatever a remedy leads to, it is said to make the loop parallel."""
    monkeypatch.setattr(remedies._State, "runs", True)
    monkeypatch.setattr(remedies._State, "worst", "parallel")
    known = next(one for one in refused("memory.c") if one.id == "scatter_product/i")
    wrong, *_ = hints(judged("memory.c"), known.loop, Inputs((str(CORPUS / "memory.c"),), FrontOptions()))
    with pytest.raises(AssertionError):
        check(Printed("memory.c", known.id, json.loads(json.dumps(hint_json(wrong)))), tmp_path)


FALSE = ("clash/i#2", "keys/i#2", "drawn/i#2", "zeroed/i", "by_square/i", "parents/i", "edges/e")


@pytest.mark.parametrize("loop", FALSE)
def test_nothing_is_proposed_that_the_program_shows_to_be_false(loop: str) -> None:
    assert not printed("memory.c", loop)


class Run(Struct, frozen=True):
    """How a function is run: the elements of `d` and of `e`, which are as large as that, for a size n; and the call,
    whose value is shown."""

    written: str
    read: str
    call: str


RUNS = {
    "bodies/i": Run("7 * n", "0", "(bodies(n, (struct body *)d, 0.01), 0)"),
    "bodies/i/j": Run("7 * n", "0", "(bodies(n, (struct body *)d, 0.01), 0)"),
    "members/i": Run("7 * n", "0", "(members(n, (struct body *)d), 0)"),
    "forces/i": Run("n", "n", "(forces(n, e, d), 0)"),
    "collect/i": Run("3", "n", "(collect(n, e, (struct stats *)d), 0)"),
    "extreme/i": Run("3", "n", "(extreme(n, e, (struct stats *)d), 0)"),
    "into_pointer/i": Run("1", "n", "(into_pointer(n, e, d), 0)"),
    "average/i": Run("n + 3", "n", "(average(n, e, d, (struct stats *)(d + n)), 0)"),
    "monte_carlo/i": Run("0", "0", "monte_carlo(n + 1) + state"),
    "decay/i": Run("3", "n", "(decay(n, e, (struct stats *)d), 0)"),
    "noise_masked/i": Run("n", "0", "(noise_masked(n, d, 4000000000u), 0)"),
    "noise_prime/i": Run("n", "0", "(noise_prime(n, d, 18446744073709551557ull), 0)"),
    "step_random/i": Run("n", "1", "(step_random(n, d, (unsigned *)e), 0)"),
    "with_cutoff/i": Run("n", "n", "(with_cutoff(n, e, d, 20.0), 0)"),
    "with_cutoff/i/j": Run("n", "n", "(with_cutoff(n, e, d, 20.0), 0)"),
    "in_planes/i": Run("3 * n", "3 * n", "(in_planes(n, (double (*)[3])e, (double (*)[3])d), 0)"),
    "counters_before/i": Run("n", "n", "(counters_before(n, e, d), 0)"),
    "read_elsewhere/i/j": Run("n", "n", "(read_elsewhere(n, e, d), 0)"),
    "by_remainder/i": Run("n", "0", "by_remainder(n, (unsigned *)d, 4000000000u)"),
    "ahead_to_the_end/i": Run("n + 1", "0", "(ahead_to_the_end(n, d), 0)"),
    "macro_bounds/i": Run("ROOM", "ROOM", "(macro_bounds(d, e), 0)"),
    "with_energy/i": Run("n", "n", "with_energy(n, e, d)"),
    "with_energy/i/j": Run("n", "n", "with_energy(n, e, d)"),
    "every_second/i/j": Run("n", "n", "(every_second(n, e, d), 0)"),
    "then_scaled/i/j": Run("n", "n", "(then_scaled(n, e, d), 0)"),
    "other_range/i/j": Run("n + 2", "n + 2", "(other_range(n, n + 2, e, d), 0)"),
    "attraction/i": Run("85", "0", "(attraction(n, (struct ensemble *)d), 0)"),
    "nearest_pair/i": Run("n", "n + 1", "nearest_pair(n, e, d, 1.5, (int *)(e + n))"),
    "distances/i": Run("n", "n + 2", "(distances(n, e, d, (int *)(e + n)), 0)"),
    "unclear_names/i": Run("n", "n + 1", "(unclear_names(n, e, d, e + n), 0)"),
    "into_an_element/i": Run("n + 1", "n", "(into_an_element(n, e, d), 0)"),
    "distances/i/j": Run("n", "n + 2", "(distances(n, e, d, (int *)(e + n)), 0)"),
    "unclear_names/i/j": Run("n", "n + 1", "(unclear_names(n, e, d, e + n), 0)"),
    "into_an_element/i/j": Run("n + 1", "n", "(into_an_element(n, e, d), 0)"),
    "sum_of_elements/i/j": Run("n", "n", "sum_of_elements(n, e, d)"),
    "kinetic/i": Run("85", "n", "(kinetic(n, e, (struct ensemble *)d), 0)"),
    "of_variable/i": Run("0", "n", "(of_variable(n, e), everything.of.kinetic)"),
    "other_member/i": Run("85", "0", "(other_member(n, (struct ensemble *)d), 0)"),
    "two_of_each/i": Run("n", "n", "two_of_each(n, d, e, 7)"),
    "down_by_three/i": Run("n", "0", "down_by_three(n, d, 7)"),
    "shift_left/i": Run("n", "n", "(shift_left(n, d, e), 0)"),
    "look_ahead/i": Run("n", "0", "(look_ahead(n, d), 0)"),
    "shift_of_two/i": Run("n", "n", "(shift_of_two(n, d, e), 0)"),
    "horner/i/k": Run("n", "n + 3", "(horner(n, 3, d, e, e + 3), 0)"),
    "Totals::add/i": Run("2", "n", "(((Totals *)d)->add(n, e), 0)"),
    "Totals::decay/i": Run("2", "n", "(((Totals *)d)->decay(n, e), 0)"),
    "by_reference/i": Run("1", "n", "(by_reference(n, e, *d), 0)"),
    "of_parameter/i": Run("2", "n", "(of_parameter(n, e, *(Totals *)d), 0)"),
}
DRIVER = """
#include <stdio.h>
#include <stdlib.h>
double outside(double x) {{ return x + 1; }}
int main(void)
{{
    static const int sizes[] = {{0, 1, 2, 3, 4, 9, 40}};
    for (int k = 0; k < 7; k++) {{
        int n = sizes[k], written = {written}, read = {read};
        double *d = (double *)malloc(written * sizeof *d), *e = (double *)malloc(read * sizeof *e);
        for (int i = 0; i < written; i++) d[i] = (i * 7 + k) % 11 / 3.0 - 1.25;
        for (int i = 0; i < read; i++) e[i] = (i * 5 + k) % 13 / 7.0 - 0.75;
        printf("%d %a\\n", n, (double)({call}));
        for (int i = 0; i < (int)sizeof *d * written; i++) printf("%02x", ((unsigned char *)d)[i]);
        for (int i = 0; i < (int)sizeof *e * read; i++) printf("%02x", ((unsigned char *)e)[i]);
        free(d);
        free(e);
    }}
}}
"""


def shown(source: Path, run: Run) -> str:
    """Return what a program around the functions of `source` prints; what it touches beside its arrays is an error."""
    driver = DRIVER.format(written=run.written, read=run.read, call=run.call)
    main = source.with_name(f"main{source.suffix}")
    main.write_text(f'#include "{source}"\n{driver}')
    compiler = "g++" if source.suffix == ".cpp" else "gcc"
    options = ["-w", "-O1", "-ffp-contract=off", "-fsanitize=address,undefined", "-fno-sanitize-recover"]
    program = str(source.with_name("main"))
    subprocess.run([compiler, *options, str(main), "-o", program, "-lm"], check=True)
    return subprocess.run([program], capture_output=True, text=True, check=True).stdout


def assert_same_results(file: str, one: Printed, folder: Path) -> None:
    if all(remedy["kind"] != "edit" for remedy in one.remedies):
        return
    assert all(remedy.get("same_results", True) for remedy in one.remedies)
    (folder / "before").mkdir(parents=True)
    before = folder / "before" / file
    before.write_bytes((CORPUS / file).read_bytes())
    after = patched(file, one, folder)
    assert shown(after, RUNS[one.loop]) == shown(before, RUNS[one.loop]), one.loop


@pytest.mark.slow
@pytest.mark.parametrize("loop", ["counters_before/i", "step_random/i", "attraction/i"])
def test_a_rewriting_gives_the_same_results(loop: str, tmp_path: Path) -> None:
    file = next(f for f in FILES if loop in HELPED[f])
    (one,) = printed(file, loop)
    assert_same_results(file, one, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("file", FILES)
def test_every_rewriting_of_the_corpus_gives_the_same_results(file: str, tmp_path: Path) -> None:
    for loop in HELPED[file]:
        for number, one in enumerate(printed(file, loop)):
            assert_same_results(file, one, tmp_path / re.sub(r"\W", "_", f"{loop}{number}"))
