/* Levinson and Durbin's recursion: y solves the Yule-Walker equations T y = -(r[0], ..., r[n-1]), where T is the
 * symmetric Toeplitz matrix with ones on its diagonal and r below it. Step k extends the solution by one element.
 */
#include "suite.h"

#ifndef N
#define N SUITE_PICK(40, 120, 400, 2000, 4000)
#endif
#define BOUND_N SUITE_BOUND(N, n)

static void initialize(int n, DATA_TYPE SUITE_1D(r, N, n))
{
    int i;

    /* Convex and falling toward zero: T is positive definite. */
    for (i = 0; i < n; i++)
        r[i] = SCALAR(0.4) / (DATA_TYPE)(i + 1);
}

static void kernel_durbin(int n, DATA_TYPE SUITE_1D(r, N, n), DATA_TYPE SUITE_1D(y, N, n))
{
    DATA_TYPE z[SUITE_EXTENT(N, n)];
    DATA_TYPE alpha;
    DATA_TYPE beta;
    DATA_TYPE sum;
    int i, k;

#pragma scop
    y[0] = -r[0];
    beta = SCALAR(1.0);
    alpha = -r[0];

    for (k = 1; k < BOUND_N; k++) {
        beta = (1 - alpha * alpha) * beta;
        sum = SCALAR(0.0);
        for (i = 0; i < k; i++)
            sum += r[k - i - 1] * y[i];
        alpha = -(r[k] + sum) / beta;

        for (i = 0; i < k; i++)
            z[i] = y[i] + alpha * y[k - i - 1];
        for (i = 0; i < k; i++)
            y[i] = z[i];
        y[k] = alpha;
    }
#pragma endscop
}

static void print(int n, DATA_TYPE SUITE_1D(y, N, n))
{
    Digest digest = digest_begin("y");

    for (int i = 0; i < n; i++)
        digest_put(&digest, y[i]);
    digest_end(&digest);
}

int main(void)
{
    int n = N;
    SUITE_NEW_1D(r, DATA_TYPE, N, n);
    SUITE_NEW_1D(y, DATA_TYPE, N, n);

    initialize(n, SUITE_ARRAY(r));
    kernel_durbin(n, SUITE_ARRAY(r), SUITE_ARRAY(y));
    print(n, SUITE_ARRAY(y));

    free(r);
    free(y);
    return 0;
}
