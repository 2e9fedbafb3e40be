"""Memory that may be present on the device while data are kept there: by type, by origin, by how long it lives."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from tests.offload.analyzed import Analyzed, analyzed
from warpsmith.offload.memory.presence import (
    ANY_KIND,
    Lasting,
    Presence,
    Resident,
    element_kinds,
    find_short_lived,
    place_base,
)
from warpsmith.offload.plan import DeviceBuffer
from warpsmith.poly.effects.summaries import Summaries
from warpsmith.poly.pointers.pointers import Root
from warpsmith.tree.nodes import Expr, Name
from warpsmith.tree.types import (
    CHAR,
    DOUBLE,
    INT,
    VOID,
    Array,
    Field,
    FunctionType,
    Pointer,
    Record,
    Scalar,
    Symbol,
    Type,
)

DOUBLES = frozenset({("float", 64)})
NOTHING = Lasting()
TEXT = """
#include <alloca.h>
struct pair { double x; int n; };
struct grid { double *u; double inner[4]; int n; };
static double table[8], scale, *shared;
void look(double *p);
void step(double *u, double *w, int n) { for (int i = 0; i < n; i++) u[i] += w[i]; }
void f(double *u, struct grid *g, double lent, double own, int k, double (*rows)[4])
{
    double local[4], *p = u, *q = local;
    look(&lent);
    own = local[1] + u[2] + g->u[3] + g->inner[k] + *p + scale + table[k] + rows[k][1] + g->n + *q + *shared;
}
void caller(double *u, int n)
{
    double w[8], e = 0;
    double *v = alloca(64);
    step(u, w, n);
    step(u, v, n);
    step(w, v, n);
    look(&e);
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Analyzed:
    return analyzed(TEXT, tmp_path_factory.mktemp("presence"))


def presence(program: Analyzed, kinds: frozenset[tuple[str, int]] = DOUBLES) -> Presence:
    return Presence(Summaries.of(program.program), kinds, frozenset(), kinds)


PAIR = Record("pair", 16, fields=(Field("x", DOUBLE, 0), Field("n", INT, 8)))


@pytest.mark.parametrize(
    ("type", "kinds"),
    [
        (DOUBLE, {("float", 64)}),
        (INT, {("integer", 32)}),
        (CHAR, {ANY_KIND}),
        (VOID, {ANY_KIND}),
        (Scalar("float _Complex", 64, "complex"), {("float", 32)}),
        (Array(Array(DOUBLE, None, 4), None, 4), {("float", 64)}),
        (Pointer(DOUBLE), {("pointer", 64)}),
        (PAIR, {("float", 64), ("integer", 32)}),
        (replace(PAIR, union=True), {ANY_KIND}),
        (Record("open", 8), {ANY_KIND}),
        (FunctionType(VOID, ()), {ANY_KIND}),
    ],
)
def test_the_kinds_of_numbers_in_an_object(type: Type, kinds: set[tuple[str, int]]) -> None:
    assert set(element_kinds(type)) == kinds


@pytest.mark.parametrize(
    ("type", "kinds", "met"),
    [
        (DOUBLE, DOUBLES, True),
        (INT, DOUBLES, False),
        (CHAR, DOUBLES, True),
        (INT, frozenset({ANY_KIND}), True),
        (PAIR, DOUBLES, True),
        (DOUBLE, frozenset(), False),
    ],
)
def test_numbers_of_another_type_are_no_part_of_it(
    type: Type, kinds: frozenset[tuple[str, int]], met: bool, program: Analyzed
) -> None:
    there = presence(program, kinds)
    assert there.of_type(type) == met and there.is_written(type) == met
    # what kernels only read is never older on the host
    assert not replace(there, written=frozenset()).is_written(type)


@pytest.mark.parametrize(
    ("place", "met"),
    [
        ("u[2]", True), ("g->u[3]", True), ("g->inner[k]", True), ("*p", True), ("rows[k][1]", True),
        ("table[k]", True), ("*shared", True),
        # whose address was given away, and whose was not
        ("lent", True), ("own", False), ("local[1]", True), ("scale", False),
        # of another type
        ("g->n", False), ("k", False), ("u", False),
    ],
)  # fmt: skip
def test_which_places_may_be_present(place: str, met: bool, program: Analyzed) -> None:
    assert presence(program).may_meet(program.function(), program.expr(place), frozenset()) == met


def test_a_static_variable_is_met_where_a_kernel_names_it(program: Analyzed) -> None:
    there = replace(presence(program), hosts=frozenset({symbol(program, "scale")}))
    assert there.may_meet(program.function(), program.expr("scale"), frozenset())


def symbol(program: Analyzed, name: str, function: str = "f") -> Symbol:
    return program.symbol(name, function)


def test_what_is_never_kept_is_not_met(program: Analyzed) -> None:
    there, function = presence(program), program.function()
    entry, local = Root("entry", symbol(program, "u")), Root("object", symbol(program, "local"))
    for place in ("u[2]", "*p"):
        assert not there.may_meet(function, program.expr(place), frozenset({entry}))
        assert there.may_meet(function, program.expr(place), frozenset({local}))
    assert not there.may_meet(function, program.expr("local[1]"), frozenset({local}))


def test_what_has_escaped_is_met_though_it_is_never_kept_itself(program: Analyzed) -> None:
    there, function = presence(program), program.function()
    lent = Root("object", symbol(program, "lent"))
    address = program.expr("&lent")
    where = there.summaries.provenance(function)
    assert there.points_to(function, address, frozenset({lent})) == (lent in where.escaped)
    assert not replace(there, watched=True).points_to(function, address, frozenset({lent}))


@pytest.mark.parametrize(
    ("place", "base"),
    [("local[1]", "local"), ("u[2]", "u"), ("g->inner[k]", "g"), ("g->u[3]", "g->u"), ("*p", "p"),
     ("rows[k][1]", "rows"), ("lent", "lent"), ("g->n", "g")],
)  # fmt: skip
def test_the_variable_or_address_that_a_place_is_reached_by(place: str, base: str, program: Analyzed) -> None:
    found = place_base(program.expr(place))
    text = found.name if isinstance(found, Symbol) else found.span.text
    assert (text, isinstance(found, Symbol)) == (base, place in ("local[1]", "lent"))


# --- memory that dies inside


def resident(
    program: Analyzed, function: str, whole: Sequence[str] = (), lasting: Lasting = NOTHING, *, watched: bool = False
) -> Resident:
    inside = {program.function(name): (program.function(name).body,) for name in {function, *whole}}
    called = frozenset(program.function(name) for name in whole)
    found = find_short_lived(presence(program), inside, called, lasting, watched=watched)
    return found[program.function(function)]


def keeps(resident: Resident, program: Analyzed, function: str) -> str:
    mine = program.function(function)
    names = [p for p in mine.parameters if isinstance(p.type, Pointer)]
    arrays = [program.symbol(name, function) for name in ("w", "v") if function == "caller"]
    return " ".join(s.name for s in (*names, *arrays) if resident.keeps(mine, s))


def test_what_a_function_declares_inside_dies_there(program: Analyzed) -> None:
    assert keeps(resident(program, "caller"), program, "caller") == "u"
    # step is given w and v: neither of its pointers is always to memory that lives on
    assert keeps(resident(program, "step", whole=["step"]), program, "step") == "u w"
    assert keeps(resident(program, "caller", whole=["caller", "step"]), program, "caller") == "u"
    both = find_short_lived(
        presence(program),
        {program.function(n): (program.function(n).body,) for n in ("caller", "step")},
        frozenset({program.function("step")}),
        Lasting(),
    )
    assert keeps(both[program.function("step")], program, "step") == ""


def test_what_is_declared_last_or_seen_to_outlive_is_kept(program: Analyzed) -> None:
    w = program.symbol("w", "caller")
    found = resident(program, "caller", lasting=Lasting(declared=frozenset({w})))
    assert keeps(found, program, "caller") == "u w"
    # not where the function itself ends inside
    found = resident(program, "caller", whole=["caller"], lasting=Lasting(declared=frozenset({w})))
    assert keeps(found, program, "caller") == "u"


def test_where_the_heap_is_watched_pointers_are_kept_and_the_run_time_decides(program: Analyzed) -> None:
    found, function = resident(program, "caller", watched=True), program.function("caller")
    assert keeps(found, program, "caller") == "u v"
    u, w = program.symbol("u", "caller"), program.symbol("w", "caller")
    assert found.watches(function, buffer(program, u)) and not found.watches(function, buffer(program, w))
    assert not found.watches(function, replace(buffer(program, u), cell=True))
    single = Root("object", program.symbol("e", "caller"))
    assert single in found.absent
    kept = resident(program, "caller", lasting=Lasting(kept=frozenset({program.symbol("e", "caller")})), watched=True)
    assert single not in kept.absent


def test_a_function_that_runs_in_no_data_region_keeps_nothing(program: Analyzed) -> None:
    found = replace(resident(program, "caller"), held=False)
    assert keeps(found, program, "caller") == ""


def test_what_every_call_hands_over_of_its_own_is_never_kept(program: Analyzed) -> None:
    inside = {program.function(n): (program.function(n).body,) for n in ("caller", "step")}
    whole = frozenset(inside)
    found = find_short_lived(presence(program), inside, whole, Lasting())[program.function("step")]
    entries = {root.symbol.name for root in found.absent if root.kind == "entry" and root.symbol is not None}
    # u is given the caller's u, which the caller is given by nobody
    assert "w" in entries
    first = Lasting(first=whole)
    opened = find_short_lived(presence(program), inside, whole, first)[program.function("step")]
    assert not [root for root in opened.absent if root.kind == "entry"]


def buffer(program: Analyzed, host: Symbol) -> DeviceBuffer:
    zero: Expr = program.find("u", Name)
    return DeviceBuffer(host, host, zero, zero, (), cell=False)
