"""Parallel regions with their judgment: `ONE` may be run by one thread, `MANY` may not, for the reason given.

What each leaves behind on 1 and on 4 threads is compared by tests/poly/openmp/test_team_runs.py.
"""

from __future__ import annotations

_HEAD = """#include <stdio.h>
#include <stdlib.h>
extern int omp_get_thread_num(void), omp_get_num_threads(void); extern void omp_set_num_threads(int);
static double a[64], b[64], c[64];
static double sum, most;
static int count, last, n = 64;
static double kept = 1;
"""


SHOW = r"""
void show(void)
{
    double h = 0;
    for (int i = 0; i < 64; i++) h += a[i] * (i + 1) + b[i] * (i + 2) + c[i] * (i + 3);
    printf("%.12g %.12g %.12g %d %d %.12g\n", h, sum, most, count, last, kept);
}
"""
"""What prints all that a region may leave behind."""


def region_program(body: str, more: str = "") -> str:
    return f"{_HEAD}{more}\nvoid region(void)\n{{\n{body}}}\n"


_STEP = "static void step(void)\n{\n#pragma omp for\n    for (int i = 0; i < n; i++) a[i] = i;\n}"

ONE: dict[str, str] = {
    "a loop shared in a function": region_program("#pragma omp parallel\n    step();\n", _STEP),
    "functions of a time loop": region_program(
        """
    int t;
#pragma omp parallel private(t)
    {
        fill(n);
        for (t = 0; t < 5; t++) {
            both(0.1 * t, n);
#pragma omp barrier
#pragma omp master
            if (t % 2 == 0)
                count += t;
#pragma omp barrier
            if (t == 3)
                both(1.0, n);
        }
    }
""",
        """
static void fill(int m)
{
    int i;
#pragma omp for
    for (i = 0; i < m; i++) a[i] = i;
}
static void add(double h, const double *from, double *to)
{
    int i, j = n / 2;
    double mine = 0;
    if (n > 1000) return;
#pragma omp for nowait
    for (i = 1; i < j; i++) { to[i] = from[i - 1] * h + 1; mine += to[i]; }
#pragma omp for
    for (i = j; i < n; i++) { double v = from[i]; to[i] = v * h; }
#pragma omp critical
    sum += mine;
#pragma omp barrier
}
static void both(double h, int m)
{
    double half = h / 2;
#pragma omp single
    last = m;
    add(half, a, b);
#pragma omp for reduction(+ : most)
    for (int i = 0; i < m; i++) most += b[i];
    add(h + half, b, c);
}
""",
    ),
    "a counter that nobody reads": region_program("""
    static int calls = 0;
#pragma omp parallel
    {
#pragma omp for nowait
        for (int i = 0; i < n; i++) a[i] = i;
        calls++;
    }
"""),
    "the first thread does it": region_program("""
#pragma omp parallel
    {
        int me = omp_get_thread_num();
#pragma omp for
        for (int i = 0; i < n; i++) a[i] = i;
        if (me == 0)
            b[0] = a[n - 1] + a[1];
        if (!omp_get_thread_num()) {
            count++;
            printf("first %d\\n", me);
        }
    }
"""),
    "shared loops and a barrier": region_program("""
#pragma omp parallel
    {
#pragma omp for
        for (int i = 0; i < n; i++) a[i] = i;
#pragma omp for nowait
        for (int i = 1; i < n; i++) b[i] = a[i - 1];
#pragma omp barrier
#pragma omp for schedule(static)
        for (int i = 1; i < n; i++) c[i] = b[n - i];
    }
"""),
    "a time loop that all run": region_program("""
    int t, i;
#pragma omp parallel private(t, i)
    for (t = 0; t < 4; t++) {
#pragma omp for
        for (i = 1; i < n - 1; i++) b[i] = a[i - 1] + a[i + 1] + t;
#pragma omp for
        for (i = 1; i < n - 1; i++) a[i] = 0.5 * b[i];
#pragma omp single
        a[0] += 1;
    }
"""),
    "each thread's part is combined": region_program("""
    double mine, top;
#pragma omp parallel private(mine, top)
    {
        mine = 0.0;
        top = -1.0;
#pragma omp for
        for (int i = 0; i < n; i++) { a[i] = i % 7; mine += a[i]; }
#pragma omp for
        for (int i = 0; i < n; i++) { if (a[i] > top) top = a[i]; }
#pragma omp critical
        { sum += mine; if (top > most) most = top; }
    }
"""),
    "the region's own reduction": region_program("""
    double s = 1.0;
#pragma omp parallel reduction(+: s)
    {
#pragma omp for
        for (int i = 0; i < n; i++) s += i;
    }
    sum = s;
"""),
    "the same in every thread": region_program("""
    double h;
    int extra = 2;
#pragma omp parallel private(h) firstprivate(extra)
    {
        int k = n / extra;
        h = 1.0 / k;
        if (h < 0.5) {
#pragma omp for
            for (int i = 0; i < n; i++) a[i] = h * i;
        }
    }
"""),
    "master and single touch what is shared": region_program("""
#pragma omp parallel
    {
#pragma omp master
        printf("start\\n");
#pragma omp for
        for (int i = 0; i < n; i++) a[i] = i;
#pragma omp single nowait
        { count++; kept = a[3]; }
    }
"""),
    "a private scratch array": region_program("""
    double w[4];
#pragma omp parallel private(w)
    {
#pragma omp for
        for (int i = 0; i < n; i++) {
            for (int k = 0; k < 4; k++) w[k] = i * k;
            a[i] = w[1] + w[3];
        }
    }
"""),
    "what single reads is given to all": region_program("""
    double h;
#pragma omp parallel private(h)
    {
#pragma omp single copyprivate(h)
        h = kept + 1;
#pragma omp for
        for (int i = 0; i < n; i++) a[i] = h * i;
    }
"""),
    "two pragmas, one loop": region_program("""
#pragma omp parallel
#pragma omp for
    for (int i = 0; i < n; i++) a[i] = i;
"""),
    "each thread has a part of an array": region_program(
        """
    int t, nt = 4;
    omp_set_num_threads(nt);
#pragma omp parallel
    {
        int me = omp_get_thread_num();
#pragma omp for
        for (int i = 0; i < n; i++) part[me][i % 7] += i;
    }
    for (t = 0; t < nt; t++)
        for (int k = 0; k < 8; k++) {
            a[k] += part[t][k];
            part[t][k] = 0;
        }
""",
        """static double part[8][8];""",
    ),
    "rows of parts, counted and added": region_program("""
    int nt = 4;
    int **many = (int **)malloc(nt * sizeof(int *));
    double **part = (double **)malloc(nt * sizeof(double *));
    int found[8] = {0};
    for (int t = 0; t < nt; t++) {
        many[t] = (int *)calloc(8, sizeof(int));
        part[t] = (double *)calloc(8, sizeof(double));
    }
    for (int again = 0; again < 3; again++) {
#pragma omp parallel num_threads(4)
        {
#pragma omp for schedule(static)
            for (int i = 0; i < 64; i++) {
                many[omp_get_thread_num()][i % 7]++;
                part[omp_get_thread_num()][i % 7] += 0.5 * i;
            }
        }
        for (int k = 0; k < 8; k++)
            for (int t = 0; t < nt; t++) {
                found[k] += many[t][k];
                many[t][k] = 0;
                b[k] += part[t][k];
            }
    }
    for (int k = 0; k < 8; k++) c[k] = found[k];
    for (int t = 0; t < nt; t++) { free(many[t]); free(part[t]); }
    free(many); free(part);
"""),
    "rows of parts in one block": region_program("""
    int nt = 4, groups = 5, i, j, k, found[8] = {0};
    int **many = (int **)malloc(nt * sizeof(int *));
    double ***part = (double ***)malloc(nt * sizeof(double **));
    many[0] = (int *)calloc(nt * groups, sizeof(int));
    for (i = 1; i < nt; i++) many[i] = many[i - 1] + groups;
    part[0] = (double **)malloc(groups * nt * sizeof(double *));
    for (i = 1; i < nt; i++) part[i] = part[i - 1] + groups;
    for (i = 0; i < nt; i++)
        for (j = 0; j < groups; j++) part[i][j] = (double *)calloc(3, sizeof(double));
    for (int again = 0; again < 3; again++) {
        omp_set_num_threads(nt);
#pragma omp parallel
        {
            int me = omp_get_thread_num();
#pragma omp for private(i, j, k)
            for (i = 0; i < 64; i++) {
                for (j = k = 0; j < groups; j++) if (i % (j + 2) == 0) k = j;
                many[me][k]++;
                for (j = 0; j < 3; j++) part[me][k][j] += 0.5 * i + j;
            }
        }
        for (i = 0; i < groups; i++)
            for (j = 0; j < nt; j++) {
                found[i] += many[j][i];
                many[j][i] = 0;
                for (k = 0; k < 3; k++) { b[i * 3 + k] += part[j][i][k]; part[j][i][k] = 0.0; }
            }
    }
    for (i = 0; i < groups; i++) c[i] = found[i];
    free(part[0]);
"""),
    "one number a thread": region_program("""
    double part[4] = {0};
#pragma omp parallel num_threads(4)
    {
        int me = omp_get_thread_num();
#pragma omp for
        for (int i = 0; i < n; i++) part[me] += i;
    }
    for (int t = 0; t < 4; t++) sum += part[t];
"""),
}

MANY: dict[str, tuple[str, str]] = {
    "printed by all": (
        region_program("""
#pragma omp parallel
    {
        printf("hello\\n");
#pragma omp for
        for (int i = 0; i < n; i++) a[i] = i;
    }
"""),
        "every thread does this",
    ),
    "a shared counter": (
        region_program("""
#pragma omp parallel
    {
#pragma omp for
        for (int i = 0; i < n; i++) a[i] = i;
        count++;
    }
"""),
        "every thread writes count",
    ),
    "a counter that another function reads": (
        region_program(
            """
#pragma omp parallel
    {
#pragma omp for
        for (int i = 0; i < n; i++) a[i] = i;
        calls++;
    }
    last = told();
""",
            "static int calls; static int told(void) { return calls; }",
        ),
        "every thread writes calls",
    ),
    "private value read after the region": (
        region_program("""
    int at = 5;
#pragma omp parallel private(at)
    {
        at = 3;
#pragma omp for
        for (int i = 0; i < n; i++) a[i] = at;
    }
    last = at;
"""),
        "at is private to the threads, and read after the region",
    ),
    "firstprivate value read after the region": (
        region_program("""
    int at = 5;
#pragma omp parallel firstprivate(at)
    {
        at += 1;
#pragma omp for
        for (int i = 0; i < n; i++) a[i] = at;
    }
    last = at;
"""),
        "at is private to the threads, and read after the region",
    ),
    "partial value read by all": (
        region_program("""
    double mine;
    double out[1];
#pragma omp parallel private(mine)
    {
        mine = 0;
#pragma omp for
        for (int i = 0; i < n; i++) mine += i;
#pragma omp for
        for (int i = 0; i < n; i++) a[i] = mine;
    }
"""),
        "mine holds something else in each thread",
    ),
    "a counter read after its loop": (
        region_program("""
    int i;
#pragma omp parallel private(i)
    {
#pragma omp for
        for (i = 0; i < n; i++) a[i] = i;
#pragma omp critical
        last += i;
    }
"""),
        "i, which every thread adds, does not start as",
    ),
    "critical counts the threads": (
        region_program("""
    double mine;
#pragma omp parallel private(mine)
    {
        mine = 1.0;
#pragma omp for
        for (int i = 0; i < n; i++) mine += i;
#pragma omp critical
        sum += mine;
    }
"""),
        "does not start as a number that changes nothing",
    ),
    "atomic counts the threads": (
        region_program("""
#pragma omp parallel
    {
#pragma omp atomic
        count += 1;
#pragma omp for
        for (int i = 0; i < n; i++) a[i] = i;
    }
"""),
        "not each thread's part, combined",
    ),
    "a part combined otherwise": (
        region_program("""
    double mine;
#pragma omp parallel private(mine)
    {
        mine = 1.0;
#pragma omp for
        for (int i = 0; i < n; i++) mine += 1 + i % 2;
#pragma omp critical
        kept *= mine;
    }
"""),
        "mine is combined by *",
    ),
    "single writes a private variable": (
        region_program("""
    double h;
#pragma omp parallel private(h)
    {
        h = 0;
#pragma omp single
        h = 2;
#pragma omp for
        for (int i = 0; i < n; i++) a[i] = h;
    }
"""),
        "h holds something else in each thread",
    ),
    "the second thread does it": (
        region_program("""
#pragma omp parallel
    {
        int me = omp_get_thread_num();
#pragma omp for
        for (int i = 0; i < n; i++) a[i] = i;
        if (me == 1)
            b[0] = a[n - 1];
    }
"""),
        "omp_get_thread_num tells",
    ),
    "all others do it": (
        region_program("""
#pragma omp parallel
    {
        int me = omp_get_thread_num();
#pragma omp for
        for (int i = 0; i < n; i++) a[i] = i;
        if (me == 0)
            b[0] = 1;
        else
            b[1] = 2;
    }
"""),
        "omp_get_thread_num tells",
    ),
    "the number changes": (
        region_program("""
#pragma omp parallel
    {
        int me = omp_get_thread_num();
#pragma omp for
        for (int i = 0; i < n; i++) a[i] = i;
        me = !me;
        if (me == 0)
            b[0] = 1;
    }
"""),
        "omp_get_thread_num tells",
    ),
    "the number is a subscript too": (
        region_program("""
#pragma omp parallel
    {
        int me = omp_get_thread_num();
        if (me == 0)
            count = 1;
#pragma omp for
        for (int i = 0; i < n; i++) b[me] += i;
    }
"""),
        "omp_get_thread_num tells",
    ),
    "the count is kept": (
        region_program("""
#pragma omp parallel
    {
#pragma omp single
        count = 2 * omp_get_num_threads();
#pragma omp for
        for (int i = 0; i < n; i++) a[i] = i;
    }
"""),
        "omp_get_num_threads tells",
    ),
    "the count is part of what is printed": (
        region_program("""
#pragma omp parallel
    {
#pragma omp master
        printf("%g\\n", a[omp_get_num_threads()] + omp_get_num_threads());
#pragma omp for
        for (int i = 0; i < n; i++) b[i] = i;
    }
"""),
        "omp_get_num_threads tells",
    ),
    "the count is the program's choice": (
        region_program("""
    omp_set_num_threads(3);
#pragma omp parallel
    {
#pragma omp master
        printf("%d\\n", omp_get_num_threads());
#pragma omp for
        for (int i = 0; i < n; i++) b[i] = i;
    }
"""),
        "omp_get_num_threads tells",
    ),
    "what all print": (
        region_program("""
#pragma omp parallel
    {
        printf("%d\\n", omp_get_num_threads());
#pragma omp for
        for (int i = 0; i < n; i++) b[i] = i;
    }
"""),
        "omp_get_num_threads tells",
    ),
    "thread number": (
        region_program("""
#pragma omp parallel
    {
        int me = omp_get_thread_num();
#pragma omp for
        for (int i = 0; i < n; i++) a[i] = me;
    }
"""),
        "omp_get_thread_num tells",
    ),
    "thread number in a function": (
        region_program(
            """
#pragma omp parallel
    {
#pragma omp for
        for (int i = 0; i < 64; i++) a[i] = who();
    }
""",
            "static int who(void) { return omp_get_thread_num(); }",
        ),
        "omp_get_thread_num tells",
    ),
    "a loop shared in a function that others may call": (
        region_program("#pragma omp parallel\n    step();\n", _STEP.removeprefix("static ")),
        "step shares work among the threads of the region in line 15, and other files may call it",
    ),
    "a loop shared in a function that is known by its address": (
        region_program("#pragma omp parallel\n    step();\n", _STEP + "\nvoid (*known)(void) = step;"),
        "step shares work among the threads of the region in line 16, and its address is taken",
    ),
    "a loop shared in a function that is asked for a value": (
        region_program(
            "#pragma omp parallel\n    {\n        double v = step();\n#pragma omp single\n        sum = v;\n    }\n",
            _STEP.replace("void step", "double step").replace("}", "    return 1;\n}"),
        ),
        "'omp for' in step (line 10) shares work among the threads of the region in line 16, which calls it inside",
    ),
    "a function that shares a loop and writes what they share": (
        region_program("#pragma omp parallel\n    step();\n", _STEP.replace("{\n", "{\n    count++;\n", 1)),
        "every thread writes count",
    ),
    "a function that shares a loop and follows a pointer": (
        region_program(
            "#pragma omp parallel\n    step(b);\n",
            _STEP.replace("(void)", "(double *p)").replace("{\n", "{\n    p[1] += 1;\n", 1),
        ),
        "every thread writes ",
    ),
    "a function that shares a loop and reads what differs": (
        region_program(
            """
    int t = 0;
#pragma omp parallel firstprivate(t)
    {
#pragma omp for
        for (int i = 0; i < n; i++) { t += i; b[i] = t > -1; }
        step(t);
    }
""",
            _STEP.replace("(void)", "(int t)").replace("= i", "= i + t"),
        ),
        "t holds something else in each thread",
    ),
    "another region leads to the function": (
        region_program(
            "#pragma omp parallel\n    step();\n",
            _STEP + "\nvoid other(void)\n{\n#pragma omp parallel\n    {\n        step();\n        count++;\n    }\n}",
        ),
        "every thread writes count",
    ),
    "tasks": (
        region_program("""
#pragma omp parallel
    {
#pragma omp single
        {
#pragma omp task
            count = 1;
        }
    }
"""),
        "'omp task' inside what threads share",
    ),
    "a sum that is read on the way": (
        region_program("""
    double s = 0;
#pragma omp parallel reduction(+: s)
    {
#pragma omp for
        for (int i = 0; i < n; i++) s += i;
#pragma omp single
        kept = s;
    }
    sum = s;
"""),
        "s is each thread's part of a reduction here",
    ),
    "a scratch array that crosses iterations": (
        region_program("""
    double w[64];
#pragma omp parallel private(w)
    {
#pragma omp for
        for (int i = 0; i < n; i++) w[i] = i;
#pragma omp for
        for (int i = 0; i < n; i++) a[i] = w[i % 8];
    }
"""),
        "w holds something else in each thread",
    ),
    "a clause that is not known": (
        region_program("""
#pragma omp parallel allocate(a)
    {
#pragma omp for
        for (int i = 0; i < n; i++) a[i] = i;
    }
"""),
        "what 'allocate(a)' means for one thread alone is not known",
    ),
    "the first part is left out": (
        region_program("""
    double part[4] = {0};
#pragma omp parallel num_threads(4)
    {
        int me = omp_get_thread_num();
#pragma omp for
        for (int i = 0; i < n; i++) part[me] += i;
    }
    for (int t = 1; t < 4; t++) sum += part[t];
"""),
        "part is used in line",
    ),
    "a sum of too few parts": (
        region_program("""
    double part[4] = {0};
#pragma omp parallel num_threads(4)
    {
        int me = omp_get_thread_num();
#pragma omp for
        for (int i = 0; i < n; i++) part[me] += i;
    }
    for (int t = 0; t < 3; t++) sum += part[t];
"""),
        "part is used in line",
    ),
    "every second part": (
        region_program("""
    double part[4] = {0};
#pragma omp parallel num_threads(4)
    {
        int me = omp_get_thread_num();
#pragma omp for
        for (int i = 0; i < n; i++) part[me] += i;
    }
    for (int t = 0; t < 4; t += 2) sum += part[t];
"""),
        "part is used in line",
    ),
    "one part is looked at": (
        region_program("""
    double part[4] = {0};
#pragma omp parallel num_threads(4)
    {
        int me = omp_get_thread_num();
#pragma omp for
        for (int i = 0; i < n; i++) part[me] += i;
    }
    for (int t = 0; t < 4; t++) sum += part[t];
    a[0] = part[1];
"""),
        "part is used in line",
    ),
    "the largest part": (
        region_program("""
    double part[4] = {0};
#pragma omp parallel num_threads(4)
    {
        int me = omp_get_thread_num();
#pragma omp for
        for (int i = 0; i < n; i++) part[me] += i;
    }
    for (int t = 0; t < 4; t++) if (part[t] > most) most = part[t];
"""),
        "part is used in line",
    ),
    "parts in an order": (
        region_program("""
    double part[4] = {0};
#pragma omp parallel num_threads(4)
    {
        int me = omp_get_thread_num();
#pragma omp for
        for (int i = 0; i < n; i++) part[me] += i;
    }
    for (int t = 0; t < 4; t++) a[t] += part[t];
"""),
        "part is used in line",
    ),
    "sums on the way": (
        region_program("""
    double part[4] = {0};
#pragma omp parallel num_threads(4)
    {
        int me = omp_get_thread_num();
#pragma omp for
        for (int i = 0; i < n; i++) part[me] += i;
    }
    for (int t = 0; t < 4; t++) { sum += part[t]; a[t] = sum; }
"""),
        "part is used in line",
    ),
    "one part is set back": (
        region_program("""
    static double part[4];
    for (int again = 0; again < 2; again++) {
#pragma omp parallel num_threads(4)
    {
        int me = omp_get_thread_num();
#pragma omp for
        for (int i = 0; i < n; i++) part[me] += i;
    }
    for (int t = 0; t < 4; t++) sum += part[t];
    part[0] = 0;
    }
"""),
        "part is used in line",
    ),
    "parts too small for the whole": (
        region_program("""
    static unsigned char part[4];
#pragma omp parallel num_threads(4)
    {
        int me = omp_get_thread_num();
#pragma omp for
        for (int i = 0; i < n; i++) part[me] += 7;
    }
    for (int t = 0; t < 4; t++) count += part[t];
"""),
        "part is used in line",
    ),
    "whole numbers of each value": (
        region_program("""
    int part[4] = {0};
#pragma omp parallel num_threads(4)
    {
        int me = omp_get_thread_num();
#pragma omp for
        for (int i = 0; i < n; i++) part[me] += 0.25 * i - 3;
    }
    for (int t = 0; t < 4; t++) count += part[t];
"""),
        "takes a whole number",
    ),
    "a part of the neighbor's": (
        region_program("""
    double part[5] = {0};
#pragma omp parallel num_threads(4)
    {
        int me = omp_get_thread_num();
#pragma omp for
        for (int i = 0; i < n; i++) part[me + 1] += i;
    }
    for (int t = 0; t < 4; t++) sum += part[t];
"""),
        "omp_get_thread_num tells",
    ),
    "a part is read in the region": (
        region_program("""
    double part[4] = {0};
#pragma omp parallel num_threads(4)
    {
        int me = omp_get_thread_num();
#pragma omp for
        for (int i = 0; i < n; i++) { part[me] += i; a[i] = part[me]; }
    }
    for (int t = 0; t < 4; t++) sum += part[t];
"""),
        "part is used in line",
    ),
    "a part gets new memory": (
        region_program("""
    double **part = (double **)malloc(4 * sizeof(double *));
    for (int t = 0; t < 4; t++) part[t] = (double *)calloc(1, sizeof(double));
    for (int again = 0; again < 2; again++) {
#pragma omp parallel num_threads(4)
    {
        int me = omp_get_thread_num();
#pragma omp for
        for (int i = 0; i < n; i++) part[me][0] += i;
    }
    part[0] = (double *)calloc(1, sizeof(double));
    }
    for (int t = 0; t < 4; t++) sum += part[t][0];
"""),
        "gets other memory",
    ),
    "a part that is known otherwise": (
        region_program("""
    double *part = (double *)calloc(4, sizeof(double)), *other = part;
#pragma omp parallel num_threads(4)
    {
        int me = omp_get_thread_num();
#pragma omp for
        for (int i = 0; i < n; i++) part[me] += i;
    }
    for (int t = 0; t < 4; t++) sum += part[t];
    a[0] = other[0];
"""),
        "part is used in line",
    ),
    "the number of the sum is another one": (
        region_program("""
    double part[8] = {0};
    int nt = 4;
#pragma omp parallel num_threads(nt)
    {
        int me = omp_get_thread_num();
#pragma omp for
        for (int i = 0; i < n; i++) part[me] += i;
    }
    nt = 2;
    for (int t = 0; t < nt; t++) sum += part[t];
"""),
        "part is used in line",
    ),
    "what each part adds depends on it": (
        region_program("""
    double part[4] = {0};
#pragma omp parallel num_threads(4)
    {
        int me = omp_get_thread_num();
#pragma omp for
        for (int i = 0; i < n; i++) part[me] += i;
    }
    for (int t = 0; t < 4; t++) a[(int)part[t] % 64] += part[t];
"""),
        "part is used in line",
    ),
    "rows of parts that overlap": (
        region_program("""
    double **part = (double **)malloc(4 * sizeof(double *));
    part[0] = (double *)calloc(16, sizeof(double));
    for (int t = 1; t < 4; t++) part[t] = part[t - 1] + 1;
#pragma omp parallel num_threads(4)
    {
        int me = omp_get_thread_num();
#pragma omp for
        for (int i = 0; i < 64; i++) part[me][i / 16 % 2] += i;
    }
    for (int t = 0; t < 4; t++) { sum += part[t][0]; part[t][0] = 0; }
"""),
        "part has a block in line 13 that its rows are not known to fill",
    ),
    "a row is left in front": (
        region_program("""
    double **part = (double **)malloc(4 * sizeof(double *));
    part[0] = (double *)calloc(4 * 2, sizeof(double));
    for (int t = 1; t < 4; t++) part[t] = part[t - 1] + 2;
#pragma omp parallel num_threads(4)
    {
        int me = omp_get_thread_num();
#pragma omp for schedule(static)
        for (int i = 0; i < 64; i++) part[me][i < 16 ? 0 : -1] += i;
    }
    for (int t = 0; t < 4; t++) for (int k = 0; k < 2; k++) { b[k] += part[t][k]; part[t][k] = 0; }
"""),
        "part has its rows in one block, and line 19 may add in front of a row",
    ),
    "more rows than are summed": (
        region_program("""
    double **part = (double **)malloc(8 * sizeof(double *));
    part[0] = (double *)calloc(8 * 2, sizeof(double));
    for (int t = 1; t < 8; t++) part[t] = part[t - 1] + 2;
#pragma omp parallel num_threads(4)
    {
        int me = omp_get_thread_num();
#pragma omp for schedule(static)
        for (int i = 0; i < 64; i++) part[me][i / 16 % 2 * 2] += i;
    }
    for (int t = 0; t < 4; t++) { sum += part[t][0]; part[t][0] = 0; }
"""),
        "part is used in line",
    ),
    "a part has rows in two blocks": (
        region_program("""
    double **part = (double **)malloc(4 * sizeof(double *));
    part[0] = (double *)calloc(4 * 2, sizeof(double));
    for (int t = 1; t < 4; t++) part[t] = part[t - 1] + 2;
    part[0] = (double *)calloc(4 * 2, sizeof(double));
#pragma omp parallel num_threads(4)
    {
        int me = omp_get_thread_num();
#pragma omp for schedule(static)
        for (int i = 0; i < 64; i++) part[me][i / 16 == 3 ? 2 : i % 4] += i;
    }
    for (int t = 0; t < 4; t++) { sum += part[t][0]; part[t][0] = 0; }
"""),
        "that lie in more than one block",
    ),
    "steps of another length": (
        region_program("""
    int w = 2, v = 3;
    double **part = (double **)malloc(4 * sizeof(double *));
    part[0] = (double *)calloc(4 * v, sizeof(double));
    for (int t = 1; t < 4; t++) part[t] = part[t - 1] + w;
#pragma omp parallel num_threads(4)
    {
        int me = omp_get_thread_num();
#pragma omp for schedule(static)
        for (int i = 0; i < 64; i++) part[me][i / 16 == 3 ? 2 : 0] += i;
    }
    for (int t = 0; t < 4; t++) { sum += part[t][0]; part[t][0] = 0; }
"""),
        "that its rows are not known to fill",
    ),
}
