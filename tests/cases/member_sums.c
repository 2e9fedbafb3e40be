/* Sums, counts and extremes in members of structs, and near misses.
 * RUN: port --all
 * EXPECT: of_local/i reduction ported: an associative update (+: sum_value, +: count_value, min: least_value) is the only carried dependence, after promote=of_local/i,place=s.sum, promote=of_local/i,place=s.count, promote=of_local/i,place=s.least
 * EXPECT: of_global/i reduction ported: an associative update (max: most_value, +: low_value, +: high_value, +: moment_value, +: moment_value2) is the only carried dependence, after promote=of_global/i,place=all.most, promote=of_global/i,place=all.part.low, promote=of_global/i,place=all.part.high, promote=of_global/i,place=all.moment[2], promote=of_global/i,place=all.moment[1]
 * EXPECT: behind_pointer/i reduction ported: an associative update (+: sum_value2, +: squares_value, +: count_value2) is the only carried dependence, after promote=behind_pointer/i,place=p->sum, promote=behind_pointer/i,place=p->squares, promote=behind_pointer/i,place=p->count
 * EXPECT: perhaps_shared/i reduction ported: an associative update (+: sum_value3) is the only carried dependence, after promote=perhaps_shared/i,place=p->sum
 * EXPECT: running/i scan ported: a running value (+: sum_value4) is the only carried dependence, after promote=running/i,place=p->sum
 * EXPECT: rows/i parallel ported: no carried dependence (if what is touched of x and of y does not overlap)
 * EXPECT: rows/i/j sequential ported: carries a flow dependence on s
 * EXPECT: two_pointers/i sequential host: carries a flow dependence on p
 * EXPECT: copied/i sequential host: carries a flow dependence on s
 * EXPECT: looked_at/i sequential host: carries a flow dependence on all
 * EXPECT: few/i unanalyzable host: a construct that is not modelled: a bit-field
 * EXPECT: seen/i unanalyzable host: a volatile object is accessed
 * EXPECT: main/i parallel ported: no carried dependence (proven)
 * VERIFY: pass
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    double sum, squares, least, most;
    long count;
    struct {
        double low, high;
    } part;
    double moment[3];
    unsigned few : 4;
} Summary;

struct watched {
    volatile int seen;
};

static Summary all;

static void of_local(int n, const double *x)
{
    Summary s = {.least = 1e30};
    for (int i = 0; i < n; i++) {
        s.sum += x[i];
        s.count++;
        s.least = fmin(s.least, x[i]);
    }
    printf("%.6g %ld %.6g\n", s.sum, s.count, s.least);
}

static void of_global(int n, const double *x)
{
    for (int i = 0; i < n; i++) {
        if (x[i] > all.most)
            all.most = x[i];
        all.part.low += x[i] < 5 ? x[i] : 0;
        all.part.high -= x[i] < 5 ? 0 : x[i];
        all.moment[2] += x[i] * x[i];
        all.moment[1] += x[i];
    }
}

/* null, and no iteration: p is not followed */
static void behind_pointer(int n, const double *x, Summary *p)
{
    for (int i = 0; i < n; i++) {
        p->sum += x[i];
        p->squares += x[i] * x[i];
        p->count++;
    }
}

/* x is part of *p in one of the calls */
static void perhaps_shared(int n, double *x, Summary *p)
{
    for (int i = 0; i < n; i++) {
        x[i] = x[i] * 0.5 + 1;
        p->sum += x[i];
    }
}

/* the sums are read in every iteration */
static void running(int n, const double *x, double *y, Summary *p)
{
    for (int i = 0; i < n; i++) {
        p->sum += x[i];
        y[i] = p->sum;
    }
}

static void rows(int n, int m, const double *x, double *y)
{
    Summary s = {0};
    for (int i = 0; i < n; i++) {
        s.sum = 0;
        for (int j = 0; j < m; j++)
            s.sum += x[i * m + j];
        y[i] = s.sum;
    }
}

/* --- what stays */

static void two_pointers(int n, const double *x, double *q, Summary *p)
{
    for (int i = 0; i < n; i++) {
        p->sum = p->sum * 0.5 + *q;
        *q += x[i];
    }
}

static void copied(int n, const double *x, Summary *t)
{
    Summary s = {0};
    for (int i = 0; i < n; i++) {
        s.sum += x[i];
        t[i & 1] = s;
    }
}

static double peek(void) { return all.sum; }

static void looked_at(int n, const double *x, double *y)
{
    for (int i = 0; i < n; i++) {
        all.sum += x[i];
        y[i] = peek();
    }
}

static void few(int n, const double *x, Summary *p)
{
    for (int i = 0; i < n; i++)
        p->few += x[i] > 3;
}

static void seen(int n, const double *x, struct watched *p)
{
    for (int i = 0; i < n; i++)
        p->seen += x[i] > 3;
}

int main(void)
{
    int n = 900;
    double *x = malloc(n * sizeof *x), *y = malloc(n * sizeof *y);
    Summary *p = calloc(2, sizeof *p);
    struct watched w = {0};
    for (int i = 0; i < n; i++) {
        x[i] = i * 31 % 101 * 0.25;
        y[i] = 0;
    }
    of_local(n, x);
    of_global(n, x);
    behind_pointer(n, x, p);
    behind_pointer(0, x, NULL);
    perhaps_shared(n, x, p);
    perhaps_shared(4, &p[1].sum, p + 1);
    running(n, x, y, p);
    rows(30, 30, x, y);
    two_pointers(n, x, y, p);
    two_pointers(n, x, &p[1].sum, p + 1);
    copied(n, x, p);
    looked_at(n, x, y);
    few(n, x, p);
    seen(n, x, &w);
    printf("%.6g %.6g %.6g %.6g %.6g\n", all.most, all.part.low, all.part.high, all.moment[2], all.moment[1]);
    printf("%.6g %.6g %ld %d %d %.6g %.6g\n", p->sum, p->squares, p->count, p->few, w.seen, p[1].sum, y[n - 1]);
    free(x);
    free(y);
    free(p);
    return 0;
}
