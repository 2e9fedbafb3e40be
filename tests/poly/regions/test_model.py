"""The model of a region: every access, on which iterations it is made, and whether it is certainly made there."""

from __future__ import annotations

import functools

import islpy as isl
import pytest

from tests.poly.analysis import program_of
from tests.poly.programs import function
from tests.poly.regions.modelled import accesses, modelled, shown
from warpsmith.poly.effects.origin import Origin
from warpsmith.poly.isl.space import make_set
from warpsmith.poly.regions.model import build_region
from warpsmith.tree.program import Program

HEAD = """struct s { double *u; int n; }; int g; void elsewhere(void); int pure(int);
static void put(double *p, int i) { p[i] = 1; } static double get(const double *p) { return p[0]; }
static void change(int *p) { *p = 1; }
#define BOX(x) do { x = 0; break; } while (1)
"""
PARAMETERS = "int n, int m, double *restrict a, double *restrict b, int *restrict k, struct s *s"
# what an iteration does: its accesses in order (`=` writes), those of i and n left out
ACCESSES: list[tuple[str, str]] = [
    ("a[i] = b[i + 1];", "b[i + 1] a[i]="),
    ("a[i] += 1;", "a[i] a[i]="),
    ("a[i]++;", "a[i] a[i]="),
    ("a[k[i]] = 0;", "k[i] a[?]="),
    ("m = k[i];", "k[i] m="),
    ("int t = k[i]; a[t] = 0;", "k[i] t= t a[?]="),
    ("int t = i + 1; a[t] = 0;", "t= t a[i + 1]="),
    ("int t; t = 2 * i; a[t] = 0; t = m; a[t] = 1;", "t= t a[2*i]= m t= t a[m]="),
    ("int t = i; if (k[i]) t = 3; a[t] = 0;", "t= k[i] t= t a[?]="),
    ("int t = i; if (k[i]) t = i; a[t] = 0;", "t= k[i] t= t a[i]="),
    ("int t = i; change(&t); a[t] = 0;", "t= t…= t…= t a[?]="),
    ("int t = i; BOX(t); a[t] = 0;", "t= t… t…= t a[?]="),
    ("int t = 0; for (int j = 0; j < 3; j++) { a[t] = 0; t++; }", "t= t a[?]= t t="),
    ("int t = 0; while (t < 3) { a[t] = 0; t++; }", "t= t t a[?]= t t="),
    ("switch (m) { case 1: a[i] = 0; break; default: a[0] = b[i]; }", "m a[i]= b[i] a[0]="),
    ("a[i] = k[i] ? b[0] : b[1];", "b[0] b[1] k[i] a[i]="),
    ("m = k[0] && k[1];", "k[1] k[0] m="),
    ("s->u[i] = s->n;", "s[0].n s[0].u s{s->u}[i]="),
    ("put(a, i);", "a…= a…"),
    ("b[i] = get(a + i);", "a… a… i… b[i]="),
    ("put(a, k[0]);", "k[0] a…= a…"),
    ("double t[3]; t[1] = 0;", "t[1]="),
    ("double *p = a + i; p[1] = 0;", "p= p a[i + 1]="),
    ("a[i] = sizeof(int[m]);", "m m a[i]="),
    ("static double t = 0; a[i] = t;", "t a[i]="),
    ("(k[0] ? a : b)[i] = 0;", "k[0] a{?}…= b{?}…= k{?}…="),
    ("m = i + 1; b[m] = m = 3;", "m= m= m b[i + 1]="),
    ("a[b[0] > 1 ? i : n] = 1;", "b[0] a[?]="),
    (";", ""),
]


@functools.cache
def _program() -> Program:
    texts = [
        f"void f{number}({PARAMETERS}) {{ for (int i = 0; i < n; i++) {{ {body} }} }}"
        for number, (body, _) in enumerate(ACCESSES)
    ]
    texts += [f"void g{number}({PARAMETERS}) {{ {body} }}" for number, (body, *_) in enumerate(DOMAINS)]
    return program_of(HEAD + "\n".join(texts))


@pytest.mark.parametrize("number", range(len(ACCESSES)), ids=[case[0] for case in ACCESSES])
def test_accesses_in_order(number: int) -> None:
    region, state = modelled(_program(), f"f{number}/i", guards=False)
    found = [a for a in accesses(region, state) if a not in ("i", "n", "a", "b", "k", "s")]
    assert " ".join(found) == ACCESSES[number][1]


# the loop, the iterations (for n = 6, m = 2) in which a is written, and whether it certainly is
DOMAINS: list[tuple[str, list[int], bool]] = [
    ("for (int i = 0; i < n; i++) a[i] = 0;", [0, 1, 2, 3, 4, 5], True),
    ("for (int i = 0; i < n; i++) if (i > m) a[i] = 0;", [3, 4, 5], True),
    ("for (int i = 0; i < n; i++) if (i > m) m; else a[i] = 0;", [0, 1, 2], True),
    ("for (int i = 0; i < n; i++) if (k[i]) a[i] = 0;", [0, 1, 2, 3, 4, 5], False),
    ("for (int i = 0; i < n; i++) if (i % 2 && k[i]) a[i] = 0;", [1, 3, 5], False),
    ("for (int i = 0; i < n; i++) if (!(i % 3)) a[i] = 0;", [0, 3], True),
    ("for (int i = 0; i < n; i++) { if (i == 2) continue; a[i] = 0; }", [0, 1, 3, 4, 5], True),
    ("for (int i = 0; i < n; i++) { if (k[i]) continue; a[i] = 0; }", [0, 1, 2, 3, 4, 5], False),
    ("for (int i = 0; i < n; i++) { { if (i == 2) continue; } a[i] = 0; }", [0, 1, 2, 3, 4, 5], False),
    ("for (int i = 0; i < n; i++) { if (k[i]) break; a[i] = 0; }", [0, 1, 2, 3, 4, 5], False),
    ("for (int i = 0; i < n; i++) { if (k[i]) return; a[i] = 0; }", [0, 1, 2, 3, 4, 5], False),
    ("for (int i = 0; i < n; i++) while (k[i]) a[i] = 0;", [0, 1, 2, 3, 4, 5], False),
    ("for (int i = 0; i < n; i++) switch (i) { case 1: a[i] = 0; }", [0, 1, 2, 3, 4, 5], False),
    ("for (int i = 0; i < n; i++) i > 3 && (a[i] = 0);", [4, 5], True),
    ("for (int i = 0; i < n; i++) i > 3 || (a[i] = 0);", [0, 1, 2, 3], True),
    ("for (int i = 0; i < n; i++) i > 3 ? 0 : (a[i] = 0);", [0, 1, 2, 3], True),
    ("for (int i = 0; i < n; i++) { __asm__(\"nop\"); a[i] = 0; }", [0, 1, 2, 3, 4, 5], False),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(DOMAINS)), ids=[case[0] for case in DOMAINS])
def test_iterations_of_a_statement(number: int) -> None:
    region, state = modelled(_program(), f"g{number}/i", guards=False)
    (statement,) = (s for s in region.statements if any(a.write and a.base.name == "a" for a in s.accesses))
    domain = make_set(state.vocabulary, statement.counters, statement.domain)
    for position in range(domain.dim(isl.dim_type.param)):
        size = 6 if str(domain.get_dim_name(isl.dim_type.param, position)).startswith("n") else 2
        domain = domain.fix_val(isl.dim_type.param, position, isl.Val(size))
    inside = [v for v in range(-2, 9) if not domain.intersect(isl.Set(f"{{ [{v}] }}")).is_empty()]
    assert (inside, statement.exact) == DOMAINS[number][1:]
    assert statement.loops[0].variable.name == "i" and statement.within


def test_statements_behind_a_loop_that_may_leave_the_function_are_not_certain() -> None:
    text = "void f(int n, int *k, double *a) { for (int i = 0; i < n; i++) { if (k[i]) return; } a[0] = 1; }"
    program = program_of(text)
    one = function(program, "f")
    region, state = build_region(Origin.of(program, one), one.body.statements, (), guards=False)
    last = region.statements[-1]
    assert shown(state, last.accesses[-1]) == "a[0]" and not last.exact and not last.loops


def test_entries_of_statements() -> None:
    text = "void f(int n, double *a) { for (int i = 0; i < n; i++) { if (i > 2) { a[i] = 0; } a[0] = 1; } }"
    program = program_of(text)
    region, _ = modelled(program, "f/i")
    depths = [(len(entry.loops), len(entry.path), entry.exact) for entry in region.entries.values()]
    assert depths[0] == (0, 0, True) and (1, 2, True) in depths and (1, 1, True) in depths
    assert all(entry.counters == tuple(entry.counters) for entry in region.entries.values())


def test_conditions_that_the_user_grants_belong_to_the_context() -> None:
    text = "void f(int n, int m, double *a) { for (int i = 0; i < n; i++) a[i] = a[i + m]; }"
    program = program_of(text)
    granted, _ = modelled(program, "f/i", granted=("m >= n", "k >= 1", "n ~ 3"))
    assert [a.text for a in granted.assumptions] == ["m >= n"]
    plain, _ = modelled(program, "f/i")
    assert not plain.assumptions and plain.context != granted.context


def test_what_a_call_reaches_comes_in_one_order() -> None:
    """Sets of symbols have another order in each process: of eight arrays one in 40,000 is that of their names."""
    names = "pqrstuvw"
    body = " ".join(f"{name}[at[k]] = 1;" for name in names)
    program = program_of(f"""double {", ".join(f"{name}[9]" for name in names)}; int at[9];
    void all(int k) {{ {body} }} void f(int n) {{ for (int k = 0; k < n; k++) all(k); }}""")
    holder = function(program, "f")
    region, _ = build_region(Origin.of(program, holder), (holder.body.statements[0],), (), guards=False)
    touched = [access.base.name for s in region.statements for access in s.accesses if access.write]
    assert [name for name in touched if name in names] == list(names)
