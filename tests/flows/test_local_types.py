"""Types that loops declare reach the kernels, whatever their names mean around them; the referee compares."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.sampling import one_in
from warpsmith.flows.port import PortOptions, port
from warpsmith.front.load import FrontOptions

C = r"""#include <stdio.h>
#include <stdlib.h>
typedef float real;
struct P { float y, x; };
enum { W = 7, V = 3 };
void f(double *a, real *b, int n) {
    for (int i = 0; i < n; i++) {
        struct P { double x, y; };
        enum { W = 4 };
        typedef double real;
        struct P p = { i, W + V };
        real r = p.x * p.y / 3;
        a[i] = r + W + (real)b[i] / 7;
    }
}
void g(struct P *q, real *b, double *a, int n) {
    for (int i = 0; i < n; i++) {
        q[i].x = (real)a[i] * W;
        b[i] = q[i].x / 3;
        { struct Q { short s; struct { int u; } in; } z = { i * 3, { i } }; b[i] += z.s + z.in.u; }
    }
}
void h(double *a, int n) {
    for (int i = 0; i < n; i++) {
        struct { double x, y; } q = {1, i}, *w = &q;
        enum { LO, HI = 4 } e = i & 1;
        a[i] += w->y + e + HI;
    }
}
double s(double *a, int n) {
    double t = 0;
    for (int i = 0; i < n; i++) {
        typedef float real;
        t += (real)a[i];
    }
    return t;
}
void sc(double *a, double *b, int n) {
    double t = 0;
    for (int i = 0; i < n; i++) {
        typedef double real;
        t += (real)a[i];
        b[i] = t;
    }
}
int main(void) {
    int n = 1000;
    double *a = malloc(n * sizeof *a), *c = malloc(n * sizeof *c);
    real *b = malloc(n * sizeof *b);
    struct P *q = malloc(n * sizeof *q);
    for (int i = 0; i < n; i++) b[i] = i * 0.3f;
    f(a, b, n); g(q, b, a, n); h(a, n);
    double t = s(a, n);
    sc(a, c, n);
    for (int i = 0; i < n; i++) t += a[i] * (i % 7) + b[i] + c[i];
    printf("%.10g\n", t);
    free(a); free(b); free(c); free(q);
    return 0;
}
"""

CXX = r"""#include <cstdio>
#include <vector>
using big = double;
typedef float real;
struct P { float y, x; };
enum { W = 7, V = 3 };
void f(double *a, real *b, int n) {
    for (int i = 0; i < n; i++) {
        struct P { double x, y; double len() const { return x * x + y; } };
        enum { W = 4 };
        enum class K : int { lo = 2, hi = 5 };
        using real = double;
        typedef double *ptr;
        P p = { double(i), double(W + V) };
        real r = p.x * p.y / 3;
        ptr w = a;
        K k = i & 1 ? K::lo : K::hi;
        w[i] = r + W + (real)b[i] / 7 + static_cast<real>(k) + sizeof(P);
    }
}
void g(P *q, real *b, double *a, int n) {
    for (int i = 0; i < n; i++) {
        q[i].x = (real)a[i] * W;
        b[i] = q[i].x / 3;
        { struct P { short s; int u; } z = { short(i * 3), i }; b[i] += z.s + z.u; }
        { struct P { short s, t; } z = { short(i * 3), 2 }; b[i] += z.s + z.t; }
        { struct { short s, t; } z = { short(i * 3), 2 }; b[i] += z.s + z.t; }
        { struct { float s, t; } z = { 1.5f, 2 }; b[i] += z.s + z.t; }
    }
}
void h(std::vector<big> &v) {
    for (auto &x : v) { class Q { public: big z; }; Q q; q.z = x; x = q.z + 1; }
}
int main() {
    int n = 1000;
    std::vector<double> a(n);
    std::vector<real> b(n);
    std::vector<P> q(n);
    for (int i = 0; i < n; i++) b[i] = i * 0.3f;
    f(a.data(), b.data(), n); g(q.data(), b.data(), a.data(), n); h(a);
    double t = 0;
    for (int i = 0; i < n; i++) t += a[i] * (i % 7) + b[i] + q[i].x;
    printf("%.10g\n", t);
    return 0;
}
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "name", "kernels"),
    one_in(
        2,
        [
            (C, "types.c", {"f/i", "g/i", "s/i"}),
            (CXX, "types.cpp", {"f/i", "g/i"}),
        ],
    ),
)
def test_loops_that_declare_types_are_ported(text: str, name: str, kernels: set[str], tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(text)
    result = port([str(path)], PortOptions(front=FrontOptions()))
    assert result.verification is not None and result.verification.status == "pass", result.verification
    assert result.plan is not None
    assert kernels <= {loop for fragment in result.plan.fragments for loop in fragment.loops}
