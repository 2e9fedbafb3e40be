/* Correlation of the columns of an n by m table.
 *
 * mean[j] and stddev[j] are those of column j; the columns are centered and scaled to unit norm;
 * corr = data^T data, with ones on the diagonal.
 */
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
            data[i][j] = SCALAR(1.0) + (DATA_TYPE)((i * (2 * j + 3) + j) % 17) / SCALAR(17.0) + (DATA_TYPE)i / n;
}

static void kernel_correlation(int m, int n, DATA_TYPE float_n, DATA_TYPE SUITE_2D(data, N, M, n, m),
                               DATA_TYPE SUITE_2D(corr, M, M, m, m), DATA_TYPE SUITE_1D(mean, M, m),
                               DATA_TYPE SUITE_1D(stddev, M, m))
{
    int i, j, k;
    DATA_TYPE eps = SCALAR(0.1);

#pragma scop
    for (j = 0; j < BOUND_M; j++) {
        mean[j] = SCALAR(0.0);
        for (i = 0; i < BOUND_N; i++)
            mean[j] += data[i][j];
        mean[j] /= float_n;
    }

    for (j = 0; j < BOUND_M; j++) {
        stddev[j] = SCALAR(0.0);
        for (i = 0; i < BOUND_N; i++)
            stddev[j] += (data[i][j] - mean[j]) * (data[i][j] - mean[j]);
        stddev[j] /= float_n;
        stddev[j] = SQRT(stddev[j]);
        /* A column that hardly varies is only centered: nothing is divided by a value near zero. */
        stddev[j] = stddev[j] <= eps ? SCALAR(1.0) : stddev[j];
    }

    for (i = 0; i < BOUND_N; i++)
        for (j = 0; j < BOUND_M; j++) {
            data[i][j] -= mean[j];
            data[i][j] /= SQRT(float_n) * stddev[j];
        }

    for (i = 0; i < BOUND_M - 1; i++) {
        corr[i][i] = SCALAR(1.0);
        for (j = i + 1; j < BOUND_M; j++) {
            corr[i][j] = SCALAR(0.0);
            for (k = 0; k < BOUND_N; k++)
                corr[i][j] += data[k][i] * data[k][j];
            corr[j][i] = corr[i][j];
        }
    }
    corr[BOUND_M - 1][BOUND_M - 1] = SCALAR(1.0);
#pragma endscop
}

static void print(int m, DATA_TYPE SUITE_2D(corr, M, M, m, m))
{
    Digest digest = digest_begin("corr");

    for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++)
            digest_put(&digest, corr[i][j]);
    digest_end(&digest);
}

int main(void)
{
    int m = M, n = N;
    SUITE_NEW_2D(data, DATA_TYPE, N, M, n, m);
    SUITE_NEW_2D(corr, DATA_TYPE, M, M, m, m);
    SUITE_NEW_1D(mean, DATA_TYPE, M, m);
    SUITE_NEW_1D(stddev, DATA_TYPE, M, m);

    initialize(m, n, SUITE_ARRAY(data));
    kernel_correlation(m, n, (DATA_TYPE)n, SUITE_ARRAY(data), SUITE_ARRAY(corr), SUITE_ARRAY(mean),
                       SUITE_ARRAY(stddev));
    print(m, SUITE_ARRAY(corr));

    free(data);
    free(corr);
    free(mean);
    free(stddev);
    return 0;
}
