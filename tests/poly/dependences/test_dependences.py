"""Random nests against brute force: nothing is wrongly called parallel, nearly every parallel loop is found, and the
witness of every refusal is a real pair of accesses."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from msgspec import Struct

from tests.poly.host_value import value
from tests.poly.nests import Loop, Nest, carried, make, render, run, sizes
from warpsmith.base.verdict import Dependence, Proved, Refuted
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.poly.analyze import analyze
from warpsmith.poly.dependences import dependences
from warpsmith.poly.dependences.dependences import common_steps
from warpsmith.poly.facts import LoopFacts, PolyOptions
from warpsmith.poly.isl.polynomial import Polynomial, atom, constant
from warpsmith.poly.regions.region import Element, MemberStep

COUNTS = [60, pytest.param(160, marks=pytest.mark.slow)]


class Outcome(Struct, frozen=True):
    nest: Nest
    var: str
    facts: LoopFacts
    conflicts: tuple[tuple[int, int], ...]


@pytest.fixture(scope="module", params=COUNTS)
def outcomes(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[Outcome]:
    rng = random.Random(20261120)
    nests = [make(rng, f"f{k}") for k in range(request.param)]
    path: Path = tmp_path_factory.mktemp("nests") / "nests.c"
    head = "typedef unsigned long size_t;\ndouble a[4000], b[4000], A[64][64];\n"
    path.write_text(head + "\n".join(render(nest) for nest in nests))
    loaded = load_program([str(path)], FrontOptions())
    assert not loaded.findings
    facts = analyze(loaded.program, PolyOptions())
    by_name = {f.function.symbol.name: f for f in facts.functions}
    found: list[Outcome] = []
    for nest in nests:
        loops = by_name[nest.name].loops
        assert [x.id.rsplit("/", 1)[1] for x in loops] == variables(nest.loop)
        traces = {at: run(nest, *at) for at in sizes()}
        for x in loops:
            var = x.id.rsplit("/", 1)[1]
            found.append(Outcome(nest, var, x, tuple(at for at, t in traces.items() if carried(t, var))))
    return found


def variables(loop: Loop) -> list[str]:
    return [loop.var, *(v for part in loop.body if isinstance(part, Loop) for v in variables(part))]


def guarded(outcome: Outcome) -> list[tuple[int, int]]:
    """Return the sizes at which the loop carries a conflict although the verdict's guards hold."""
    verdict = outcome.facts.verdict
    assert isinstance(verdict, Proved)
    return [at for at in outcome.conflicts if all(holds(a, *at) for a in verdict.assumptions)]


def holds(assumption: object, n: int, m: int) -> bool:
    condition = getattr(assumption, "condition", None)
    assert condition is not None, "a guarded assumption has a host condition"
    return bool(value(condition, {"n": n, "m": m}))


def test_no_loop_is_wrongly_called_parallel(outcomes: list[Outcome]) -> None:
    proved = [o for o in outcomes if isinstance(o.facts.verdict, Proved)]
    assert len(proved) > len(outcomes) / 3
    wrong = [(render(o.nest), o.var, at) for o in proved if (at := guarded(o))]
    assert not wrong, wrong[0]


def test_nearly_every_parallel_loop_is_found(outcomes: list[Outcome]) -> None:
    """A refused loop that is free at these sizes has a witness at greater ones: the last test replays it. A bound that
    is divided runs so few iterations that a few more show no conflict at these sizes."""
    free = [o for o in outcomes if not o.conflicts and not isinstance(o.facts.verdict, Refuted)]
    missed = [o for o in free if not isinstance(o.facts.verdict, Proved)]
    assert len(missed) <= 0.06 * len(free), [(render(o.nest), o.facts.id, o.facts.reasons) for o in missed]


def test_refusals_are_common_and_have_a_witness(outcomes: list[Outcome]) -> None:
    refused = [o for o in outcomes if isinstance(o.facts.verdict, Refuted)]
    assert len(refused) > len(outcomes) / 5
    for outcome in refused:
        for reason in outcome.facts.reasons:
            assert reason.dependence is not None
            check_witness(outcome, reason.dependence)


WITNESS = re.compile(r"(?:(.*): )?S\d?\((.*?)\) (writes|reads) (\w+)((?:\[-?\d+\])+), S\d?\((.*?)\) (writes|reads) it")


def check_witness(outcome: Outcome, dependence: Dependence) -> None:
    """Replay the nest at the witness's sizes: both accesses happen, in two iterations of the loop."""
    found = WITNESS.fullmatch(dependence.witness)
    assert found is not None, dependence.witness
    head, first, verb, array, subscripts, second, other = found.groups()
    values = {k: int(v) for k, v in re.findall(r"(\w+) = (-?\d+)", head or "")}
    trace = run(outcome.nest, values.get("n", 3), values.get("m", 3))
    where = tuple(int(x) for x in re.findall(r"-?\d+", subscripts))
    events = set(trace.events)
    one, two = (tuple(int(x) for x in part.split(",")) for part in (first, second))
    assert (one, array, where, verb == "writes") in events, (render(outcome.nest), dependence.witness)
    assert (two, array, where, other == "writes") in events, (render(outcome.nest), dependence.witness)
    depth = outcome.facts.depth
    assert one[:depth] == two[:depth]
    assert one[depth] < two[depth]


S, T = atom("i"), atom("j")
X, Y = MemberStep("x"), MemberStep("y")


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ((S, T), (T, S), (2, True)),
        # all of a struct, or of a row, and a part of it
        ((S,), (S, X, T), (1, True)),
        ((S, X), (T, X), (2, True)),
        ((S, X), (T, Y), None),
        ((S, X), (T, S), (1, False)),
        (None, (S,), (0, False)),
    ],
)
def test_the_steps_that_two_elements_have_in_common(
    first: Element | None, second: Element | None, expected: tuple[int, bool] | None
) -> None:
    assert common_steps(first, second) == common_steps(second, first) == expected


def test_a_struct_as_a_whole_meets_its_members(tmp_path: Path) -> None:
    path = tmp_path / "a.c"
    body = "void {}(int n) {{ for (int i = 1; i < n; i++) {{ p[i] = q[i]; p[{}].x[1] = 2; }} }}\n"
    path.write_text("struct v { double x[3]; } p[99], q[99];\n" + body.format("f", "i - 1") + body.format("g", "i"))
    facts = analyze(load_program([str(path)], FrontOptions()).program, PolyOptions())
    verdicts = [type(loop.verdict) for one in facts.functions for loop in one.loops]
    assert verdicts == [Refuted, Proved]


def _meets(first: Polynomial, second: Polynomial) -> bool:
    """Whether two polynomials of x and y are equal for small numbers, each with its own."""
    values = [
        {
            p.substitute("x", constant(x)).substitute("y", constant(y)).number
            for x in range(-9, 10)
            for y in range(-9, 10)
        }
        for p in (first, second)
    ]
    return bool(values[0] & values[1])


def _wrongly_apart() -> list[tuple[Polynomial, Polynomial]]:
    """Return pairs of random polynomials that are called apart and are not; some must be called so."""
    rng = random.Random(20261128)
    x, y, wrong, apart = atom("x"), atom("y"), [], 0
    for _ in range(300):
        first, second = (
            x.scale(rng.choice([0, 2, 3, 4, 6])) + y.scale(rng.choice([0, 2, 6, 10])) + constant(rng.randrange(-4, 5))
            for _ in range(2)
        )
        if vars(dependences)["_never_equal"](first, second):
            apart += 1
            wrong += [(first, second)] if _meets(first, second) else []
    assert apart > 40
    return wrong


def test_numbers_that_differ_by_no_multiple_are_apart() -> None:
    assert _wrongly_apart() == []


@pytest.mark.slow
def test_seeded_factors_of_one_side_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def one_sided(first: Polynomial, second: Polynomial) -> bool:
        factors = [factor for monomial, factor in first.terms.items() if monomial]
        apart = first.constant_term - second.constant_term
        return apart % min(factors) != 0 if factors else apart != 0

    monkeypatch.setattr(dependences, "_never_equal", one_sided)
    assert _wrongly_apart()


def test_blocks_of_a_linear_array_are_told_apart_at_sight(tmp_path: Path) -> None:
    """Loops over blocks of 8 by 8 numbers, each in a statement of its own: 16,384 pairs of accesses to one array."""
    places = [(k, m) for k in range(8) for m in range(8)]
    cells = [f"b[i][{k}][{m}] = a[i][{k}][{m}] - c[i - 1][{k}][{m}] + a[i][{m}][{k}];" for k, m in places]
    more = [f"c[i][{k}][{m}] = b[i][{k}][{m}] * a[i][{k}][{m}];" for k, m in places]
    path = tmp_path / "blocks.c"
    text = " ".join(cells), " ".join(more)
    head = "static double a[99][8][8], b[99][8][8], c[99][8][8];\n"
    path.write_text(
        f"{head}void f(int n) {{ for (int i = 1; i < n; i++) {{ {text[0]} }} }}\n"
        f"void g(int n) {{ for (int i = 1; i < n; i++) {{ {text[0]} {text[1]} }} }}\n"
    )
    facts = analyze(load_program([str(path)], FrontOptions()).program, PolyOptions())
    f, g = (function.loops[0] for function in facts.functions)
    assert (f.category, g.category) == ("parallel", "sequential")
    assert isinstance(g.verdict, Refuted) and "carries a flow dependence on c" in g.reasons[0].text
