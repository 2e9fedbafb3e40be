/* Running values, kept elements, the last of them and a search, each with a function of its own for one element.
 * RUN: port --all
 * EXPECT: filter/i scan ported: a running value (linear: s) is the only carried dependence, after inline=filter/i,function=next
 * EXPECT: filter_by_address/i scan ported: a running value (linear: s) is the only carried dependence, after inline=filter_by_address/i,function=step
 * EXPECT: kept/i scan ported: a running value (+: k) is the only carried dependence, after inline=kept/i,function=push
 * EXPECT: last_of/i reduction ported: an associative update (max: i_last) is the only carried dependence, after inline=last_of/i,function=keep, find-last=last_of/i
 * EXPECT: first_above/i reduction ported: an associative update (min: i_first) is the only carried dependence, after inline=first_above/i,function=is_above, find-first=first_above/i
 * EXPECT: main/i parallel ported: no carried dependence (proven)
 * VERIFY: pass
 */
#include <stdio.h>
#include <stdlib.h>

static double next(double s, double v)
{
    return 0.5 * s + v;
}

static void filter(const double *restrict x, double *restrict y, int n)
{
    double s = 0;
    for (int i = 0; i < n; i++) {
        s = next(s, x[i]);
        y[i] = s;
    }
}

static void step(double *s, double v)
{
    *s = 0.25 * *s - v;
}

static void filter_by_address(const double *restrict x, double *restrict y, int n)
{
    double s = 1;
    for (int i = 0; i < n; i++) {
        step(&s, x[i]);
        y[i] += s;
    }
}

static void push(int *to, int *count, int v)
{
    to[*count] = v;
    ++*count;
}

static int kept(const double *restrict x, int *restrict to, int n)
{
    int k = 0;
    for (int i = 0; i < n; i++)
        if (x[i] > 4)
            push(to, &k, i);
    return k;
}

static void keep(int *last, int v)
{
    if (v % 7 == 0)
        *last = v;
}

static int last_of(const int *at, int n)
{
    int last = -1;
    for (int i = 0; i < n; i++)
        keep(&last, at[i]);
    return last;
}

static int is_above(const double *v, double limit)
{
    return *v > limit;
}

static int first_above(const double *x, int n, double limit)
{
    for (int i = 0; i < n; i++)
        if (is_above(&x[i], limit))
            return i;
    return -1;
}

int main(void)
{
    int n = 1500;
    double *x = malloc(n * sizeof *x), *y = malloc(n * sizeof *y);
    int *at = malloc(n * sizeof *at);
    for (int i = 0; i < n; i++) {
        x[i] = i * 13 % 10;
        at[i] = 0;
    }
    filter(x, y, n);
    filter_by_address(x, y, n);
    printf("%.6f %.6f\n", y[n / 2], y[n - 1]);
    int k = kept(x, at, n);
    printf("%d %d %d %d\n", k, at[0], at[k - 1], last_of(at, k));
    printf("%d %d\n", first_above(x, n, 8.5), first_above(x, n, 20));
    return 0;
}
