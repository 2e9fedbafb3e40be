/* Heat in a square plate by alternating directions: each time step solves one tridiagonal system for every column
 * (u to v), then one for every row (v to u). p and q are the coefficients of the eliminations; the borders are one.
 */
#include "suite.h"

#ifndef TSTEPS
#define TSTEPS SUITE_PICK(20, 40, 100, 500, 1000)
#endif
#ifndef N
#define N SUITE_PICK(20, 60, 200, 1000, 2000)
#endif
#define BOUND_TSTEPS SUITE_BOUND(TSTEPS, tsteps)
#define BOUND_N SUITE_BOUND(N, n)

static void initialize(int n, DATA_TYPE SUITE_2D(u, N, N, n, n))
{
    int i, j;

    for (i = 0; i < n; i++)
        for (j = 0; j < n; j++)
            u[i][j] = SCALAR(0.5) + (DATA_TYPE)((3 * i + 2 * j) % 29) / SCALAR(29.0);
}

static void kernel_adi(int tsteps, int n, DATA_TYPE SUITE_2D(u, N, N, n, n), DATA_TYPE SUITE_2D(v, N, N, n, n),
                       DATA_TYPE SUITE_2D(p, N, N, n, n), DATA_TYPE SUITE_2D(q, N, N, n, n))
{
    int t, i, j;
    DATA_TYPE dx, dy, dt, mul1, mul2;
    DATA_TYPE a, b, c, d, e, f;

#pragma scop
    dx = SCALAR(1.0) / (DATA_TYPE)BOUND_N;
    dy = SCALAR(1.0) / (DATA_TYPE)BOUND_N;
    dt = SCALAR(1.0) / (DATA_TYPE)BOUND_TSTEPS;
    mul1 = SCALAR(2.0) * dt / (dx * dx);
    mul2 = SCALAR(1.0) * dt / (dy * dy);

    a = -mul1 / SCALAR(2.0);
    b = SCALAR(1.0) + mul1;
    c = a;
    d = -mul2 / SCALAR(2.0);
    e = SCALAR(1.0) + mul2;
    f = d;

    for (t = 1; t <= BOUND_TSTEPS; t++) {
        for (i = 1; i < BOUND_N - 1; i++) {
            v[0][i] = SCALAR(1.0);
            p[i][0] = SCALAR(0.0);
            q[i][0] = v[0][i];
            for (j = 1; j < BOUND_N - 1; j++) {
                p[i][j] = -c / (a * p[i][j - 1] + b);
                q[i][j] = (-d * u[j][i - 1] + (SCALAR(1.0) + SCALAR(2.0) * d) * u[j][i] - f * u[j][i + 1] -
                           a * q[i][j - 1]) /
                          (a * p[i][j - 1] + b);
            }
            v[BOUND_N - 1][i] = SCALAR(1.0);
            for (j = BOUND_N - 2; j >= 1; j--)
                v[j][i] = p[i][j] * v[j + 1][i] + q[i][j];
        }

        for (i = 1; i < BOUND_N - 1; i++) {
            u[i][0] = SCALAR(1.0);
            p[i][0] = SCALAR(0.0);
            q[i][0] = u[i][0];
            for (j = 1; j < BOUND_N - 1; j++) {
                p[i][j] = -f / (d * p[i][j - 1] + e);
                q[i][j] = (-a * v[i - 1][j] + (SCALAR(1.0) + SCALAR(2.0) * a) * v[i][j] - c * v[i + 1][j] -
                           d * q[i][j - 1]) /
                          (d * p[i][j - 1] + e);
            }
            u[i][BOUND_N - 1] = SCALAR(1.0);
            for (j = BOUND_N - 2; j >= 1; j--)
                u[i][j] = p[i][j] * u[i][j + 1] + q[i][j];
        }
    }
#pragma endscop
}

static void print(int n, DATA_TYPE SUITE_2D(u, N, N, n, n))
{
    Digest digest = digest_begin("u");

    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            digest_put(&digest, u[i][j]);
    digest_end(&digest);
}

int main(void)
{
    int tsteps = TSTEPS, n = N;
    SUITE_NEW_2D(u, DATA_TYPE, N, N, n, n);
    SUITE_NEW_2D(v, DATA_TYPE, N, N, n, n);
    SUITE_NEW_2D(p, DATA_TYPE, N, N, n, n);
    SUITE_NEW_2D(q, DATA_TYPE, N, N, n, n);

    initialize(n, SUITE_ARRAY(u));
    kernel_adi(tsteps, n, SUITE_ARRAY(u), SUITE_ARRAY(v), SUITE_ARRAY(p), SUITE_ARRAY(q));
    print(n, SUITE_ARRAY(u));

    free(u);
    free(v);
    free(p);
    free(q);
    return 0;
}
