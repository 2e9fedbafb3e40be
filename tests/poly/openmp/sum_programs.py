"""Parallel regions whose threads add up arrays of their own: `ONE` may be run by one thread, `MANY` may not, for the
reason given. What each leaves behind on 1 and on 4 threads is compared by tests/poly/openmp/test_team_runs.py.
"""

from __future__ import annotations

from tests.poly.openmp.team_programs import region_program

__all__ = ["MANY", "ONE", "UNSEEN"]

_COUNT = """
#pragma omp parallel
    {
        double own[8];
        for (int k = 0; k < 8; k++) own[k] = 0;
#pragma omp for nowait
        for (int i = 0; i < n; i++) own[i % 8] += i;
#pragma omp critical
        for (int k = 0; k < 8; k++) a[k] += own[k];
    }
"""


def _counted(old: str, new: str) -> str:
    assert old in _COUNT
    return region_program(_COUNT.replace(old, new))


ONE: dict[str, str] = {
    "own array, added under critical": region_program(_COUNT),
    "own array, added by atomic": _counted(
        "#pragma omp critical\n        for (int k = 0; k < 8; k++) a[k] += own[k];",
        "for (int k = 0; k < 8; k++) {\n#pragma omp atomic\n a[k] += own[k];\n}",
    ),
    "own array, private, set to zero by memset": region_program(
        """
    double own[8];
    int k;
#pragma omp parallel private(own, k)
    {
        memset(own, 0, sizeof own);
#pragma omp for
        for (int i = 0; i < n; i++) { own[i % 8] += i; own[7 - i % 8] -= 1; }
#pragma omp critical (together)
        { for (k = 0; k < 4; k++) { a[k] += own[k]; b[k] -= own[7 - k]; } }
#pragma omp barrier
#pragma omp single
        sum = a[0] + b[0];
    }
""",
        "#include <string.h>",
    ),
    "own array, running sums of it": region_program("""
#pragma omp parallel
    {
        double own[64] = {0};
#pragma omp for nowait
        for (int i = 0; i < n; i++) own[i * 7 % 64]++;
        for (int k = 1; k < 64; k++) own[k] += own[k - 1];
#pragma omp critical
        for (int k = 0; k < 64; k++) a[k] += own[k];
    }
"""),
    "own array of each step": region_program("""
#pragma omp parallel
    for (int t = 0; t < 3; t++) {
        double own[4][2];
        for (int j = 0; j < 4; j++) for (int k = 0; k < 2; k++) own[j][k] = 0;
#pragma omp for
        for (int i = 0; i < n; i++) own[i % 4][i % 2] += i + t;
#pragma omp critical
        for (int j = 0; j < 4; j++) for (int k = 0; k < 2; k++) a[2 * j + k] += own[j][k];
#pragma omp barrier
#pragma omp for
        for (int i = 0; i < 8; i++) b[i] = a[7 - i] + t;
    }
"""),
    "own array, kept for all steps": region_program("""
#pragma omp parallel
    {
        double own[4] = {0};
        for (int t = 0; t < 3; t++) {
#pragma omp for
            for (int i = 0; i < n; i++) own[i % 4] += i + t;
        }
#pragma omp critical
        for (int k = 0; k < 4; k++) a[k] += own[k];
    }
"""),
    "own struct": region_program(
        """
#pragma omp parallel
    {
        struct pair own;
        own.re = 0; own.im = 0;
#pragma omp for nowait
        for (int i = 0; i < n; i++) (own.re = own.re + i, own.im = own.im + 2 * i);
#pragma omp critical
        { both[1].re += own.re; both[1].im += own.im; }
    }
    sum = both[1].re; most = both[1].im;
""",
        "static struct pair { double re, im; } both[2];",
    ),
    "own array in a function": region_program(
        "#pragma omp parallel\n    for (int t = 0; t < 3; t++) add(t);\n",
        """
static void add(int t)
{
    double own[4];
    int k, lim = 4;
#pragma omp single
    count += t;
    for (k = 0; k < lim; k++) own[k] = 0;
#pragma omp for
    for (int i = 0; i < n; i++) own[i % 4] += i * t;
#pragma omp critical
    for (k = 0; k < lim; k++) a[k] += own[k];
#pragma omp barrier
#pragma omp master
    sum += a[t];
#pragma omp barrier
}
""",
    ),
    "the number of threads is kept": region_program("""
    int threads = 1;
#pragma omp parallel
    {
#pragma omp for
        for (int i = 0; i < n; i++) a[i] = i;
#pragma omp master
        {
            threads = omp_get_num_threads();
            sum += threads > 0;
        }
    }
    count = threads / threads;
"""),
    "own array, as many as are counted": region_program("""
    int bins = n / 8;
#pragma omp parallel
    {
        double own[64];
        for (int k = 0; k < bins; k++) own[k] = 0;
#pragma omp for
        for (int i = 0; i < n; i++) own[i % bins] += i;
#pragma omp critical
        for (int k = 0; k < bins; k++) a[k] += own[k];
    }
"""),
}

MANY: dict[str, tuple[str, str]] = {
    "own array that starts as one": (_counted("own[k] = 0", "own[k] = 1"), "used in line 15 as if it were all"),
    "own array of which half is set to zero": (
        region_program(_COUNT.replace("k < 8; k++) own[k] = 0", "k < 4; k++) own[k] = 0")),
        "own, which every thread adds, is not known to start as zeroes",
    ),
    "own array that one thread sets to zero": (
        _counted("for (int k = 0; k < 8; k++) own", "if (omp_get_thread_num() == 0) for (int k = 0; k < 8; k++) own"),
        "used in line 15 as if it were all",
    ),
    "own array, set to zero in some steps": (
        region_program("""
#pragma omp parallel
    for (int t = 0; t < 3; t++) {
        double own[4];
        if (t != 1)
            for (int k = 0; k < 4; k++) own[k] = 0;
#pragma omp for
        for (int i = 0; i < n; i++) own[i % 4] += i;
#pragma omp critical
        for (int k = 0; k < 4; k++) a[k] += own[k];
    }
"""),
        "as if it were all",
    ),
    "own array, set to zero too late": (
        region_program("""
#pragma omp parallel
    {
        double own[4];
#pragma omp for
        for (int i = 0; i < n; i++) own[i % 4] += i;
        for (int k = 0; k < 4; k++) own[k] = 0;
#pragma omp critical
        for (int k = 0; k < 4; k++) a[k] += own[k];
    }
"""),
        "not known to start as zeroes",
    ),
    "own array, counted by every thread": (
        _counted("#pragma omp critical", "own[3]++;\n#pragma omp critical"),
        "used in line 18 as if it were all",
    ),
    "own array, read by its loop": (
        _counted("own[i % 8] += i", "own[i % 8] += i + own[0]"),
        "as if it were all",
    ),
    "own array, read by a shared loop": (
        _counted(
            "#pragma omp critical",
            "#pragma omp for\n for (int i = 0; i < n; i++) b[i] = own[i % 8];\n#pragma omp critical",
        ),
        "as if it were all",
    ),
    "own array, squared": (_counted("a[k] += own[k]", "a[k] += own[k] * own[k]"), "what critical or atomic"),
    "own array, the largest of it": (
        _counted("a[k] += own[k]", "if (own[k] > a[k]) a[k] = own[k]"),
        "what critical or atomic",
    ),
    "own array, set instead of added": (_counted("a[k] += own[k]", "a[k] = own[k]"), "what critical or atomic"),
    "own array, a total that is read on the way": (
        _counted("a[k] += own[k];", "{ a[k] += own[k]; sum += a[0]; }"),
        "which there is no part in each of them",
    ),
    "own array, added where another sum says": (
        region_program(
            """
#pragma omp parallel
    {
        int own[2] = {0};
#pragma omp for schedule(static)
        for (int i = 0; i < n; i++) own[i % 2] += i / 16 + 1;
#pragma omp critical
        { total[0] += own[0]; where[total[0] % 64] += own[1]; }
    }
    for (int i = 0; i < 64; i++) sum += where[i] * i;
""",
            "static int where[64], total[1];",
        ),
        "which elements of where a thread adds to may depend on what others added",
    ),
    "own array, small numbers": (
        _counted("double own[8]", "unsigned char own[8]"),
        "may take more than a part of own holds",
    ),
    "own array, whole numbers of halves": (
        region_program(
            """
#pragma omp parallel
    {
        long own[2] = {0};
#pragma omp for
        for (int i = 0; i < n; i++) own[i % 2] += 0.5;
#pragma omp critical
        for (int k = 0; k < 2; k++) whole[k] += own[k];
    }
    sum = whole[0];
""",
            "static long whole[2];",
        ),
        "as if it were all",
    ),
    "own array, its total in halves": (
        region_program(
            """
#pragma omp parallel
    {
        double own[2] = {0};
#pragma omp for
        for (int i = 0; i < n; i++) own[i % 2] += 0.49;
#pragma omp critical
        for (int k = 0; k < 2; k++) whole[k] += own[k];
    }
    sum = whole[0];
""",
            "static int whole[2];",
        ),
        "may take more than a part of own holds",
    ),
    "own array, known by another name": (
        _counted("#pragma omp for nowait", "double *p = own; p[0] += 1;\n#pragma omp for nowait"),
        "as if it were all",
    ),
    "own array, its total read without a barrier": (
        _counted(
            "        for (int k = 0; k < 8; k++) a[k] += own[k];",
            "        for (int k = 0; k < 8; k++) a[k] += own[k];\n"
            "#pragma omp for\n        for (int i = 0; i < 8; i++) b[i] = a[7 - i];",
        ),
        "where other threads may still add to it",
    ),
    "own array, its total added in a shared loop before": (
        _counted(
            "#pragma omp critical",
            "#pragma omp for nowait\n for (int i = 0; i < 8; i++) a[i] *= 2;\n#pragma omp critical",
        ),
        "where other threads may still add to it",
    ),
    "own array, added twice by the second thread": (
        _counted("for (int k = 0; k < 8; k++) a[k]", "for (int k = 0; k < 8 + omp_get_thread_num(); k++) a[k]"),
        "omp_get_thread_num tells",
    ),
    "every thread keeps the number of threads": (
        region_program("""
#pragma omp parallel
    {
        int all = omp_get_num_threads();
#pragma omp for
        for (int i = 0; i < n; i++) a[i] = i;
#pragma omp single
        last = all;
    }
"""),
        "omp_get_num_threads tells",
    ),
    "threads counted in an array": (
        _counted("a[k] += own[k]", "a[k] += 1"),
        "what critical or atomic",
    ),
}

# what is wrong here cannot be seen on every run, or needs no second thread to be wrong
UNSEEN = {
    "own array, its total read without a barrier",
    "own array, its total added in a shared loop before",
    "own array, set to zero in some steps",
    "own array, set to zero too late",
    "own array, whole numbers of halves",
}
