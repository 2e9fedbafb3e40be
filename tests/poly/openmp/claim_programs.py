"""Pragmas that are wrong, each with what must be said of it, and pragmas that are right."""

from __future__ import annotations

import random

ARRAYS = "int n, int m, int *restrict a, int *restrict b, int *restrict c, int x[restrict][100]"

# name: (text before the pragma, pragma's clauses, loop and what follows, what is said)
WRONG: dict[str, tuple[str, str, str, str]] = {
    "missing private": ("int t;", "", "for (int i = 0; i < n; i++) { t = a[i]; b[i] = t; }", "t needs private"),
    "missing private of an array": (
        "int t[4];",
        "",
        "for (int i = 0; i < n; i++) { for (int k = 0; k < 4; k++) t[k] = a[i]; b[i] = t[0] + t[3]; }",
        "t needs private",
    ),
    "shared inner counter": (
        "int j;",
        "",
        "for (int i = 0; i < n; i++) for (j = 0; j < m; j++) x[i][j] = j;",
        "j needs private",
    ),
    "missing reduction": (
        "int s = 0;",
        "",
        "for (int i = 0; i < n; i++) s += a[i]; return s;",
        "s needs reduction(+: s)",
    ),
    "missing product": ("int s = 1;", "", "for (int i = 0; i < n; i++) s *= 2; return s;", "s needs reduction(*: s)"),
    "missing maximum": (
        "int s = 0;",
        "",
        "for (int i = 0; i < n; i++) s = s > a[i] ? s : a[i]; return s;",
        "s needs reduction(max: s)",
    ),
    "wrong operator": (
        "int s = 1;",
        "reduction(+: s)",
        "for (int i = 0; i < n; i++) s *= 2; return s;",
        "reduction(+: s) is wrong",
    ),
    "a sum that is read": (
        "int s = 0;",
        "reduction(+: s)",
        "for (int i = 0; i < n; i++) { s += a[i]; b[i] = s; }",
        "the loop also reads s",
    ),
    "flow dependence": ("", "", "for (int i = 1; i < n; i++) a[i] = a[i - 1] + b[i];", "dependence on a"),
    "anti dependence": ("", "", "for (int i = 0; i < n; i++) a[i] = a[i + 1];", "dependence on a"),
    "output dependence": ("", "", "for (int i = 0; i < n; i++) { a[i] = 1; a[i + 1] = 2; }", "dependence on a"),
    "one element": ("", "", "for (int i = 0; i < n; i++) a[0] = i;", "dependence on a"),
    "distance two": ("", "", "for (int i = 2; i < n; i++) a[i] = a[i - 2];", "dependence on a"),
    "overlapping rows": (
        "",
        "",
        "for (int i = 0; i < n; i++) for (int j = 0; j < 5; j++) a[4 * i + j] = j;",
        "dependence on a",
    ),
    "wrong collapse": (
        "",
        "collapse(2)",
        "for (int i = 0; i < n; i++) for (int j = 1; j < m; j++) x[i][j] = x[i][j - 1];",
        "collapse(2) covers the j loop",
    ),
    "collapse over a sum": (
        "",
        "collapse(2)",
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) b[i] += x[i][j];",
        "b needs reduction(+: b",
    ),
    "missing lastprivate": (
        "int t = 0;",
        "private(t)",
        "for (int i = 0; i < n; i++) { t = a[i]; b[i] = t; } return t;",
        "t needs lastprivate",
    ),
    "missing firstprivate": (
        "int t = 5;",
        "private(t)",
        "for (int i = 0; i < n; i++) b[i] = t + i;",
        "t needs firstprivate",
    ),
    "private read before it is written": (
        "int t = 0;",
        "private(t)",
        "for (int i = 0; i < n; i++) { b[i] = t; t = a[i]; }",
        "private(t) is wrong",
    ),
    "firstprivate that passes on": (
        "int t = 0;",
        "firstprivate(t)",
        "for (int i = 0; i < n; i++) { b[i] = t; t = a[i]; }",
        "firstprivate(t) is wrong",
    ),
    "a running index": ("int k = 0;", "", "for (int i = 0; i < n; i++) { b[k] = a[i]; k++; }", "k"),
    "atomic and a plain read": (
        "int s = 0;",
        "",
        """for (int i = 0; i < n; i++) {
#pragma omp atomic
            s += a[i];
            b[i] = s;
        }""",
        "dependence on s",
    ),
    "a sum of an inner loop that threads share": (
        "int s = 0;",
        "",
        """for (int i = 0; i < n; i++) {
#pragma omp simd reduction(+: s)
            for (int j = 0; j < m; j++) s += x[i][j];
        }
        return s;""",
        "s needs reduction(+: s)",
    ),
    "linear by another step": (
        "int k = 0;",
        "linear(k)",
        "for (int i = 0; i < n; i++) { b[k] = a[i]; k += 2; } return k;",
        "each iteration moves k by 2",
    ),
    "linear and never moved": (
        "int k = 3;",
        "linear(k)",
        "for (int i = 0; i < n; i++) b[i] = a[i] + k;",
        "no iteration moves k",
    ),
    "an inner pragma that owns another variable": (
        "int t, u;",
        "",
        """for (int i = 0; i < n; i++) {
            u = b[i];
#pragma omp simd private(t)
            for (int j = 0; j < m; j++) { t = x[i][j]; x[i][j] = t + u; }
        }""",
        "u needs private",
    ),
    "counter read after": ("int i;", "", "for (i = 0; i < n; i++) a[i] = 1; return i;", "i needs lastprivate"),
}

RIGHT: dict[str, tuple[str, str, str]] = {
    "copy": ("", "", "for (int i = 0; i < n; i++) a[i] = b[i];"),
    "private": ("int t;", "private(t)", "for (int i = 0; i < n; i++) { t = a[i]; b[i] = t * t; }"),
    "private array": (
        "int t[4];",
        "private(t)",
        "for (int i = 0; i < n; i++) { for (int k = 0; k < 4; k++) t[k] = a[i] + k; b[i] = t[0] + t[3]; }",
    ),
    "firstprivate": ("int t = 4;", "firstprivate(t)", "for (int i = 0; i < n; i++) b[i] = t + a[i];"),
    "firstprivate, then written": (
        "int t = 4;",
        "firstprivate(t)",
        "for (int i = 0; i < n; i++) { t = a[i]; b[i] = t; }",
    ),
    "lastprivate": (
        "int t = 0;",
        "lastprivate(t)",
        "for (int i = 0; i < n; i++) { t = a[i]; b[i] = t; } return t + 0 * n;",
    ),
    "sum": ("int s = 3;", "reduction(+: s)", "for (int i = 0; i < n; i++) s += a[i]; return s;"),
    "difference": ("int s = 3;", "reduction(-: s)", "for (int i = 0; i < n; i++) s -= a[i]; return s;"),
    "product": ("int s = 1;", "reduction(*: s)", "for (int i = 0; i < n; i++) s *= a[i]; return s;"),
    "maximum": ("int s = 0;", "reduction(max: s)", "for (int i = 0; i < n; i++) if (a[i] > s) s = a[i]; return s;"),
    "minimum": ("int s = 9;", "reduction(min: s)", "for (int i = 0; i < n; i++) s = a[i] < s ? a[i] : s; return s;"),
    "xor": ("int s = 0;", "reduction(^: s)", "for (int i = 0; i < n; i++) s ^= a[i]; return s;"),
    "two sums": (
        "int s = 0, p = 1;",
        "reduction(+: s) reduction(*: p)",
        "for (int i = 0; i < n; i++) { s += a[i]; p *= 3; } return s + p;",
    ),
    "collapse": ("", "collapse(2)", "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) x[i][j] = i - j;"),
    "outer only": ("", "", "for (int i = 0; i < n; i++) for (int j = 1; j < m; j++) x[i][j] = x[i][j - 1];"),
    "private counter": ("int j;", "private(j)", "for (int i = 0; i < n; i++) for (j = 0; j < m; j++) x[i][j] = j;"),
    "even and odd": ("", "", "for (int i = 0; i < n; i++) a[2 * i] = a[2 * i + 1];"),
    "downwards": ("", "", "for (int i = n - 1; i >= 0; i--) a[i] = b[i];"),
    "stride": ("", "", "for (int i = 0; i < n; i += 3) { a[i] = 1; a[i + 1] = 2; a[i + 2] = 3; }"),
    "atomic": (
        "int s = 0;",
        "",
        """for (int i = 0; i < n; i++) {
#pragma omp atomic
            s += a[i];
        }
        return s;""",
    ),
    "critical": (
        "int s = 0;",
        "",
        """for (int i = 0; i < n; i++) {
#pragma omp critical
            { s += a[i]; }
        }
        return s;""",
    ),
    "a branch each": (
        "int t;",
        "private(t)",
        "for (int i = 0; i < n; i++) { if (a[i] > 3) t = 1; else t = 2; b[i] = t; }",
    ),
    "schedule": ("", "schedule(dynamic, 4) num_threads(2)", "for (int i = 0; i < n; i++) a[i] = i;"),
    "linear": ("int k = 3;", "linear(k)", "for (int i = 0; i < n; i++) { b[k] += a[i]; k++; } return k;"),
    "linear by two": (
        "int k = 0;",
        "linear(k: 2)",
        "for (int i = 0; i < n; i++) { b[k] = a[i]; b[k + 1] = -a[i]; k += 2; } return k;",
    ),
    "linear downwards": (
        "int k = n;",
        "linear(k: -1)",
        "for (int i = 0; i < n; i++) { k--; b[k] = a[i]; } return 7;",
    ),
    "a sum of an inner loop": (
        "int s = 0;",
        "reduction(+: s)",
        """for (int i = 0; i < n; i++) {
#pragma omp simd reduction(+: s)
            for (int j = 0; j < m; j++) s += x[i][j];
        }
        return s;""",
    ),
    "what iterations of inner loops own": (
        "int t, j;",
        "private(j)",
        """for (int i = 0; i < n; i++) {
#pragma omp simd private(t)
            for (j = 0; j < m; j++) { t = x[i][j]; x[i][j] = t + 1; }
#pragma omp simd private(t)
            for (j = 0; j < m; j++) { t = x[i][j]; x[i][j] = 2 * t; }
        }""",
    ),
    "last counter": ("int i;", "lastprivate(i)", "for (i = 0; i < n; i++) a[i] = 1; return 0;"),
}

# right, and beyond what can be proved
OPEN: dict[str, tuple[str, str, str]] = {
    "indirect": ("", "", "for (int i = 0; i < n; i++) a[b[i]] = c[i];"),
    "conditional last": ("int t = 0;", "lastprivate(t)", "for (int i = 0; i < n; i++) if (a[i] > 0) t = i; return t;"),
    # wrong, but what shows it is no subscript of the loop's counter
    "linear places that meet": (
        "int k = 0;",
        "linear(k)",
        "for (int i = 0; i < n; i++) { b[k] = a[i]; b[k + 1] = 0; k++; }",
    ),
    "linear under a condition": (
        "int k = 0;",
        "linear(k)",
        "for (int i = 0; i < n; i++) if (a[i] > 0) { b[k] = a[i]; k++; }",
    ),
    "linear, and another subscript": (
        "int k = 1;",
        "linear(k)",
        "for (int i = 0; i < n; i++) { b[k] = b[i]; k++; }",
    ),
    "count into places": ("", "", "for (int i = 0; i < n; i++) if (a[i] > 3) b[c[i]] = i;"),
}


def function(name: str, before: str, clauses: str, text: str) -> str:
    """Return a C function with one pragma."""
    return f"int {name}({ARRAYS})\n{{\n    {before}\n#pragma omp parallel for {clauses}\n    {text}\n}}\n"


_STATEMENTS = (
    "t = a[i];", "t = i * 2;", "if (i < 3) t = b[i];", "b[i] = t;", "b[i] = t + u;", "u = t + 1;", "u = a[i] + 1;",
    "c[i] = u;", "s += a[i];", "s += t;", "p *= 2;", "p = p * 3;", "s = s + b[i];", "c[i] = s;", "a[i] = b[i];",
    "a[i + 1] = b[i];", "a[i] = a[i] + 1;", "a[i] = c[i + 1];", "c[2 * i] = i;", "c[2 * i + 1] = t;", "b[0] = i;",
    "for (j = 0; j < m; j++) x[i][j] = t;", "for (j = 0; j < 3; j++) x[i][j] = x[i][j] + j;",
    "for (int k = 0; k < m; k++) x[i][k] = i;", "for (int k = 1; k < m; k++) x[i][k] = x[i][k - 1];",
    "for (int k = 0; k < 3; k++) w[k] = a[i] + k;", "b[i] = w[0] + w[2];", "if (i > 1) { u = t; c[i] = u; }",
    "if (a[i] > 4) t = 3;", "x[i + 1][0] = 2;", "x[i][1] = t;", "if (a[i] > p) p = a[i];", "{ int v = t; b[i] = v; }",
)  # fmt: skip
_AFTER = ("", "", "return s;", "return s + p;", "b[1] = t;", "return u;", "return j;", "c[0] = w[1];", "return i;")


def random_function(name: str, source: random.Random) -> str:
    """Return a function with a random loop under a random pragma."""
    clauses: list[str] = []
    for variable in ("t", "u", "w", "j"):
        kind = source.choice(
            ("", "private", "private", "firstprivate", "lastprivate" if variable != "w" else "private")
        )
        clauses += [f"{kind}({variable})"] if kind else []
    for variable in ("s", "p"):
        operator = source.choice(("", "+", "+", "*", "max"))
        clauses += [f"reduction({operator}: {variable})"] if operator else []
    body = " ".join(source.choice(_STATEMENTS) for _ in range(source.randint(1, 4)))
    header = source.choice(("for (i = 0; i < n; i++)", "for (i = 1; i < n; i++)", "for (i = n; i >= 1; i--)"))
    before = "int i, j = 71, t = 43, u = 57, s = 0, p = 1, w[3] = {1, 2, 3};".replace("w[3] = {1, 2, 3}", "w[3]")
    before += " w[0] = 31; w[1] = 32; w[2] = 33;"
    after = source.choice(_AFTER)
    return function(name, before, " ".join(clauses), f"{header} {{ {body} }} {after}")
