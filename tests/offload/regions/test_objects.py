"""Memory that dies in a data region: what frees it, what a run takes along, and objects that own some."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.offload.analyzed import Analyzed, analyzed
from tests.offload.regions.planned import KERNELS, shown, straight
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.offload.memory.presence import Presence, Resident
from warpsmith.offload.plan import DataRegion
from warpsmith.offload.regions.objects import (
    declared_last,
    frees,
    is_cxx,
    is_guarded,
    may_make_objects,
    owns_memory,
    unfit,
    with_frees,
)
from warpsmith.poly.effects.summaries import Summaries
from warpsmith.poly.pointers.pointers import Root
from warpsmith.tree.nodes import DeclStmt, Function
from warpsmith.tree.program import Program

TEXT = f"""{KERNELS}
static void give_up(double *p) {{ free(p); p = 0; }}
static void loud(double *p) {{ free(p); puts("gone"); }}
static void forget(double **p) {{ *p = 0; }}
static double *kept;
void f(double *u, double *v, double *w, int n)
{{
    double part[8];
    kept = part;
    step(u, v, n);
    step(v, u, n);
    free(u);
    give_up(v);
    loud(w);
    free(w);
}}
void g(double *u, double *v, int n)
{{
    int i = 2, j;
    step(u, v, n); step(v, u, n); forget(&u); u = realloc(u, 9);
    goto out;
out: j = i;
}}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Analyzed:
    return analyzed(TEXT, tmp_path_factory.mktemp("objects"))


@pytest.mark.parametrize(
    ("statement", "function", "expected"),
    [("free(u)", "f", True), ("give_up(v)", "f", False), ("u = realloc", "g", True), ("step(u, v", "f", False)],
)
def test_what_frees_memory(statement: str, function: str, expected: bool, program: Analyzed) -> None:
    assert frees(program.statement(statement, function)) == expected


def data_region(program: Analyzed, first: str, last: str, function: str = "f") -> DataRegion:
    body = program.function(function).body.statements
    run = [s.span.text for s in body]
    start = next(i for i, text in enumerate(run) if text.startswith(first))
    end = next(i for i, text in enumerate(run) if text.startswith(last))
    return DataRegion(program.function(function), body[start : end + 1])


def test_a_run_takes_along_what_only_frees_behind_it(program: Analyzed) -> None:
    summaries = Summaries.of(program.program)
    run = data_region(program, "step(u", "step(v")
    more = with_frees(run, summaries, frozenset()).run
    assert [s.span.text for s in more[2:]] == ["free(u);", "give_up(v);"]
    cut = frozenset({program.statement("give_up(v)")})
    assert [s.span.text for s in with_frees(run, summaries, cut).run[2:]] == ["free(u);"]
    # what forgets a pointer and frees nothing is no end of a block
    other = data_region(program, "step(u", "step(v", "g")
    assert with_frees(other, summaries, frozenset()).run == other.run


def test_variables_that_a_runs_own_statements_declare_live_on_behind_it(program: Analyzed) -> None:
    body = program.function("g").body.statements
    assert [s.name for s in declared_last(body)] == ["i", "j"]
    assert list(declared_last(body[1:])) == []


def resident(program: Analyzed, *short: Root, watched: bool = False) -> Resident:
    kinds = frozenset({("float", 64)})
    presence = Presence(Summaries.of(program.program), kinds, frozenset(), kinds)
    return Resident(presence, frozenset(short), watched=watched)


def test_what_cannot_run_in_a_data_region(program: Analyzed) -> None:
    function = program.function()
    part = Root("object", program.symbol("part"))
    found = unfit(function, (), resident(program, part), whole=True, objects=False)
    assert found is not None and "the address of 'part', which lives in 'f', is kept elsewhere" in found.text
    # the run time sees it die
    assert unfit(function, (), resident(program, part, watched=True), whole=True, objects=False) is None
    assert unfit(function, (), resident(program), whole=True, objects=False) is None
    jump = unfit(
        program.function("g"), program.function("g").body.statements, resident(program), whole=True, objects=False
    )
    assert jump is not None and jump.text == "a jump (goto)"


def test_a_freed_block_of_the_last_stage_dies_before_the_data_region_ends(tmp_path: Path) -> None:
    found = shown(
        straight('double *c = malloc(400); step(u, c, n); free(c); step(u, v, n); free(u);\nputs("end");', tmp_path)
    )
    assert found[-1] == "after free: end"


# --- C++

CXX = """
#include <vector>
#include <cstdio>
struct Image { int w; std::vector<float> data; };
struct Plain { int w; float data[4]; };
void plain(Plain p, int n) { float a[3]; Plain q = p; a[0] = n; }
void vectors(std::vector<float> &given, int n) { given[0] = 1; { std::vector<float> own(n); own[0] = 2; } }
void value(Image i) { i.w = 2; }
void reference(Image &i) { i.w = 2; }
void arrays() { Image both[2]; both[0].w = 1; }
void jumps(int n) { if (n) goto out; n = 3; out: n = 4; }
void cases(int n) { switch (n) { case 1: n = 2; break; default: { n = 5; } } }
"""
LOUD = 'struct Loud { ~Loud() { std::puts("end"); } };\nvoid loud() { Loud l; std::puts("in"); }\n'


def cxx(text: str, folder: Path) -> tuple[Program, dict[str, Function]]:
    path = folder / "a.cpp"
    path.write_text(text)
    program = load_program([str(path)], FrontOptions()).program
    return program, {function.symbol.name: function for _, function in program.functions()}


@pytest.fixture(scope="module")
def objects(tmp_path_factory: pytest.TempPathFactory) -> tuple[Program, dict[str, Function]]:
    return cxx(CXX, tmp_path_factory.mktemp("cxx"))


@pytest.mark.parametrize(
    ("function", "expected"),
    [("plain", False), ("vectors", True), ("value", True), ("arrays", True), ("jumps", False)],
)
def test_functions_in_which_objects_free_memory(
    function: str, expected: bool, objects: tuple[Program, dict[str, Function]]
) -> None:
    assert owns_memory(objects[1][function]) == expected


def test_a_data_region_of_cxx_has_a_guard_where_nothing_jumps_past_it(
    objects: tuple[Program, dict[str, Function]], program: Analyzed
) -> None:
    made, functions = objects

    def guarded(name: str) -> bool:
        return is_guarded(made, DataRegion(functions[name], functions[name].body.statements[:1]))

    assert [guarded(name) for name in ("plain", "jumps", "cases")] == [True, False, True]
    case = next(p for p in functions["cases"].body.statements[0].cases)  # type: ignore[union-attr]
    assert not is_guarded(made, DataRegion(functions["cases"], case.body))
    assert not is_guarded(program.program, data_region(program, "step(u", "step(v"))
    assert is_cxx(made, functions["plain"]) and not is_cxx(program.program, program.function())


def test_no_objects_where_an_exception_would_meet_a_destructor_of_the_program(
    objects: tuple[Program, dict[str, Function]], tmp_path: Path
) -> None:
    made, functions = objects
    good = DataRegion(functions["plain"], functions["plain"].body.statements)
    assert may_make_objects(made, [good])
    assert not may_make_objects(made, [good, DataRegion(functions["jumps"], functions["jumps"].body.statements)])
    loud, again = cxx(CXX + LOUD, tmp_path)
    assert not may_make_objects(loud, [DataRegion(again["plain"], again["plain"].body.statements)])


def test_objects_end_where_their_function_or_block_does(
    objects: tuple[Program, dict[str, Function]], program: Analyzed
) -> None:
    _, functions = objects

    def why(name: str, *, whole: bool = True, owned: bool = False) -> str:
        run = functions[name].body.statements
        found = unfit(functions[name], run, resident(program, watched=True), whole=whole, objects=owned)
        return "" if found is None else found.text

    assert "'i' is an object that 'value' is given by value" in why("value")
    assert why("value", whole=False) == why("value", owned=True) == why("plain") == ""
    assert "'both' is an object that may free memory" in why("arrays") and why("arrays", owned=True) == ""
    assert any(isinstance(s, DeclStmt) for s in functions["arrays"].body.statements)
