"""Parallel regions whose threads allocate memory of their own: `ONE` may be run by one thread, `MANY` may not, for the
reason given. What each leaves behind on 1 and on 4 threads is compared by tests/poly/openmp/test_team_runs.py.
"""

from __future__ import annotations

from tests.poly.openmp.team_programs import region_program

__all__ = ["MANY", "ONE", "UNSEEN"]

_BLOCK = """
#pragma omp parallel
    {
        double *t = malloc(8 * sizeof *t);
#pragma omp for
        for (int i = 0; i < n; i++) {
            for (int k = 0; k < 8; k++) t[k] = i * k + 1;
            a[i] = t[i % 8] + t[0];
        }
        free(t);
    }
"""
_SHARED = "#pragma omp for\nfor (int i = 0; i < n; i++)"
_START = "for (int k = 0; k < 8; k++) t[k] = i * k + 1;"

ONE: dict[str, str] = {
    "block of each thread": region_program(_BLOCK),
    "block of each thread, private pointer": region_program(
        _BLOCK.replace("double *t = malloc", "t = (double *)malloc").replace(
            "#pragma omp parallel", "double *t;\n#pragma omp parallel private(t)"
        )
    ),
    "blocks of two loops": region_program(
        _BLOCK.replace("double *t = malloc(8 * sizeof *t);", "double *t = malloc(64), *w = calloc(n, sizeof *w);")
        .replace("free(t);", "@free(t); free(w);")
        .replace(
            "@", "#pragma omp for\n for (int i = 0; i < n; i++) { w[0] = i; w[1] = w[0] + 2; b[i] = w[0] * w[1]; }\n"
        )
    ),
    "block set by every thread, and read in the loop": region_program(
        _BLOCK.replace(_START, "").replace("#pragma omp for", f"for (int i = 3; i < 4; i++) {_START}\n#pragma omp for")
    ),
}

_WORK = f"""static void work(double *t)
{{
#pragma omp for
    for (int i = 0; i < n; i++) {{ {_START} a[i] = t[i % 8]; }}
}}"""
_TWO_NAMES = "(malloc allocates memory): it would happen once"
_LEFT = "holds something else in each thread"
_READ = "is another block in each thread, and is read there"

# title: (program, what is said)
MANY: dict[str, tuple[str, str]] = {
    "block that goes on from iteration to iteration": (
        region_program(
            _BLOCK.replace("#pragma omp for", "for (int k = 0; k < 8; k++) t[k] = 0;\n#pragma omp for").replace(
                _START, "for (int k = 0; k < 8; k++) t[k] += i;"
            )
        ),
        _LEFT,
    ),
    "block of which a part goes on": (
        region_program(
            _BLOCK.replace("#pragma omp for", "t[7] = 0;\n#pragma omp for")
            .replace("k < 8; k++) t[k]", "k < 7; k++) t[k]")
            .replace("t[0];", "(t[7] += 1);")
        ),
        _LEFT,
    ),
    "block left in one loop, read in another": (
        region_program(
            _BLOCK.replace("free(t);", f"\n{_SHARED} b[i] = t[3];\nfree(t);")
        ),
        _READ,
    ),
    "block that a function fills": (
        region_program(
            _BLOCK.replace(_START, "fill(t, i);"),
            "static void fill(double *x, int i) { for (int k = 0; k < 8; k++) x[k] = i * k + 1; }",
        ),
        _LEFT,
    ),
    "block added under critical": (
        region_program(_BLOCK.replace("free(t);", "\n#pragma omp critical\nsum += t[1];\nfree(t);")),
        "is not each thread's part, combined",
    ),
    "block read by one thread": (
        region_program(_BLOCK.replace("free(t);", "\n#pragma omp single\nsum = t[1];\nfree(t);")),
        _READ,
    ),
    "block read by every thread": (
        region_program(
            _BLOCK.replace("free(t);", f"double x = t[1];\n{_SHARED} b[i] = x;\nfree(t);")
        ),
        _READ,
    ),
    "block with a second name": (
        region_program(
            _BLOCK.replace("#pragma omp for", "double *q = t;\n#pragma omp for").replace("+ t[0]", "+ q[0]")
        ),
        _TWO_NAMES,
    ),
    "block that is known elsewhere": (
        region_program(_BLOCK.replace("#pragma omp for", "seen = t;\n#pragma omp for"), "static double *seen;"),
        _TWO_NAMES,
    ),
    "pointer with two blocks": (
        region_program(_BLOCK.replace("#pragma omp for", "if (n > 70) t = malloc(128);\n#pragma omp for")),
        _TWO_NAMES,
    ),
    "block that a sharing function works on": (
        region_program(
            "#pragma omp parallel\n{ double *t = malloc(8 * sizeof *t);\nwork(t);\nfree(t); }\n",
            _WORK,
        ),
        "handed to a function that shares work",
    ),
    "own array that a sharing function works on": (
        region_program("#pragma omp parallel\n{ double t[8];\nwork(t);\n}\n", _WORK),
        "handed to a function that shares work",
    ),
    "block in what all share": (
        region_program(
            _BLOCK.replace("double *t = malloc(8 * sizeof *t);", "shared = malloc(64);")
            .replace("t[", "shared[")
            .replace("free(t)", "free(shared)"),
            "static double *shared;",
        ),
        "every thread does this",
    ),
}  # fmt: skip

# what is wrong here needs an unlucky order to be seen, or is refused to be safe
UNSEEN = {
    "block with a second name", "block that is known elsewhere", "pointer with two blocks", "block in what all share",
    "block left in one loop, read in another", "block read by one thread", "block that a function fills",
    "block that a sharing function works on", "own array that a sharing function works on",
}  # fmt: skip
