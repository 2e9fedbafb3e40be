"""Whether calls beside a read may change it."""

from __future__ import annotations

import pytest

from tests.offload.analyzed import Analyzed, analyzed
from warpsmith.offload.memory.disturbance import disturbs, may_change, may_move
from warpsmith.offload.memory.places import evaluate_expressions
from warpsmith.poly.effects.summaries import Summaries
from warpsmith.tree.nodes import Call

TEXT = """
struct state { double potential, *forces; int n; };
double unknown(void);
static int count;
static double kinetic(const struct state *s) { return s->potential * 2; }
static double forces(struct state *s) { s->potential = 1; return 0; }
static double fill(double *to) { to[0] = 1; return 0; }
static double counted(void) { return ++count; }
static double moved(double **to) { *to = 0; return 0; }
void f(struct state *s, double *restrict u, double *restrict v, int i)
{
    double own = 0, *p = u, *lent = v;
    own = s->potential + s->forces[i] + u[i] + v[i] + p[i] + own + v[count] + lent[2];
    kinetic(s); forces(s); fill(u); unknown(); counted(); moved(&lent); fill(&own); fill(s->forces);
    own = kinetic(s) + u[i];
    own = fill(u) + v[i] + v[i + 1];
    own = fill(&u[i]) + v[i];
    own = fill(u) + p[i];
}
"""
PLACES = ("s->potential", "s->forces[i]", "u[i]", "v[i]", "p[i]", "own", "v[count]", "lent[2]")
CHANGED = {
    "kinetic(s)": set(),
    "unknown()": set(PLACES),
    "forces(s)": {"s->potential", "s->forces[i]"},
    "fill(u)": {"u[i]", "p[i]"},
    "counted()": {"v[count]"},
    "fill(&own)": {"own"},
}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Analyzed:
    return analyzed(TEXT, tmp_path_factory.mktemp("disturbance"))


def call(program: Analyzed, text: str) -> Call:
    found = program.expr(text)
    assert isinstance(found, Call)
    return found


@pytest.mark.parametrize("text", CHANGED)
def test_what_a_call_may_change(text: str, program: Analyzed) -> None:
    summaries, function = Summaries.of(program.program), program.function()
    changed = {p for p in PLACES if may_change(summaries, function, call(program, text), program.expr(p))}
    # what is reached through memory may be anything that a function stores to
    assert CHANGED[text] <= changed
    assert "own" not in changed or text in ("fill(&own)", "unknown()")
    assert changed == CHANGED[text] or text in ("forces(s)", "fill(u)")


@pytest.mark.parametrize(
    ("text", "place", "moves"),
    [
        ("moved(&lent)", "lent[2]", True),
        ("moved(&lent)", "u[i]", False),
        ("counted()", "v[count]", True),
        ("counted()", "v[i]", False),
        ("fill(u)", "u[i]", False),  # the element changes, not which one it is
        ("forces(s)", "s->forces[i]", True),
        ("kinetic(s)", "s->forces[i]", False),
        ("unknown()", "own", True),
    ],
)
def test_what_a_call_may_move(text: str, place: str, moves: bool, program: Analyzed) -> None:
    summaries, function = Summaries.of(program.program), program.function()
    assert may_move(summaries, function, [call(program, text)], program.expr(place)) == moves
    assert not may_move(summaries, function, [], program.expr(place))


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("own = kinetic(s)", False),
        ("own = fill(u) + v", False),
        ("own = fill(&u[i])", False),  # its own argument is read before it runs
        ("own = fill(u) + p", True),
    ],
)
def test_reads_beside_calls(statement: str, expected: bool, program: Analyzed) -> None:
    done = evaluate_expressions(program.statement(statement))
    arrays = [access for access in done.accesses if access.place.span.text != "own"]
    assert disturbs(Summaries.of(program.program), program.function(), done.calls, arrays) == expected
