/* Covariance of the columns of an n by m table: the columns are centered, cov = data^T data / (n - 1). */
#include "suite.h"

#ifndef M
#define M SUITE_PICK(28, 80, 240, 1200, 2600)
#endif
#ifndef N
#define N SUITE_PICK(32, 100, 260, 1400, 3000)
#endif
#define BOUND_M SUITE_BOUND(M, m)
#define BOUND_N SUITE_BOUND(N, n)

static void initialize(int m, int n, DATA_TYPE SUITE_2D(data, N, M, n, m))
{
    int i, j;

    for (i = 0; i < n; i++)
        for (j = 0; j < m; j++)
            data[i][j] = SCALAR(0.5) + (DATA_TYPE)((i * (3 * j + 1) + 2 * j) % 19) / SCALAR(19.0) + (DATA_TYPE)j / m;
}

static void kernel_covariance(int m, int n, DATA_TYPE float_n, DATA_TYPE SUITE_2D(data, N, M, n, m),
                              DATA_TYPE SUITE_2D(cov, M, M, m, m), DATA_TYPE SUITE_1D(mean, M, m))
{
    int i, j, k;

#pragma scop
    for (j = 0; j < BOUND_M; j++) {
        mean[j] = SCALAR(0.0);
        for (i = 0; i < BOUND_N; i++)
            mean[j] += data[i][j];
        mean[j] /= float_n;
    }

    for (i = 0; i < BOUND_N; i++)
        for (j = 0; j < BOUND_M; j++)
            data[i][j] -= mean[j];

    for (i = 0; i < BOUND_M; i++)
        for (j = i; j < BOUND_M; j++) {
            cov[i][j] = SCALAR(0.0);
            for (k = 0; k < BOUND_N; k++)
                cov[i][j] += data[k][i] * data[k][j];
            cov[i][j] /= (float_n - SCALAR(1.0));
            cov[j][i] = cov[i][j];
        }
#pragma endscop
}

static void print(int m, DATA_TYPE SUITE_2D(cov, M, M, m, m))
{
    Digest digest = digest_begin("cov");

    for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++)
            digest_put(&digest, cov[i][j]);
    digest_end(&digest);
}

int main(void)
{
    int m = M, n = N;
    SUITE_NEW_2D(data, DATA_TYPE, N, M, n, m);
    SUITE_NEW_2D(cov, DATA_TYPE, M, M, m, m);
    SUITE_NEW_1D(mean, DATA_TYPE, M, m);

    initialize(m, n, SUITE_ARRAY(data));
    kernel_covariance(m, n, (DATA_TYPE)n, SUITE_ARRAY(data), SUITE_ARRAY(cov), SUITE_ARRAY(mean));
    print(m, SUITE_ARRAY(cov));

    free(data);
    free(cov);
    free(mean);
    return 0;
}
