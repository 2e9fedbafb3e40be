/* Rows of a `double **` in blocks of their own: on the device from step to step, while the grids change places, and the
 * host looks at an element, sets another and exchanges two rows. Rows that are one and the same stay on the host.
 * RUN: port
 * EXPECT: grid/i unanalyzable host: malloc allocates memory
 * EXPECT: grid/i/j parallel ported: no carried dependence (proven)
 * EXPECT: step/i parallel-after ported: parallel after row-starts=step/i
 * EXPECT: step/i/j parallel-after ported: parallel after row-starts=step/i
 * EXPECT: main/t unanalyzable host: free frees memory
 * VERIFY: pass
 */
#include <stdio.h>
#include <stdlib.h>

static double **grid(int n, int m)
{
    double **a = malloc(n * sizeof *a);
    for (int i = 0; i < n; i++) {
        a[i] = malloc((m + i % 2) * sizeof *a[i]);
        for (int j = 0; j < m; j++)
            a[i][j] = (i * 7 + j * 3) % 11;
    }
    return a;
}

static void step(int n, int m, double **u, double **v)
{
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < m - 1; j++)
            v[i][j] = 0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]);
}

int main(void)
{
    int n = 30, m = 44;
    double **u = grid(n, m), **v = grid(n, m);
    for (int t = 0; t < 16; t++) {
        step(n, m, u, v);
        double **w = u;
        u = v;
        v = w;
        if (t % 5 == 0)
            printf("%g\n", u[3][4]);
        if (t == 7)
            u[7][8] = 3;
        if (t == 9) {
            double *row = u[5];
            u[5] = u[6];
            u[6] = row;
        }
        if (t == 12) {
            free(v[2]);
            v[2] = v[4];
        }
    }
    printf("%.9g %.9g\n", u[3][4], v[4][5]);
    return 0;
}
