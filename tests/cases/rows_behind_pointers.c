/* Rows behind a `double **`: of one block, of allocations of their own, and swapped ones.
 * RUN: port
 * EXPECT: smooth/i parallel-after ported: parallel after row-starts=smooth/i
 * EXPECT: smooth/i/j parallel-after ported: parallel after row-starts=smooth/i
 * EXPECT: add/i parallel-after ported: parallel after row-starts=add/i
 * EXPECT: add/i/j parallel ported: no carried dependence (if what is touched of row and of sums does not overlap)
 * EXPECT: main/i unanalyzable host: calloc allocates memory
 * VERIFY: pass
 */
#include <stdio.h>
#include <stdlib.h>

static void smooth(int n, int m, double **to, double **from)
{
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < m - 1; j++)
            to[i][j] = 0.25 * (from[i - 1][j] + from[i + 1][j] + from[i][j - 1] + from[i][j + 1]);
}

static void add(int n, int m, double **a, double *sums)
{
    for (int i = 0; i < n; i++) {
        double *row = a[i];
        for (int j = 0; j < m; j++)
            row[j] += j + sums[i];
    }
}

int main(void)
{
    int n = 20, m = 12;
    double *block = calloc(n * m, 8), *sums = calloc(n, 8);
    double **a = malloc(n * sizeof *a), **b = malloc(n * sizeof *b), *t;
    for (int i = 0; i < n; i++) {
        a[i] = block + i * m;
        b[i] = calloc(m, 8);
    }
    add(n, m, a, sums);
    smooth(n, m, b, a);
    t = a[3], a[3] = a[4], a[4] = t;
    add(n, m, a, sums);
    smooth(n, m, a, b);
    printf("%g %g\n", a[3][4], b[5][6]);
    return 0;
}
