"""Programs whose data directives are subtly wrong, each with a right twin. `main` fills a, b, c and prints what it
reads; `n` is 16. A program is its body, in which `wrong | right` stands where the two differ."""

# ruff: noqa: E501
from __future__ import annotations

__all__ = ["PROGRAMS", "program"]

HEAD = """#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv) {
    int n = argc + 15;
    int h = n / 2;
    double *a = malloc(n * sizeof(double));
    double *b = malloc(n * sizeof(double));
    double *c = malloc(n * sizeof(double));
    double s = 0;
    double t = 3;
    for (int i = 0; i < n; i++) a[i] = i + 1;
    for (int i = 0; i < n; i++) b[i] = 2 * i + 1;
    for (int i = 0; i < n; i++) c[i] = 3 * i + 1;
"""
TAIL = """
    printf("%g\\n", s);
    free(a);
    free(b);
    free(c);
    return 0;
}
"""
FOR = "#pragma omp target teams distribute parallel for"
SUM_B = "for (int i = 0; i < n; i++) s += b[i];"
SUM_A = "for (int i = 0; i < n; i++) s += a[i];"
GRID = "for (int i = 1; i < m - 1; i++) for (int j = 1; j < m - 1; j++)"
B_FROM_A = "for (int i = 0; i < n; i++) b[i] = 2 * a[i];"
A_TWICE = "for (int i = 0; i < n; i++) a[i] = 2 * a[i];"

# the host gives b its values, in each of two rounds
ROUNDS = (
    "#pragma omp target data map(from: b[0:n])\n{{\nfor (int r = 0; r < 2; r++) {{\n{}\n"
    f"#pragma omp target update to(b[0:n])\n{FOR}\nfor (int i = 0; i < n; i++) b[i] = 2 * b[i] + 1;\n}}}}\n}}}}\n{SUM_B}"
)

# title: (body with {}, what makes it wrong, what makes it right)
PROGRAMS: dict[str, tuple[str, str, str]] = {
    "result is not copied back": (f"{FOR} map(to: a[0:n]) {{}}\n{B_FROM_A}\n{SUM_B}", "map(to: b[0:n])", "map(from: b[0:n])"),
    "result is allocated only": (f"{FOR} map(to: a[0:n]) {{}}\n{B_FROM_A}\n{SUM_B}", "map(alloc: b[0:n])", "map(tofrom: b[0:n])"),
    "input is not copied": (f"{FOR} {{}} map(from: b[0:n])\n{B_FROM_A}\n{SUM_B}", "map(alloc: a[0:n])", "map(to: a[0:n])"),
    "input is copied back only": (f"{FOR} {{}} map(from: b[0:n])\n{B_FROM_A}\n{SUM_B}", "map(from: a[0:n])", "map(tofrom: a[0:n])"),
    "input is not mapped": (f"{FOR} {{}} map(from: b[0:n])\n{B_FROM_A}\n{SUM_B}", "", "map(to: a[0:n])"),
    "output is not mapped": (f"{FOR} map(to: a[0:n]) {{}}\n{B_FROM_A}\n{SUM_B}", "", "map(from: b[0:n])"),
    "the pointer alone": (f"{FOR} map(to: a[0:n]) {{}}\n{B_FROM_A}\n{SUM_B}", "map(tofrom: b)", "map(tofrom: b[0:n])"),
    "update in place is from": (f"{FOR} {{}}\n{A_TWICE}\n{SUM_A}", "map(from: a[0:n])", "map(tofrom: a[0:n])"),
    "half of the input": (f"{FOR} map({{}}) map(from: b[0:n])\n{B_FROM_A}\n{SUM_B}", "to: a[0:n/2]", "to: a[0:n]"),
    "half by a variable": (f"{FOR} map({{}}) map(from: b[0:n])\n{B_FROM_A}\n{SUM_B}", "to: a[0:h]", "to: a[0:n]"),
    "last element is missing": (f"{FOR} map({{}}) map(from: b[0:n])\n{B_FROM_A}\n{SUM_B}", "to: a[0:n-1]", "to: a[0:n]"),
    "first element is missing": (f"{FOR} map({{}}) map(from: b[0:n])\n{B_FROM_A}\n{SUM_B}", "to: a[1:n-1]", "to: a[0:n]"),
    "the neighbor is missing": (
        f"{FOR} map({{}}) map(tofrom: b[0:n])\nfor (int i = 0; i < n - 1; i++) b[i] = a[i + 1];\n{SUM_B}",
        "to: a[0:n-1]", "to: a[0:n]",
    ),
    "filled by memcpy each time": (
        f"{ROUNDS}",
        "memcpy(b, a, (n - 1) * sizeof(double));", "memcpy(b, a, n * sizeof(double));",
    ),
    "filled by memset each time": (
        f"{ROUNDS}",
        "memset(b + 1, 0, n * sizeof(double) - 8);", "memset(b, 0, sizeof(double) * n);",
    ),
    "filled in pieces each time": (
        f"{ROUNDS}",
        "for (int i = 1; i < n - 1; i++) b[i] = a[i]; b[n - 1] = 5;",
        "for (int i = 1; i < n - 1; i++) b[i] = a[i]; b[n - 1] = 5; b[0] = 7;",
    ),
    "interior only is computed": (
        f"{FOR} map(to: a[0:n]) map({{}})\nfor (int i = 1; i < n - 1; i++) b[i] = a[i - 1] + a[i + 1];\n{SUM_B}",
        "from: b[0:n]", "tofrom: b[0:n]",
    ),
    "interior only is read": (
        f"{FOR} map(to: a[0:n]) map(from: b[0:n])\nfor (int i = 1; i < n - 1; i++) b[i] = a[i - 1] + a[i + 1];\n"
        "for (int i = {} i++) s += b[i];",
        "0; i < n;", "1; i < n - 1;",
    ),
    "groups of a quotient": (
        f"int g = 3, k = n / g;\n{FOR} map({{}}) map(tofrom: b[0:n])\n"
        f"for (int i = 0; i < g * k; i++) b[i] = a[i];\n{SUM_B}",
        "to: a[0:g*(n/g)-1]", "to: a[0:n]",
    ),
    "more groups than a half": (
        f"{FOR} map({{}}) map(tofrom: b[0:n])\nfor (int i = 0; i < 2 * h; i++) b[i] = a[i];\n{SUM_B}",
        "to: a[0:h]", "to: a[0:2*h]",
    ),
    "rows of a quotient": (
        f"double *d = malloc(3 * n * sizeof(double));\nfor (int i = 0; i < 3 * n; i++) d[i] = i;\nint m = argc + 2;\n{FOR} map({{}}) map(tofrom: b[0:n])\n"
        "for (int i = 0; i < n; i++) b[i] += d[m * h - 1 - i % h] + i;\ns = b[0] + b[1];",
        "to: d[0:n]", "to: d[0:3*n]",
    ),
    "memory of posix_memalign": (
        "double *p;\ndouble *q;\np = q = NULL;\nposix_memalign((void **)&p, 64, n * sizeof(double));\n"
        "posix_memalign((void **)&q, 64, n * sizeof(double));\nfor (int i = 0; i < n; i++) p[i] = q[i] = a[i];\n"
        f"{FOR} map(to: p[0:n]) {{}}\nfor (int i = 0; i < n; i++) q[i] += 2 * p[i];\n"
        "for (int i = 0; i < n; i++) s += q[i];",
        "map(to: q[0:n])", "map(tofrom: q[0:n])",
    ),
    "one block by two pointers": (
        "double *p;\ndouble *q;\np = q = malloc(n * sizeof(double));\nfor (int i = 0; i < n; i++) q[i] = a[i];\n"
        f"#pragma omp target data map(to: p[0:n])\n{{{{\n{FOR}\nfor (int i = 0; i < n; i++) p[i] = 2 * p[i];\n{{}}\n"
        "for (int i = 0; i < n; i++) s += q[i];\n}}",
        "", "#pragma omp target update from(p[0:n])",
    ),
    "filled in places that are not known": (
        "double *u;\n#pragma omp target data map(to: a[0:n], c[0:n]) map(tofrom: b[0:n])\n{{\n"
        "for (int r = 0; r < 2; r++) {{\nint k = 0;\nfor (int i = 0; i < n; i++) if (i % 3 < argc) a[k++] = 5 * i;\n"
        f"#pragma omp target update to(a[0:{{}}])\n{FOR}\nfor (int i = 0; i < n; i++) b[i] = a[i * i % n];\n"
        f"u = a;\na = c;\nc = u;\n}}}}\n}}}}\n{SUM_B}",
        "1", "n",
    ),
    "a pointer that is assigned on one way": (
        "double *p;\np = b;\nif (argc > 5) p = a;\n"
        f"{FOR} map(to: c[0:n]) {{}}\nfor (int i = 0; i < n; i++) p[i] = c[i];\n{SUM_B}",
        "map(to: b[0:n]) map(tofrom: a[0:n])", "map(tofrom: a[0:n], b[0:n])",
    ),
    "a pointer that was moved on": (
        "double *p = b;\n++p;\n#pragma omp target data map(to: a[0:n]) map(tofrom: b[0:n])\n{{\n"
        f"{FOR}\nfor (int i = 0; i < n - 1; i++) p[i] = a[i];\n#pragma omp target update from(b[0:{{}}])\n{SUM_B}\n}}}}",
        "n - 1", "n",
    ),
    "half of the result is copied": (f"{FOR} map(to: a[0:n]) map({{}})\n{B_FROM_A}\n{SUM_B}", "from: b[0:n/2]", "from: b[0:n]"),
    "a sum by value": (f"#pragma omp target map(to: a[0:n]) {{}}\n{SUM_A}", "", "map(tofrom: s)"),
    "a sum to the device": (f"#pragma omp target map(to: a[0:n]) {{}}\n{SUM_A}", "map(to: s)", "map(tofrom: s)"),
    "a sum in a data region": (
        f"#pragma omp target data map(to: a[0:n]) map(tofrom: s)\n{{{{\n{FOR} reduction(+: s)\n{SUM_A}\n{{}}\nt += s;\n}}}}\ns = t;",
        "", "#pragma omp target update from(s)",
    ),
    "host read in a data region": (
        f"#pragma omp target data map(to: a[0:n]) map(tofrom: b[0:n])\n{{{{\n{FOR}\n{B_FROM_A}\n{{}}\n{SUM_B}\n}}}}",
        "", "#pragma omp target update from(b[0:n])",
    ),
    "host write in a data region": (
        f"#pragma omp target data map(to: a[0:n]) map(tofrom: b[0:n])\n{{{{\n{A_TWICE}\n{{}}\n{FOR}\n{B_FROM_A}\n}}}}\n{SUM_B}",
        "", "#pragma omp target update to(a[0:n])",
    ),
    "update of the wrong array": (
        f"#pragma omp target data map(to: a[0:n]) map(tofrom: b[0:n])\n{{{{\n{A_TWICE}\n{{}}\n{FOR}\n{B_FROM_A}\n}}}}\n{SUM_B}",
        "#pragma omp target update to(b[0:n])", "#pragma omp target update to(a[0:n])",
    ),
    "update in the wrong direction": (
        f"#pragma omp target data map(to: a[0:n]) map(tofrom: b[0:n])\n{{{{\n{A_TWICE}\n{{}}\n{FOR}\n{B_FROM_A}\n}}}}\n{SUM_B}",
        "#pragma omp target update from(a[0:n])", "#pragma omp target update to(a[0:n])",
    ),
    "update of half": (
        f"#pragma omp target data map(to: a[0:n]) map(tofrom: b[0:n])\n{{{{\n{FOR}\n{B_FROM_A}\n{{}}\n{SUM_B}\n}}}}",
        "#pragma omp target update from(b[0:n/2])", "#pragma omp target update from(b[0:n])",
    ),
    "update before the construct": (
        f"#pragma omp target data map(to: a[0:n]) map(tofrom: b[0:n])\n{{{{\n{{}}\n{SUM_B}\n}}}}",
        f"#pragma omp target update from(b[0:n])\n{FOR}\n{B_FROM_A}", f"{FOR}\n{B_FROM_A}\n#pragma omp target update from(b[0:n])",
    ),
    "host write before from": (
        f"#pragma omp target data map({{}}) map(to: a[0:n])\n{{{{\n{FOR}\nfor (int i = 0; i < n; i++) b[i] += a[i];\n}}}}\n{SUM_B}",
        "from: b[0:n]", "tofrom: b[0:n]",
    ),
    "from inside of tofrom": (
        f"#pragma omp target data map(to: a[0:n]) map(tofrom: b[0:n])\n{{{{\n{FOR} {{}}\n{B_FROM_A}\n{SUM_B}\n}}}}",
        "map(from: b[0:n])", "map(always, from: b[0:n])",
    ),
    "half of it inside of to": (
        f"#pragma omp target data map(to: a[0:n]) map(to: b[0:n])\n{{{{\n{FOR} {{}}\n{B_FROM_A}\n{SUM_B}\n}}}}",
        "map(always, from: b[0:n/2])", "map(always, from: b[0:n])",
    ),
    "to inside of to": (
        f"#pragma omp target data map(to: a[0:n]) map(tofrom: b[0:n])\n{{{{\n{A_TWICE}\n{FOR} {{}}\n{B_FROM_A}\n}}}}\n{SUM_B}",
        "map(to: a[0:n])", "map(always, to: a[0:n])",
    ),
    "second iteration is stale": (
        f"#pragma omp target data map(to: a[0:n]) map(tofrom: b[0:n])\n{{{{\nfor (int k = 0; k < 2; k++) {{{{\n{FOR}\n{B_FROM_A}\n"
        f"{A_TWICE}\n{{}}\n}}}}\n}}}}\n{SUM_B}",
        "", "#pragma omp target update to(a[0:n])",
    ),
    "second iteration reads": (
        f"#pragma omp target data map(tofrom: a[0:n])\n{{{{\nfor (int k = 0; k < 2; k++) {{{{\n{SUM_A}\n{FOR}\n{A_TWICE}\n{{}}\n}}}}\n}}}}",
        "", "#pragma omp target update from(a[0:n])",
    ),
    "exit without copy": (
        f"#pragma omp target enter data map(to: a[0:n], b[0:n])\n{FOR}\n{B_FROM_A}\n#pragma omp target exit data {{}}\n{SUM_B}",
        "map(release: a[0:n], b[0:n])", "map(from: b[0:n]) map(release: a[0:n])",
    ),
    "exit deletes": (
        f"#pragma omp target enter data map(to: a[0:n], b[0:n])\n{FOR}\n{B_FROM_A}\n#pragma omp target exit data {{}}\n{SUM_B}",
        "map(delete: a[0:n], b[0:n])", "map(delete: a[0:n]) map(from: b[0:n])",
    ),
    "entered twice, left once": (
        f"#pragma omp target enter data map(to: a[0:n], b[0:n])\n{{}}\n{FOR}\n{B_FROM_A}\n"
        f"#pragma omp target exit data map(from: b[0:n]) map(delete: a[0:n])\n{SUM_B}",
        "#pragma omp target enter data map(to: b[0:n])", "",
    ),
    "entered without values": (
        f"#pragma omp target enter data {{}}\n{FOR} map(from: b[0:n])\n{B_FROM_A}\n"
        f"#pragma omp target exit data map(release: a[0:n])\n{SUM_B}",
        "map(alloc: a[0:n])", "map(to: a[0:n])",
    ),
    "used after the exit": (
        f"#pragma omp target enter data map(to: a[0:n], b[0:n])\n{{}}\n#pragma omp target exit data map(release: a[0:n])\n{SUM_B}",
        f"#pragma omp target exit data map(from: b[0:n])\n{FOR}\n{B_FROM_A}",
        f"{FOR}\n{B_FROM_A}\n#pragma omp target exit data map(from: b[0:n])",
    ),
    "a chain loses the middle": (
        f"#pragma omp target data map(to: a[0:n]) map(from: c[0:n]) {{}}\n{{{{\n{FOR}\n{B_FROM_A}\n"
        f"{FOR}\nfor (int i = 0; i < n; i++) c[i] = b[i] + 1;\n}}}}\nfor (int i = 0; i < n; i++) s += b[i] + c[i];",
        "map(alloc: b[0:n])", "map(from: b[0:n])",
    ),
    "a helper reads": (
        f"{FOR} map(to: a[0:n]) {{}}\n{B_FROM_A}\nmemcpy(c, b, n * sizeof(double));\nfor (int i = 0; i < n; i++) s += c[i];",
        "map(to: b[0:n])", "map(from: b[0:n])",
    ),
    "through another name": (
        f"double *p = b;\n{FOR} map(to: a[0:n]) {{}}\n{B_FROM_A}\nfor (int i = 0; i < n; i++) s += p[i];",
        "map(to: b[0:n])", "map(from: b[0:n])",
    ),
    "on one way only": (
        f"#pragma omp target data map(to: a[0:n]) map(tofrom: b[0:n])\n{{{{\n{FOR}\n{B_FROM_A}\n{{}}\n{SUM_B}\n}}}}",
        "if (n > 20) {\n#pragma omp target update from(b[0:n])\n}", "#pragma omp target update from(b[0:n])",
    ),
    "one element by the host": (
        f"#pragma omp target data map(to: a[0:n]) map(tofrom: b[0:n])\n{{{{\na[0] = 100;\n{{}}\n{FOR}\n{B_FROM_A}\n}}}}\n{SUM_B}",
        "", "#pragma omp target update to(a[0:1])",
    ),
    "the other element is updated": (
        f"#pragma omp target data map(to: a[0:n]) map(tofrom: b[0:n])\n{{{{\na[0] = 100;\n#pragma omp target update {{}}\n{FOR}\n{B_FROM_A}\n}}}}\n{SUM_B}",
        "to(a[1:n-1])", "to(a[0:n])",
    ),
    "left before it is read": (
        f"{FOR} map(to: a[0:n]) {{}}\n{B_FROM_A}\nfor (int i = 0; i < n; i++) {{{{ if (b[i] > 7) break; s += b[i]; }}}}",
        "map(to: b[0:n])", "map(from: b[0:n])",
    ),
    "one arm computes no element": (
        f"{FOR} map(to: a[0:n]) map(from: b[0:n])\nfor (int i = 0; i < n; i++) {{{{ if (a[i] > 7) b[i] = a[i]; {{}} }}}}\n{SUM_B}",
        "", "else b[i] = 0;",
    ),
    "a border of a grid that nothing writes": (
        f"int m = argc + 3;\n#pragma omp target data map(tofrom: a[0:n]) map(alloc: b[0:n])\n{{{{\nfor (int k = 0; k < 2; k++) {{{{\n"
        f"{FOR}\n{GRID} b[i * m + j] = a[i * m + j - 1] + a[i * m + j + 1];\n"
        f"{FOR}\n{GRID} a[i * m + j] = b[{{}}];\n}}}}\n}}}}\n{SUM_A}",
        "i * m + j - 1", "i * m + j",
    ),
    "a grid is read before it is written": (
        f"int m = argc + 3;\n#pragma omp target data map(tofrom: a[0:n]) map(alloc: b[0:n])\n{{{{\nfor (int k = 0; k < 2; k++) {{{{\n{{}}\n}}}}\n}}}}\n{SUM_A}",
        f"{FOR}\n{GRID} a[i * m + j] += b[i * m + j];\n{FOR}\n{GRID} b[i * m + j] = a[i * m + j - 1];",
        f"{FOR}\n{GRID} b[i * m + j] = a[i * m + j - 1];\n{FOR}\n{GRID} a[i * m + j] += b[i * m + j];",
    ),
    "a border in one construct": (
        f"int m = argc + 3;\n#pragma omp target map(tofrom: a[0:n]) map(alloc: b[0:n])\n"
        f"{GRID} {{{{ b[i * m + j] = 2 * a[i * m + j]; a[i * m + j] = b[{{}}]; }}}}\n{SUM_A}",
        "(i - 1) * m + j", "i * m + j",
    ),
    "a grid through another name": (
        f"int m = argc + 3;\ndouble *p = b;\n#pragma omp target data map(tofrom: a[0:n]) map({{}}: b[0:m * m])\n{{{{\n"
        f"{FOR}\n{GRID} a[i * m + j] += p[i * m + j];\n{FOR}\n{GRID} b[i * m + j] = a[i * m + j - 1];\n}}}}\n{SUM_A}",
        "alloc", "to",
    ),
    "a grid comes back with its border": (
        f"int m = argc + 3;\n#pragma omp target data map(to: a[0:n]) map({{}}: b[0:n])\n{{{{\n"
        f"{FOR}\n{GRID} b[i * m + j] = a[i * m + j - 1];\n{FOR}\n{GRID} a[i * m + j] = b[i * m + j];\n}}}}\n{SUM_B}",
        "from", "tofrom",
    ),
    "one arm computes another element": (
        f"{FOR} map(to: a[0:n]) map(from: b[0:n])\nfor (int i = 0; i < n; i++) {{{{ if (a[i] > 7) b[i] = a[i]; else b[{{}}] = 0; }}}}\n{SUM_B}",
        "n - 1 - i", "i",
    ),
}  # fmt: skip


def program(title: str, *, wrong: bool) -> str:
    """Return one of the two programs of that title."""
    body, bad, good = PROGRAMS[title]
    return HEAD + body.format(bad if wrong else good) + TAIL
