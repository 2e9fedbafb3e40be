"""Which element an lvalue names: base, place and path; and no path where it is not known."""

from __future__ import annotations

import functools

import pytest

from tests.poly.analysis import program_of
from tests.poly.regions.modelled import modelled, shown
from warpsmith.tree.program import Program

HEAD = """struct in { double x, w[4]; }; union u { int i; float f; };
struct s { double *data, v[5]; struct in at, *to; union u either; int n; double **rows; };
double table[9], grid[6][7]; double *global; int *escaped; void elsewhere(int *);
"""
PARAMETERS = (
    "int n, int m, unsigned long z, double *a, double *b, double **p, struct s *s, struct s t, int *k, char *c, "
    "double vla[][m], double (*fix)[5]"
)
# what is written in the loop over i, and which element that is
CASES: list[tuple[str, str]] = [
    ("a[i] = 0;", "a[i]"),
    ("*(a + 2 * i) = 0;", "a[2*i]"),
    ("*a = 0;", "a[0]"),
    ("(a + n)[i - 1] = 0;", "a[i + n - 1]"),
    ("*(a + n - i) = 0;", "a[-i + n]"),
    ("(&a[2])[i] = 0;", "a[i + 2]"),
    ("i[a] = 0;", "a[i]"),
    ("table[i] = 0;", "table[i]"),
    ("grid[i][3] = 0;", "grid[i][3]"),
    ("(*(grid + i))[2] = 0;", "grid[i][2]"),
    ("*grid[i] = 0;", "grid[i][0]"),
    ("vla[i][n] = 0;", "vla[i][n]"),
    ("fix[i][1] = 0;", "fix[i][1]"),
    ("t.v[i] = 0;", "t.v[i]"),
    ("t.at.w[i] = 0;", "t.at.w[i]"),
    ("t.n = 0;", "t.n"),
    ("s->n = 0;", "s[0].n"),
    ("s[i].at.x = 0;", "s[i].at.x"),
    ("(s + i)->at.w[1] = 0;", "s[i].at.w[1]"),
    ("(*s).n = 0;", "s[0].n"),
    # pointers in memory are places of their own while nothing may change them
    ("s->data[i] = 0;", "s{s->data}[i]"),
    ("s->to->w[i] = 0;", "s{s->to}[0].w[i]"),
    ("p[1][i] = 0;", "p{p[1]}[i]"),
    ("p[i][0] = 0;", "p{?}…"),
    ("s->data = a; s->data[i] = 0;", "s{?}…"),
    ("s->rows[n][i] = 0;", "s{s->rows[n]}[i]"),
    # members of a union are anything of it
    ("t.either.f = 0;", "t…"),
    # local pointers with one value
    ("double *q = a + n; q[i] = 0;", "a[i + n]"),
    ("double *q = a; q = b; q[i] = 0;", "b[i]"),
    ("double *q = n ? a : b; q[i] = 0;", "q{?}…"),
    ("double *q = grid[i]; q[2] = 0;", "grid[i][2]"),
    ("double *q = a; q++; q[i] = 0;", "q{?}…"),
    ("struct in *q = &s[i].at; q->x = 0;", "q{?}…"),
    ("struct in *q = &s->to[i]; q->x = 0;", "s{s->to}[i].x"),
    # casts keep the shape where the element is the same
    ("((double *)(double *)a)[i] = 0;", "a[i]"),
    ("((float *)a)[i] = 0;", "a…"),
    # what is not affine has no subscript, an unsigned sum of 64 bits is an address
    ("a[k[i]] = 0;", "a[?]"),
    ("a[i * i] = 0;", "a[i*i]"),
    ("a[n << i] = 0;", "a[?]"),
    ("a[n ^ i] = 0;", "a[i + n - 2*(i & n)]"),
    ("a[z - 1] = 0;", "a[z - 1]"),
    ("grid[k[i]][2] = 0;", "grid[?][2]"),
    ("global[i] = 0;", "global[i]"),
]


@functools.cache
def _program() -> Program:
    texts = (
        f"void f{number}({PARAMETERS}) {{ for (int i = 0; i < n; i++) {{ {body} }} }}"
        for number, (body, _) in enumerate(CASES)
    )
    return program_of(HEAD + "\n".join(texts))


@pytest.mark.parametrize("number", range(len(CASES)), ids=[case[0] for case in CASES])
def test_the_element_that_is_written(number: int) -> None:
    region, state = modelled(_program(), f"f{number}/i")
    last = region.statements[-1]
    (found,) = (shown(state, a) for a in last.accesses if a.write)
    assert found == CASES[number][1]


def _written(text: str, *, guards: bool = True, granted: tuple[str, ...] = ()) -> tuple[str, list[str]]:
    region, state = modelled(program_of(text), "f/i", guards=guards, granted=granted)
    return shown(state, next(a for s in reversed(region.statements) for a in reversed(s.accesses) if a.write)), [
        a.text for a in region.assumptions
    ]


@pytest.mark.parametrize(
    ("body", "granted", "expected"),
    [
        ("a[k[i]] = 0;", "injective(k)", "a.@k[i]"),
        ("a[k[2 * i + 1]] = 0;", "injective(k)", "a.@k[2*i + 1]"),
        ("a[k[i]] = 0;", "injective(other)", "a[?]"),
        # with something added, or where the table changes, it tells nothing
        ("a[k[i] + 1] = 0;", "injective(k)", "a[?]"),
        ("(a + 1)[k[i]] = 0;", "injective(k)", "a[?]"),
        ("k[i] = 1; a[k[i]] = 0;", "injective(k)", "a[?]"),
    ],
)
def test_tables_of_different_entries(body: str, granted: str, expected: str) -> None:
    text = f"void f(int n, double *a, int *k) {{ for (int i = 0; i < n; i++) {{ {body} }} }}"
    found, assumed = _written(text, granted=(granted,))
    assert found == expected and assumed == ([granted] if "@" in expected else [])


def test_an_inner_array_without_a_known_extent_has_no_path() -> None:
    text = "void f(int n, int m) { double v[n][m]; m = 3; for (int i = 0; i < n; i++) v[i][1] = 0; }"
    found, _ = _written(text)
    assert found.endswith("…") and found.startswith("v")


def test_an_address_that_comes_from_nowhere_is_lost() -> None:
    region, state = modelled(
        program_of("void f(long p, int n) { for (int i = 0; i < n; i++) *(double *)p = i; }"), "f/i"
    )
    assert [e.span.text for e in state.lost] == ["*(double *)p"]
    assert [a.base.name for s in region.statements for a in s.accesses if a.write] == []
