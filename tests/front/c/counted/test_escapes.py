"""Which variables other code may write later, since it was given their address."""

from __future__ import annotations

from pathlib import Path

from tests.front.c.counted.test_canonical import loop_of
from tests.front.conftest import Load, parsed
from warpsmith.tree.effects.file import house_effects
from warpsmith.tree.nodes import For, While


def test_a_counter_whose_address_is_kept_may_be_changed_through_a_pointer_of_its_type(load: Load) -> None:
    loop = loop_of(load, "for (i = 0; i < n; i++) *b = 0;", before="b = &i;")
    assert isinstance(loop, While)
    assert loop.reason == "its counter i may be changed through a pointer in the body"
    assert isinstance(loop_of(load, "for (i = 0; i < n; i++) *a = 0;", before="b = &i;"), For)


def test_an_address_given_to_scanf_is_not_kept(load: Load) -> None:
    assert isinstance(loop_of(load, "for (i = 0; i < n; i++) b[i] = 0;", before='scanf("%d", &n);'), For)


TAKEN = {
    # C: `&` that is kept; what it names is followed through members and subscripts, not through pointers
    "p = &x;": {"x"},
    "p = &(x);": {"x"},
    "p = &s.k;": {"s"},
    "p = &t[2];": {"t"},
    "p = &q->k;": {"q"},
    "keep(&x);": {"x"},
    "x = -y;": set(),
    'scanf("%d", &x);': set(),
    'scanf("%d", (&s.k));': set(),
    "later(&x, &y);": {"x", "y"},
    # not what `scanf` is given: what its argument is read through
    'scanf("%d", *&p);': {"p"},
}
HEAD = """#include <stdio.h>
#include <stdlib.h>
struct s { int k; };
void keep(int *), later(int *, int *);
"""
BOUND = {
    # C++: what a reference is bound to
    "int &r = x; r = 1;": {"x"},
    "int &r = c ? x : y; r = 1;": {"x", "y"},
    "const int &r = x + 1; (void)r;": set(),
    "const int &r = 3; (void)r;": set(),
    "keep(x);": {"x"},
    "value(x);": set(),
    "lent(x);": set(),
    "kept(x);": {"x"},
    "given(x);": {"x"},
    "std::swap(x, y);": set(),
    "auto l = [&] { return x; }; l();": {"l"},
    "auto l = [&] { return x; }; any(l);": {"l", "x"},
    "Holder h(x);": {"x"},
    "s += x;": {"s", "x"},
}
CXX = """#include <utility>
extern int *where;
struct Holder { Holder(int &); };
struct Sum { int n; Sum &operator+=(int &); };
template <class F> int any(F f) { return f(); }
void keep(int &); void value(int);
int lent(const int &v) { return v + 1; }
int kept(int &v) { where = &v; return 1; }
int &given(int &v) { return v; }
"""


def escapes(folder: Path, head: str, parameters: str, cases: dict[str, set[str]], name: str) -> dict[str, set[str]]:
    """Return the names of the variables of each case that are kept; each stands in a function of its own."""
    bodies = "".join(f"void f{n}({parameters}) {{ {case} }}\n" for n, case in enumerate(cases))
    made = parsed(folder, head + bodies, name=name)
    keys = made.find_escaped(house_effects())
    assert made.context is not None, made.findings
    found: dict[str, set[str]] = {case: set() for case in cases}
    starts = [(head + bodies).index(f"void f{n}(") for n in range(len(cases))]
    for declared in made.context.dump.declared:
        key = f"{folder / name}:{declared[6]}:{declared[1]}"
        if key in keys and declared[6] >= starts[0]:
            found[list(cases)[sum(start <= declared[6] for start in starts) - 1]].add(declared[1])
    return found


def test_what_has_its_address_kept(tmp_path: Path) -> None:
    parameters = "int x, int y, int *p, struct s s, struct s *q, int t[4]"
    assert escapes(tmp_path, HEAD, parameters, TAKEN, "case.c") == TAKEN


def test_what_a_reference_is_bound_to(tmp_path: Path) -> None:
    assert escapes(tmp_path, CXX, "int x, int y, bool c, Sum s", BOUND, "case.cpp") == BOUND
