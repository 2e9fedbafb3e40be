"""What pointers lead to, statement by statement."""

from __future__ import annotations

from tests.poly.analysis import program_of
from warpsmith.poly.mapped.objects import Objects
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import names

TEXT = """
#include <stdlib.h>
void f(int n, double *p) {
    double x[4];
    double *a = malloc(n * sizeof(double)), *b = malloc(n * sizeof(double));
    double *t = a; a = b; b = t;
    double *q = x, *r = p + 1, *u = n ? a : p;
    q[0] = r[0] + u[0] + a[0] + b[0];
}
"""


def test_pointers_lead_where_assignments_say() -> None:
    (function,) = (f for _, f in program_of(TEXT).functions())
    objects = Objects()
    objects.follow(function.body)
    known: dict[str, Symbol] = {n.symbol.name: n.symbol for n in names(function.body)}

    def held(name: str) -> set[str]:
        return {place.name for place in objects.places(known[name])}

    assert (held("a"), held("b"), held("q"), held("r"), held("u")) == ({"b"}, {"a"}, {"x"}, {"p"}, {"b", "p"})
    assert [name for name in "abqru" if not objects.plain(known[name])] == ["r", "u"]


def test_ways_that_meet_leave_all_that_either_says() -> None:
    (function,) = (f for _, f in program_of(TEXT).functions())
    one, other = Objects(), Objects()
    one.follow(function.body)
    symbol = next(n.symbol for n in names(function.body) if n.symbol.name == "a")
    assert one.join([one, other]).places(symbol) == one.places(symbol) | other.places(symbol)


CHAINS = """
#include <stdlib.h>
void f(int n) {
    double *a, *b, *c, *d;
    a = b = c = NULL;
    posix_memalign((void **)&a, 64, n * sizeof(double));
    posix_memalign((void **)&b, 64, n * sizeof(double));
    c = d = malloc(n * sizeof(double));
    ++d;
    a[0] = b[0] + c[0] + d[0];
}
"""


def test_memory_of_posix_memalign_and_of_chains() -> None:
    (function,) = (f for _, f in program_of(CHAINS).functions())
    objects = Objects()
    fresh = objects.follow(function.body)
    known: dict[str, Symbol] = {n.symbol.name: n.symbol for n in names(function.body)}
    a, b, c, d = (objects.places(known[name]) for name in "abcd")
    assert c == d and len({a, b, c}) == 3
    assert all(len(one) == 1 and next(iter(one)).of_host and next(iter(one)) in fresh for one in (a, b, c))
    assert [name for name in "abcd" if not objects.plain(known[name])] == ["d"]


WAYS = """
void f(int n, double *p, double *q) {
    double *a, *b = 0, *c, *d = p, *e = p, *g = p, *h = p, *k = p, *m = p, *r = p;
    if (n > 1) a = p; else a = q;
    if (n > 2) b = q;
    c = n > 3 ? p : q;
    if (n > 4) d = q;
    for (int i = 0; i < n; i++) e = q;
    n > 5 && (g = q);
    n > 6 ? h = q : p;
    switch (n) { case 7: k = q; }
    while (n > 8) { m = r; r = q; n--; }
    a[0] = b[0] + c[0] + d[0] + e[0] + g[0] + h[0] + k[0] + m[0];
}
"""


def test_a_pointer_that_may_be_assigned_leads_to_either_place() -> None:
    (function,) = (f for _, f in program_of(WAYS).functions())
    objects = Objects()
    assert objects.follow(function.body) == []
    known: dict[str, Symbol] = {n.symbol.name: n.symbol for n in names(function.body)}
    held = {name: {place.name for place in objects.places(known[name])} for name in "abcdeghkm"}
    # one that was null before leads nowhere else
    assert held == {name: {"p", "q"} if name != "b" else {"q"} for name in held}
