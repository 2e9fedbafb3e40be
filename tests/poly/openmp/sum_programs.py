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

_PARTS = """
#pragma omp parallel
    {
        int me = omp_get_thread_num(), all = omp_get_num_threads();
        for (int k = 0; k < 8; k++) part[me][k] = 0;
#pragma omp for
        for (int i = 0; i < n; i++) part[me][i % 8] += i;
#pragma omp for
        for (int k = 0; k < 8; k++) {
            double s = 0;
            for (int t = 0; t < all; t++) s += part[t][k];
            b[k] = s;
        }
    }
"""
_ROWS = "static double part[64][8];"


def _parts(old: str, new: str) -> str:
    assert old in _PARTS
    return region_program(_PARTS.replace(old, new), _ROWS)


def _counted(old: str, new: str) -> str:
    assert old in _COUNT
    return region_program(_COUNT.replace(old, new))


_BEHIND = """
    int threads = 1, q;
#pragma omp parallel
    {
        int me = omp_get_thread_num();
#pragma omp single
        threads = omp_get_num_threads();
#pragma omp for
        for (int i = 0; i < n; i++) part[me][i % 8] += i;
    }
    for (int t = 0; t < threads; t++) for (int k = 0; k < 8; k++) { a[k] += part[t][k]; part[t][k] = 0; }
"""


def _behind(old: str, new: str, more: str = _ROWS) -> str:
    assert old in _BEHIND
    return region_program(_BEHIND.replace(old, new), more)


ONE: dict[str, str] = {
    "parts, set to zero and added up": region_program(_PARTS, _ROWS),
    "parts, added up by each thread": region_program(
        """
    int q;
#pragma omp parallel private(q)
    {
        int me = omp_get_thread_num();
        double mine = 0;
        memset(part[me], 0, sizeof part[me]);
#pragma omp for nowait
        for (int i = 0; i < n; i++) part[me][i % 8] += i;
#pragma omp barrier
        for (q = 0; q < omp_get_num_threads(); q++)
            for (int k = 0; k < 8; k++)
                mine += part[q][k];
#pragma omp for
        for (int i = 0; i < n; i++) a[i] = mine * i;
    }
""",
        "#include <string.h>\n" + _ROWS,
    ),
    "parts of each step": _parts(
        "    {\n        int me",
        "    for (int u = 0; u < 3; u++) {\n        int me",
    ).replace("b[k] = s;", "b[k] += s * u;"),
    "parts, added up by the number that one thread keeps": region_program(
        """
    int threads = 0;
#pragma omp parallel
    {
        int me = omp_get_thread_num();
        if (me == 0) threads = omp_get_num_threads();
        for (int k = 0; k < 8; k++) part[me][k] = 0;
#pragma omp for
        for (int i = 0; i < n; i++) part[me][i % 8] += i;
#pragma omp for
        for (int k = 0; k < 8; k++)
            for (int t = 0; t < threads; t++) b[k] += part[t][k];
    }
""",
        _ROWS,
    ),
    "parts, one number each": region_program(
        """
#pragma omp parallel
    {
        int me = omp_get_thread_num();
        each[me] = 0;
#pragma omp for
        for (int i = 0; i < n; i++) each[me] += i;
#pragma omp single
        for (int t = 0; t < omp_get_num_threads(); t++) sum += each[t];
    }
""",
        "static double each[64];",
    ),
    "parts, added up behind the region": region_program(_BEHIND, _ROWS),
    "parts, kept for the next time": _behind("part[t][k] = 0;", ""),
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
    "parts, the part of the next thread": (_parts("part[me][i % 8] +=", "part[(me + 1) % all][i % 8] +="), "omp_get_"),
    "parts, all set to zero by each thread": (_parts("part[me][k] = 0", "part[k][k] = 0"), "part is used in line 15"),
    "parts that start as one": (_parts("part[me][k] = 0", "part[me][k] = 1"), "part is used in line 15"),
    "parts, set to zero by one thread": (
        _parts("for (int k = 0; k < 8; k++) part", "if (me == 0) for (int k = 0; k < 8; k++) part"),
        "part is used in line 15",
    ),
    "parts, added up without a barrier": (
        _parts("#pragma omp for\n        for (int i", "#pragma omp for nowait\n        for (int i"),
        "with no barrier",
    ),
    "parts, set to zero again without a barrier": (
        _parts("    {\n        int me", "    for (int u = 0; u < 3; u++) {\n        int me").replace(
            "#pragma omp for\n        for (int k", "#pragma omp for nowait\n        for (int k"
        ),
        "with no barrier",
    ),
    "parts, all but the last": (_parts("t < all", "t < all - 1"), "part is used in line 21"),
    "parts, from the second on": (_parts("int t = 0", "int t = 1"), "part is used in line 21"),
    "parts, by their numbers": (_parts("s += part[t][k]", "s += part[t][k] * t"), "part is used in line 21"),
    "parts, the largest of them": (
        _parts("s += part[t][k]", "if (part[t][k] > s) s = part[t][k]"),
        "part is used in line 21",
    ),
    "parts, a mean over threads": (_parts("b[k] = s;", "b[k] = s / all;"), "omp_get_num_threads tells"),
    "parts, threads that take turns": (
        _parts("#pragma omp for\n        for (int i = 0; i < n; i++)", "for (int i = me; i < n; i += all)"),
        "omp_get_",
    ),
    "parts, a counter that is read": (
        region_program(
            _PARTS.replace(
                "for (int t = 0; t < all; t++) s += part[t][k];",
                "int t; for (t = 0; t < all; t++) s += part[t][k]; s += t;",
            ),
            _ROWS,
        ),
        "part is used in line 21",
    ),
    "parts, added up by every thread": (
        _parts(
            "            b[k] = s;\n        }\n",
            "            b[k] = s;\n        }\n        for (int t = 0; t < all; t++) sum += part[t][0];\n",
        ),
        "every thread writes sum",
    ),
    "parts, behind the region and not all": (_behind("t < threads", "t < threads - 1"), "part is used in line"),
    "parts, behind the region, a number from elsewhere": (
        _behind("    for (int t = 0; t", "    threads = 2;\n    for (int t = 0; t"),
        "part is used in line",
    ),
    "parts, behind the region, a number kept in part": (
        _behind("threads = omp_get_num_threads();", "if (n > 100) threads = omp_get_num_threads();"),
        "part is used in line",
    ),
    "parts, behind the region, nothing is zero": (
        region_program(
            _BEHIND.replace("int threads = 1", "double part[64][8]; int threads = 1").replace(
                "#pragma omp for", "for (int k = 0; k < 8; k++) part[me][k] = 0;\n#pragma omp for"
            )
        ),
        "not known to start as zeroes",
    ),
    "parts of as many threads as there are rounds": (
        region_program(
            """
    for (int u = 3; u > 0; u--) {
        omp_set_num_threads(u);
#pragma omp parallel
        {
            int me = omp_get_thread_num();
#pragma omp for schedule(static)
            for (int i = 0; i < n; i++) part[me][i % 8] += i;
#pragma omp single
            for (int t = 0; t < omp_get_num_threads(); t++) a[u] += part[t][0];
        }
    }
""",
            _ROWS,
        ),
        "which may be others each time",
    ),
    "parts of two regions": (
        region_program(
            """
#pragma omp parallel num_threads(4)
    {
        int me = omp_get_thread_num();
#pragma omp for schedule(static)
        for (int i = 0; i < n; i++) part[me][i % 8] += i;
    }
#pragma omp parallel num_threads(2)
    {
        int me = omp_get_thread_num();
#pragma omp for schedule(static)
        for (int i = 0; i < n; i++) part[me][i % 8] += i;
#pragma omp single
        for (int t = 0; t < omp_get_num_threads(); t++) sum += part[t][0];
    }
""",
            _ROWS,
        ),
        "another region adds to them",
    ),
    "parts of small numbers": (
        region_program(_PARTS, "static unsigned char part[64][8];"),
        "part is used in line 21",
    ),
    "own array that starts as one": (_counted("own[k] = 0", "own[k] = 1"), "used in line 15 as if it were all"),
    "own array, set to zero in steps that there may be none of": (
        region_program(
            _COUNT.replace(
                "double own[8];\n        for (int k",
                "double own[8] = {1, 2};\n        for (int q = 0; q < rounds; q++) for (int k",
            ).replace("#pragma omp parallel", "    int rounds = n - n;\n#pragma omp parallel", 1)
        ),
        "is not known to start as zeroes",
    ),
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
    "parts, added up without a barrier",
    "parts, set to zero again without a barrier",
    "parts, added up by every thread",
    "parts, a counter that is read",
    "parts, behind the region, nothing is zero",
    "parts, set to zero by one thread",
}
