"""The accesses of host code and kernels to the object behind a buffer."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.offload.analyzed import Analyzed, analyzed
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.offload.expressions import number
from warpsmith.offload.fragments import Draft, HostUse, OffloadRegion
from warpsmith.offload.plan import DeviceBuffer
from warpsmith.offload.transfers.accesses import ProgramAccess, freed_pointer, kernel_access, point_accesses
from warpsmith.offload.transfers.flow import build_flow
from warpsmith.offload.transfers.placement import PointAccess
from warpsmith.poly.analyze import analyze
from warpsmith.poly.facts import PolyOptions
from warpsmith.tree.nodes import Call, Stmt

TEXT = """
#include <stdlib.h>
#include <stdio.h>
void unknown(void);
void given(double *p);
static double total;
static double sum(const double *x, int n) { double s = 0; for (int i = 0; i < n; i++) s += x[i]; return s; }
void f(double *restrict u, double *v, double *p, int n, double cell, double lent)
{
    double local[8], *mine = malloc(n * sizeof *mine), *other = malloc(n);
    int c = 3;
    given(&lent);
    local[1] = u[2];
    v[3] = 1;
    p[0] = 2;
    cell = 4;
    cell = cell + 1;
    cell += 2;
    unknown();
    total = sum(u, n);
    free(u);
    free(mine);
    mine[0] = local[2];
    printf("%g", mine[c]);
    other[1] = 2;
    given(other);
}
double *g(int n, int k)
{
    double a[8], b[8], *kept = malloc(n), *back = malloc(n), *gone = malloc(n);
    a[0] = 1;
    for (int t = 0; t < n; t++) { double c[4]; c[0] = t; b[1] = t; if (t > 3) { c[1] = 2; } else { c[2] = 3; } }
    gone[1] = 2;
    kept[0] = b[1];
    switch (k) { case 1: a[1] = 2; break; case 2: a[2] = b[2]; }
    free(gone);
    return back;
}
void h(int n, double *out)
{
    double a[8], *own = malloc(n);
    a[0] = 1;
    own[0] = 1;
    if (n) { a[1] = 1; out[0] = 2; } else { out[1] = a[3]; }
    out[2] = 3;
    free(own);
}
void j(int n) { double a[8]; a[0] = 1; goto out; out: a[1] = 2; }
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Analyzed:
    return analyzed(TEXT, tmp_path_factory.mktemp("accesses"))


def buffer(
    program: Analyzed, name: str, scope: Sequence[Stmt] = (), function: str = "f", *, allocation: bool = False
) -> DeviceBuffer:
    host, zero = program.symbol(name, function), number(0, program.function(function).span)
    return DeviceBuffer(host, host, zero, zero, tuple(scope), cell=False, allocation=allocation)


def offload_region(
    *buffers: DeviceBuffer, uses: tuple[HostUse, ...] = (), statement: Stmt | None = None
) -> OffloadRegion:
    drafts = (Draft("k", "nest", (statement,), (), uses, (), (), ()),) if statement is not None else ()
    return OffloadRegion(buffers[0].scope, drafts, buffers, ())


def touched(program: Analyzed, statement: str, name: str, *others: str) -> str:
    mine = buffer(program, name)
    host = ProgramAccess(program.request(), offload_region(mine, *(buffer(program, other) for other in others)))
    found = host.access(program.statement(statement), mine)
    return ("u" if found.host_use else "") + ("w" if found.host_write else "")


@pytest.mark.parametrize(
    ("statement", "name", "how"),
    [
        ("local[1] = u[2]", "u", "u"),
        ("local[1] = u[2]", "local", "uw"),  # one element of it: what else is there is used
        ("v[3] = 1", "v", "uw"),
        ("v[3] = 1", "u", ""),  # restrict
        ("v[3] = 1", "p", "uw"),  # may be the same memory
        ("v[3] = 1", "local", ""),
        ("cell = 4", "cell", "w"),
        ("cell = cell + 1", "cell", "uw"),
        ("cell += 2", "cell", "uw"),
        ("unknown()", "v", "uw"),
        ("unknown()", "local", ""),
        ("unknown()", "c", ""),
        ("total = sum(u, n)", "u", "u"),
        ("total = sum(u, n)", "local", ""),
        ("free(u)", "u", "w"),
        ("free(u)", "mine", ""),
        ('printf("%g", mine[c])', "mine", "u"),
        ('printf("%g", mine[c])', "v", ""),
        ("given(other)", "other", "uw"),
    ],
)
def test_what_a_statement_does_with_an_object(statement: str, name: str, how: str, program: Analyzed) -> None:
    assert touched(program, statement, name) == how


def test_buffered_objects_do_not_overlap(program: Analyzed) -> None:
    """The offload region's guards see to that."""
    assert touched(program, "v[3] = 1", "p", "v") == ""


def test_what_moved_to_the_device_is_touched_by_nobody(program: Analyzed) -> None:
    mine = buffer(program, "cell")
    stmt = program.statement("cell = 4")
    host = ProgramAccess(
        program.request(),
        offload_region(mine, uses=(HostUse(mine.host, "cell", True, True, device_only=True),), statement=stmt),
    )
    assert host.access(stmt, mine) == PointAccess() and not host.lives_on(mine)


def test_a_block_that_goes_back_as_a_whole_is_met_by_what_lies_beside(program: Analyzed) -> None:
    def asked(name: str, *, written: bool) -> bool:
        mine = buffer(program, "u", allocation=True)
        uses = (HostUse(mine.host, "buffer", True, written),)
        where = offload_region(mine, uses=uses, statement=program.statement("cell = 4"))
        return ProgramAccess(program.request(), where).access(program.statement(name), mine).host_write

    # restrict keeps apart what is accessed, not what lies around it
    assert asked("v[3] = 1", written=True) and not asked("v[3] = 1", written=False)
    assert not asked("local[1] = u[2]", written=True)


# --- after the scope


def lives(program: Analyzed, name: str, scope: str, function: str) -> bool:
    stmt = program.statement(scope, function)
    mine = buffer(program, name, (stmt,), function)
    return ProgramAccess(program.request(function), offload_region(mine)).lives_on(mine)


@pytest.mark.parametrize(
    ("function", "name", "scope", "on"),
    [
        ("f", "u", "local[1] = u", True),  # somebody else's
        ("f", "local", "local[1] = u", True),  # read below
        ("f", "local", "mine[0] = local", False),
        ("f", "mine", "mine[0] = local", True),
        ("f", "other", "other[1] = 2", True),  # given away below
        ("g", "kept", "kept[0] = b[1]", True),  # the function returns a pointer
        ("g", "a", "switch", False),
        ("g", "a", "a[0] = 1", True),  # a write of a part is a use
        ("g", "b", "b[1] = t", True),  # the next iteration, and below
        ("g", "c", "c[0] = t", True),  # in the arms behind it
        ("g", "c", "c[1] = 2", False),  # in the other arm, and born anew in each iteration
        ("g", "a", "a[1] = 2", True),  # a later case
        ("h", "a", "a[1] = 1", False),  # the other arm
        ("h", "a", "a[0] = 1", True),
        ("h", "own", "own[0] = 1", False),  # free ends it
        ("j", "a", "a[1] = 2", True),  # a jump
    ],
)
def test_whether_anybody_reads_it_behind_the_scope(
    function: str, name: str, scope: str, on: bool, program: Analyzed
) -> None:
    assert lives(program, name, scope, function) == on


# --- kernels


@pytest.mark.parametrize(
    ("use", "covered", "access"),
    [
        (("buffer", True, False), False, PointAccess(device_use=True)),
        (("buffer", False, True), False, PointAccess(device_use=True, device_write=True)),
        (("buffer", False, True), True, PointAccess(device_write=True)),
        (("buffer", True, False), True, PointAccess(device_use=True)),
        (("value", True, False), False, PointAccess()),
    ],
)
def test_a_kernel_that_renews_all_of_a_buffer_needs_no_older_content(
    use: tuple[str, bool, bool], covered: bool, access: PointAccess, program: Analyzed
) -> None:
    mine = buffer(program, "v")
    made = HostUse(mine.host, *use)  # type: ignore[arg-type]
    where = offload_region(mine, uses=(made,), statement=program.statement("v[3] = 1"))
    (draft,) = where.drafts
    covers = frozenset({(draft, mine.host)}) if covered else frozenset()
    assert kernel_access(OffloadRegion(where.scope, where.drafts, where.buffers, (), covers), draft, mine) == access


@pytest.mark.parametrize(("read", "covers", "uses"), [(False, True, False), (False, False, True), (True, True, True)])
def test_a_cell_that_is_certainly_written_is_not_used(read: bool, covers: bool, uses: bool, program: Analyzed) -> None:
    mine = buffer(program, "cell")
    where = offload_region(
        mine, uses=(HostUse(mine.host, "cell", read, True, covers),), statement=program.statement("cell = 4")
    )
    assert kernel_access(where, where.drafts[0], mine) == PointAccess(device_use=uses, device_write=True)
    assert kernel_access(where, where.drafts[0], buffer(program, "v")) == PointAccess()


def test_a_launch_reads_the_values_that_it_passes_and_the_end_what_lives_on(program: Analyzed) -> None:
    stmt, behind = program.statement("cell = 4"), program.statement("cell += 2")
    mine = buffer(program, "cell", (stmt, behind))
    where = offload_region(mine, uses=(HostUse(mine.host, "value", True, False),), statement=stmt)
    flow = build_flow(mine.scope, {stmt: where.drafts[0]})
    found = point_accesses(flow, where, mine, ProgramAccess(program.request(), where))
    shown = [(p.kind, a.host_use, a.host_write) for p, a in zip(flow.points, found, strict=True) if p.kind != "slot"]
    assert shown == [("launch", True, False), ("host", True, True), ("exit", True, False)]


@pytest.mark.parametrize(
    ("text", "name"), [("free(u)", "u"), ("free(mine)", "mine"), ("given(other)", None), ("unknown()", None)]
)
def test_what_a_statement_frees(text: str, name: str | None, program: Analyzed) -> None:
    for node in (program.statement(text), program.find(text, Call)):
        found = freed_pointer(node)
        assert (found.name if found is not None else None) == name
    assert freed_pointer(program.statement("v[3] = 1")) is None


LEAVES = """
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
void unknown(void);
static int *place;
static void die(const char *text) { fprintf(stderr, "%s", text); exit(3); }
static double twice(double x) { return 2 * x; }
static int by_value(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
static int or_ends(const void *a, const void *b) { if (*(const int *)a < 0) exit(1); return by_value(a, b); }
static void moves(int **p) { *p = place; }
void f(int n, int *v, int *w)
{
    int c = 0;
    unknown();
    exit(1);
    die("too large");
    assert(n > 3);
    printf("%d", n);
    c = (int)twice(n);
    qsort(v, n, sizeof *v, by_value);
    qsort(v, n, sizeof *v, or_ends);
    w[2] = 4;
    moves(&w);
    n++;
    place = v;
    for (int i = 0; i < 9; i++) v[i] = c;
    for (int j = 0; j < 9; j++) { assert(j < n); v[j] = c; }
}
"""


@pytest.fixture(scope="module")
def leaving(tmp_path_factory: pytest.TempPathFactory) -> Analyzed:
    return analyzed(LEAVES, tmp_path_factory.mktemp("leaving"))


@pytest.mark.parametrize(
    ("text", "leaves"),
    [
        ("unknown()", True),
        ("exit(1)", True),
        ("die(", True),
        ("assert(n > 3)", True),
        ("printf", False),
        ("c = (int)twice", False),
        ("qsort(v, n, sizeof *v, by_value)", False),
        ("qsort(v, n, sizeof *v, or_ends)", True),
    ],
)
def test_what_need_not_come_back(text: str, leaves: bool, leaving: Analyzed) -> None:
    mine = buffer(leaving, "v")
    assert ProgramAccess(leaving.request(), offload_region(mine)).may_leave(leaving.statement(text)) == leaves


@pytest.mark.parametrize(("text", "stops"), [("for (int i", False), ("for (int j", True)])
def test_a_kernel_with_an_assertion_may_stop(text: str, stops: bool, leaving: Analyzed) -> None:
    where = offload_region(buffer(leaving, "v"), statement=leaving.statement(text))
    assert ProgramAccess(leaving.request(), where).may_stop(where.drafts[0]) == stops


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("n++", "n"),
        ("c = (int)twice", "c"),
        ("place = v", "place"),
        ("w[2] = 4", "place"),
        ("moves(&w)", "w"),
        ("unknown()", "place"),
    ],
)
def test_what_a_statement_changes(text: str, names: str, leaving: Analyzed) -> None:
    """A static pointer may be what a store through any pointer changes."""
    host = ProgramAccess(leaving.request(), offload_region(buffer(leaving, "v")))
    found = {s for s in ("n", "c", "v", "w", "place") if host.changes(leaving.statement(text), {leaving.symbol(s)})}
    assert found == set(names.split())


@pytest.mark.parametrize(
    ("text", "leaves"),
    [("c = add(", True), ("p = new", True), ("c = std::sqrt", False), ("c = at[", False), ("c = at.at(", True)],
)
def test_functions_of_cxx_may_throw(text: str, leaves: bool, tmp_path: Path) -> None:
    code = (
        "#include <cmath>\n#include <vector>\ndouble add(double x) { return x + 1; }\n"
        "void f(double *v, std::vector<double> &at, double *p)\n{\n    double c = 0;\n    c = add(2);\n"
        "    p = new double[9];\n    c = std::sqrt(c);\n    c = at[2];\n    c = at.at(3);\n    v[0] = c + p[1];\n}\n"
    )
    path = tmp_path / "a.cpp"
    path.write_text(code)
    program = load_program([str(path)], FrontOptions()).program
    made = Analyzed(program, {one.function.symbol.name: one for one in analyze(program, PolyOptions()).functions})
    assert ProgramAccess(made.request(), offload_region(buffer(made, "v"))).may_leave(made.statement(text)) == leaves


GIVEN_BACK = """
#include <stdlib.h>
#include <string.h>
void f(int n, double *restrict w)
{
    double *d = malloc(n * sizeof(double)), *e = d, *held[2] = { d, w }, *own = malloc(8);
    own[0] = d[0];
    e[3] = 1;
    memset(e, 0, 8);
    free(own);
    free(e);
    free(held[0]);
    d = realloc(d, 2 * n * sizeof(double));
    e = realloc(e, 3 * n * sizeof(double));
    for (int i = 0; i < n; i++) d[i] += w[i];
}
"""


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("own[0] =", (True, False)),
        ("e[3] =", (True, True)),
        ("memset(e", (True, True)),
        ("free(own)", (False, False)),
        ("free(e)", (True, True)),
        ("free(held[0])", (True, True)),
        ("d = realloc(d", (True, True)),
        ("e = realloc(e", (True, True)),
    ],
)
def test_memory_that_is_given_back_by_another_name_is_written(
    text: str, found: tuple[bool, bool], tmp_path: Path
) -> None:
    """What is under way must not be given back, nor moved to another place."""
    program = analyzed(GIVEN_BACK, tmp_path)
    mine = buffer(program, "d")
    access = ProgramAccess(program.request(), offload_region(mine)).access(program.statement(text), mine)
    assert (access.host_use, access.host_write) == found
