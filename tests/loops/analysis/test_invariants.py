"""Loop invariants in memory, and the tests under which they are invariant."""

from __future__ import annotations

import pytest

from tests.offload.analyzed import Analyzed, analyzed
from warpsmith.loops.analysis.invariants import InvariantSurvey, holds_pointers, invariant_type, root_of, survey
from warpsmith.loops.place import LoopContext
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import PolyOptions
from warpsmith.tree.printing.printer import print_expr, print_type
from warpsmith.tree.types import DOUBLE, Array, Field, Pointer, Record, Scalar

HEAD = """
struct grid { double *u, *v, dt; int n, few[4]; volatile double busy; };
struct plain { double dt; int n; };
void unknown(void); static double quiet(double x) { return x; }
"""
# what is invariant, and words of a refusal
CASES = {
    "members": ("for (int i = 0; i < g->n; i++) x[i] = g->dt * 2;", "g->n g->dt", ""),
    "pointers": ("for (int i = 0; i < n; i++) g->u[i] = g->v[i];", "g->u g->v", ""),
    "array": ("for (int i = 0; i < n; i++) x[i] = g->few[i & 1] + g->few[i & 3];", "g->few", ""),
    "plain": ("for (int i = 0; i < n; i++) x[i] = p->dt;", "", ""),  # a kernel can have such a struct
    "bound": ("for (int i = 0; i < p->n; i++) x[i] = 1;", "p->n", ""),
    "changed": ("for (int i = 0; i < n; i++) { x[i] = g->dt; g->dt = 2; }", "", "g->dt may change in the loop"),
    "called": ("for (int i = 0; i < n; i++) { x[i] = g->dt; unknown(); }", "", "g->dt may change in the loop"),
    "quiet": ("for (int i = 0; i < n; i++) x[i] = quiet(g->dt);", "g->dt", ""),
    "other": ("for (int i = 0; i < n; i++) { x[i] = g->dt; h = g; }", "g->dt", ""),
    "moving": ("for (int i = 0; i < n; i++) { x[i] = h->dt; h = g; }", "", "h->dt may change in the loop"),
    "unsafe": ("for (int i = 0; i < n; i++) if (x[i] > 1) x[i] = h->dt;", "", "h->dt may never be read"),
    "busy": ("for (int i = 0; i < n; i++) x[i] = g->busy;", "", ""),
    "stored": ("for (int i = 0; i < n; i++) g->v[i] = g->dt;", "g->v g->dt", ""),
    "element": ("for (int i = 0; i < at[1]; i++) x[i] = 1;", "at[1]", ""),
    "target": ("for (int i = 0; i < n; i++) g->dt = x[i];", "", ""),
}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Analyzed:
    parts = (
        f"void t_{k}(struct grid *g, struct grid *h, struct plain *p, double *x, int *at, int n) {{ {body} }}\n"
        for k, (body, *_) in CASES.items()
    )
    return analyzed(HEAD + "".join(parts), tmp_path_factory.mktemp("invariants"))


def looked(program: Analyzed, name: str) -> InvariantSurvey:
    address = program.facts[f"t_{name}"].loops[0].id
    return survey(Facts.about(program.program, PolyOptions()), LoopContext.of(program.program, address))


@pytest.mark.parametrize("name", CASES)
def test_what_is_invariant(name: str, program: Analyzed) -> None:
    found = looked(program, name)
    assert " ".join(sorted(print_expr(one.load) for one in found.invariants)) == " ".join(
        sorted(CASES[name][1].split())
    )
    refused = [reason.text for reason in found.refused]
    assert (not CASES[name][2]) or any(CASES[name][2] in text for text in refused)


def test_what_a_store_may_change_is_named(program: Analyzed) -> None:
    (invariants,) = looked(program, "quiet").invariants
    assert [print_expr(store) for store in invariants.stores] == ["x[i]"] and [
        print_expr(c) for c in invariants.conditions
    ] == ["0 < n"]
    (invariants,) = [one for one in looked(program, "pointers").invariants if print_expr(one.load) == "g->u"]
    # a double is no pointer
    assert invariants.stores == ()


def test_a_place_that_is_named_twice_is_one(program: Analyzed) -> None:
    (few,) = looked(program, "array").invariants
    assert len(few.nodes) == 2 and print_type(few.type) == "int *"


def test_types_of_invariants(program: Analyzed) -> None:
    load = program.expr("g->u", "t_pointers")
    assert print_type(invariant_type(load)) == "double *"
    assert root_of(load) == program.symbol("g", "t_pointers")
    inside = Record("r", 16, fields=(Field("p", Pointer(DOUBLE), 0),))
    assert holds_pointers(inside) and holds_pointers(Array(inside, None, 2)) and not holds_pointers(DOUBLE)
    assert not holds_pointers(Record("q", 8, fields=(Field("d", DOUBLE, 0),))) and not holds_pointers(
        Scalar("int", 32, "signed")
    )
