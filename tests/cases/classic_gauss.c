/* Gaussian elimination: the factors of a level in an array of their own, the rest a kernel over rows and columns.
 * RUN: port --all
 * EXPECT: eliminate/k sequential host: carries a flow dependence on m
 * EXPECT: eliminate/k/i parallel ported: no carried dependence (proven)
 * EXPECT: eliminate/k/i/j parallel ported: no carried dependence (proven)
 * EXPECT: decompose/k sequential host: carries a flow dependence on a
 * EXPECT: decompose/k/i parallel ported: no carried dependence (if n*n <= 4294967296)
 * EXPECT: decompose/k/i/j parallel ported: no carried dependence (if n*n <= 4294967296)
 * EXPECT: with_macro/k sequential host: carries a flow dependence on a
 * EXPECT: with_macro/k/i parallel ported: no carried dependence (proven)
 * EXPECT: with_macro/k/i/j parallel ported: no carried dependence (proven)
 * EXPECT: main/i parallel ported: no carried dependence (proven)
 * EXPECT: main/i/j parallel ported: no carried dependence (proven)
 * EXPECT: main/i#2 unanalyzable host: printf writes output
 * VERIFY: pass
 */
#include <stdio.h>
#include <stdlib.h>

#define N 40
#define A(i, j) a[(i) * n + (j)]

static double m[N][N], b[N];

/* the right side goes along, columns from k on */
static void eliminate(void)
{
    for (int k = 0; k < N - 1; k++)
        for (int i = k + 1; i < N; i++) {
            double f = m[i][k] / m[k][k];
            for (int j = k; j < N; j++)
                m[i][j] -= f * m[k][j];
            b[i] -= f * b[k];
        }
}

/* the factor stays in the matrix */
static void decompose(float *a, unsigned n)
{
    for (unsigned k = 0; k < n; k++)
        for (unsigned i = k + 1; i < n; i++) {
            a[i * n + k] /= a[k * n + k];
            for (unsigned j = k + 1; j < n; j++)
                a[i * n + j] -= a[i * n + k] * a[k * n + j];
        }
}

static void with_macro(float *a, int n)
{
    for (int k = 0; k < n - 1; k++) {
        for (int i = k + 1; i < n; i++) {
            const float f = A(i, k) / A(k, k);
            for (int j = k + 1; j < n; j++)
                A(i, j) = A(i, j) - f * A(k, j);
            A(i, k) = f;
        }
    }
}

int main(void)
{
    int n = N;
    float *p = malloc(n * n * sizeof *p), *q = malloc(n * n * sizeof *q);
    if (!p || !q)
        return 1;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            m[i][j] = (i * 7 + j * 3) % 11 * 0.1 + (i == j ? n : 0);
            p[i * n + j] = q[i * n + j] = (i * 5 + j * 3) % 13 * 0.1f + (i == j ? n : 0);
        }
        b[i] = i + 1;
    }
    eliminate();
    decompose(p, n);
    with_macro(q, n);
    for (int i = 0; i < n; i++)
        printf("%.9g %.9g %.5g %.5g\n", b[i], m[i][n - 1], p[i * n + n - 1], q[i * n + n - 1]);
    free(p);
    free(q);
    return 0;
}
