/* LU with pivoting: the host exchanges the pointers to the rows between the kernels of two levels.
 * RUN: port --all
 * EXPECT: decompose/k unanalyzable host: the loop may be left early by return
 * EXPECT: decompose/k/i reduction ported: an associative update (max: best) is the only carried dependence
 * EXPECT: decompose/k/i#2 parallel-after ported: parallel after row-starts=decompose/k/i#3
 * EXPECT: decompose/k/i#2/j parallel-after ported: parallel after row-starts=decompose/k/i#3
 * EXPECT: main/i unanalyzable host: the loop may be left early by return
 * EXPECT: main/i/j parallel ported: no carried dependence (proven)
 * EXPECT: main/i#2 unanalyzable host: printf writes output
 * EXPECT: main/i#3 unanalyzable host: free frees memory
 * VERIFY: pass
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static int decompose(double **a, int n)
{
    for (int k = 0; k < n; k++) {
        int p = k;
        double best = fabs(a[k][k]);
        for (int i = k + 1; i < n; i++)
            if (fabs(a[i][k]) > best) {
                best = fabs(a[i][k]);
                p = i;
            }
        if (best == 0)
            return 0;
        double *tmp = a[k];
        a[k] = a[p];
        a[p] = tmp;
        for (int i = k + 1; i < n; i++) {
            a[i][k] /= a[k][k];
            for (int j = k + 1; j < n; j++)
                a[i][j] -= a[i][k] * a[k][j];
        }
    }
    return 1;
}

int main(void)
{
    int n = 24;
    double **a = malloc(n * sizeof *a);
    if (!a)
        return 1;
    for (int i = 0; i < n; i++) {
        a[i] = malloc(n * sizeof **a);
        if (!a[i])
            return 1;
        for (int j = 0; j < n; j++)
            a[i][j] = (i * 7 + j * 13 + i * j * 5) % 31 * 0.1 + (j == (i * 5 + 3) % n ? 40.0 : 0.0);
    }
    printf("%d\n", decompose(a, n));
    for (int i = 0; i < n; i++)
        printf("%.6f %.6f\n", a[i][i], a[i][n - 1]);
    for (int i = 0; i < n; i++)
        free(a[i]);
    free(a);
    return 0;
}
