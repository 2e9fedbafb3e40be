/* Memory that each iteration allocates, uses and frees, and near misses.
 * RUN: port --all
 * EXPECT: smooth/i parallel-after ported: parallel after hoist-allocation=smooth/i,variable=row
 * EXPECT: smooth/i/j parallel ported: no carried dependence (proven)
 * EXPECT: smooth/i/j#2 reduction ported: an associative update (+: sum) is the only carried dependence
 * EXPECT: counts/i parallel-after ported: parallel after hoist-allocation=counts/i,variable=bins
 * EXPECT: counts/i/j reduction ported: an associative update (+: bins) is the only carried dependence
 * EXPECT: total/j reduction ported: an associative update (+: s) is the only carried dependence
 * EXPECT: pairs/i unanalyzable host: free frees memory
 * EXPECT: pairs/i/j parallel-after ported: parallel after inline=pairs/i/j,function=put
 * EXPECT: pairs/i/j#2 parallel ported: no carried dependence (proven)
 * EXPECT: triangle/i unanalyzable host: free frees memory
 * EXPECT: triangle/i/j parallel ported: no carried dependence (proven)
 * EXPECT: keeps/i unanalyzable host: free frees memory
 * EXPECT: half/i unanalyzable host: free frees memory
 * EXPECT: main/i parallel ported: no carried dependence (proven)
 * EXPECT: main/i#2 reduction ported: an associative update (+: s) is the only carried dependence
 * EXPECT: main/i#3 unanalyzable host: free frees memory
 * VERIFY: pass
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double *kept[8];

static void smooth(int n, int m, const double *a, double *r)
{
    for (int i = 0; i < n; i++) {
        double *row = malloc(m * sizeof *row);
        if (!row)
            exit(EXIT_FAILURE);
        for (int j = 0; j < m; j++)
            row[j] = a[i * m + j] * 2;
        double sum = 0;
        for (int j = 1; j < m; j++)
            sum += row[j] * row[j - 1];
        r[i] = sum;
        free(row);
    }
}

/* zeros, a size that is a number, a pragma, and a way out before the end */
static void counts(int n, int m, const double *a, double *r)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        int *bins = calloc(5, sizeof(int));
        for (int j = 0; j < m; j++)
            bins[(int)a[i * m + j] % 5]++;
        if (bins[0] > 2) {
            free(bins);
            continue;
        }
        r[i] += bins[1] * 10 + bins[4];
        free(bins);
    }
}

static void put(double *t, int k, double v) { t[k] = v; }
static double total(const double *t, int m)
{
    double s = 0;
    for (int j = 0; j < m; j++)
        s += t[j];
    return s;
}

/* two of them, one test for both, and helpers */
static void pairs(int n, int m, const double *a, double *r)
{
    for (int i = 0; i < n; i++) {
        double *t = malloc(m * sizeof *t), *u = malloc((m + 1) * sizeof *u);
        if (t == NULL || u == NULL)
            abort();
        for (int j = 0; j < m; j++)
            put(t, j, a[i * m + j]);
        u[m] = 1;
        for (int j = 0; j < m; j++)
            u[j] = t[m - 1 - j] * j;
        r[i] += total(u, m + 1);
        free(u);
        free(t);
    }
}

/* --- what stays */

static void triangle(int n, const double *a, double *r)
{
    for (int i = 0; i < n; i++) {
        double *t = malloc((i + 1) * sizeof *t);
        for (int j = 0; j <= i; j++)
            t[j] = a[j] * i;
        r[i] += t[i];
        free(t);
    }
}

static void keeps(int n, const double *a, double *r)
{
    for (int i = 0; i < n; i++) {
        double *t = malloc(4 * sizeof *t);
        t[0] = a[i];
        free(kept[i & 7]);
        kept[i & 7] = t;
        r[i] += t[0];
    }
}

static void half(int n, const double *a, double *r)
{
    for (int i = 0; i < n; i++) {
        double *t = malloc(4 * sizeof *t);
        double *behind = t + 2;
        behind[0] = a[i];
        r[i] += behind[0];
        free(t);
    }
}

int main(void)
{
    int n = 70, m = 12;
    double *a = malloc(n * m * sizeof *a), *r = malloc(n * sizeof *r);
    for (int i = 0; i < n * m; i++)
        a[i] = i * 31 % 101;
    smooth(n, m, a, r);
    smooth(0, -1, a, r);
    counts(n, m, a, r);
    pairs(n, m, a, r);
    triangle(n, a, r);
    keeps(n, a, r);
    half(n, a, r);
    double s = 0;
    for (int i = 0; i < n; i++)
        s += r[i];
    printf("%.10g\n", s);
    for (int i = 0; i < 8; i++)
        free(kept[i]);
    free(a);
    free(r);
    return 0;
}
