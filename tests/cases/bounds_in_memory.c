/* Bounds that a loop reads from memory and does not change, however they are written.
 * RUN: port --all
 * EXPECT: first/i parallel ported: no carried dependence (if what is touched of a and of p does not overlap)
 * EXPECT: pointed/i parallel ported: no carried dependence (if what is touched of a and of p does not overlap)
 * EXPECT: member/i parallel ported: no carried dependence (if what is touched of a and of p does not overlap)
 * EXPECT: both/i parallel ported: no carried dependence (if a and p lie in different blocks of memory)
 * EXPECT: numbers/for parallel-after ported: parallel after localize=numbers/for
 * EXPECT: nested/i parallel ported: no carried dependence (if p[1] <= 64; what is touched of a and of p does not overlap)
 * EXPECT: nested/i/j parallel ported: no carried dependence (if p[1] <= 64; what is touched of a and of p does not overlap)
 * EXPECT: changed/for unanalyzable host: not a counted loop: its bound p[0] may be written by p[0] in line 68
 * EXPECT: rows/i parallel ported: no carried dependence (if what is touched of row and of y does not overlap; x and y lie in different blocks of memory)
 * EXPECT: rows/i/k reduction ported: an associative update (+: s) is the only carried dependence
 * EXPECT: main/i parallel ported: no carried dependence (proven)
 * EXPECT: main/i#2 scan ported: a running value (linear: s) is the only carried dependence
 * EXPECT: main/i#3 sequential host: carries a flow dependence on s
 * EXPECT: main/i#3/j scan ported: a running value (linear: s) is the only carried dependence
 * EXPECT: main/i#4 scan ported: a running value (linear: s) is the only carried dependence
 * VERIFY: pass
 */
#include <stdio.h>

struct size { int from, to; };

static void first(double *a, const int *p)
{
    for (int i = 0; i < p[0]; i++)
        a[i] = i * 0.5;
}

static void pointed(double *a, const int *p)
{
    for (int i = 0; i < *p; i++)
        a[i] += i;
}

static void member(double *a, const struct size *p)
{
    for (int i = p->from; i < p->to; i++)
        a[i] += 2 * i;
}

static void both(double *a, const int *p, int k)
{
    for (int i = p[k]; i < p[k + 1] - 1; i++)
        a[i] += 3 * i;
}

/* where a is p as well, its own bound is written */
static void numbers(int *a, const int *p)
{
    for (int i = 0; i < p[0]; i++)
        a[i] = i + 1;
}

static void nested(double a[][64], const int *p, int n)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < p[1]; j++)
            a[i][j] = i - j;
}

/* the bound is not what it was after an iteration */
static int changed(double *a, int *p)
{
    int k = 0;
    for (int i = 0; i < p[0]; i++) {
        a[i] += 1;
        p[0] -= i % 2;
        k++;
    }
    return k;
}

/* each row has a bound of its own */
static void rows(double *y, const double *x, const int *row, int n)
{
    for (int i = 0; i < n; i++) {
        double s = 0;
        for (int k = row[i]; k < row[i + 1]; k++)
            s += x[k];
        y[i] += s;
    }
}

int main(void)
{
    static double a[300], b[300], m[8][64];
    int p[4] = {250, 64, 20, 200}, other[64] = {40}, row[9];
    struct size size = {3, 290};
    for (int i = 0; i < 9; i++)
        row[i] = i * 30;
    first(a, p);
    pointed(a, p);
    member(a, &size);
    both(a, p, 2);
    numbers(other + 1, other);
    numbers(other, other);
    nested(m, p, 8);
    int k = changed(b, p);
    rows(b, a, row, 8);
    double s = k;
    for (int i = 0; i < 300; i++)
        s = s * 0.99 + a[i] + b[i];
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 64; j++)
            s = s * 0.99 + m[i][j];
    for (int i = 0; i < 64; i++)
        s = s * 0.99 + other[i];
    printf("%.12g %d\n", s, p[0]);
    return 0;
}
