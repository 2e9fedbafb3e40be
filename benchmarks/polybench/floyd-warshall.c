/* Shortest paths between all pairs of n nodes: after step k, path[i][j] is the shortest way from i to j that passes
 * only through nodes up to k. The sweep of step k reads its own pivot row and column.
 */
#define SUITE_DEFAULT_INT
#include "suite.h"

#ifndef N
#define N SUITE_PICK(60, 180, 500, 2800, 5600)
#endif
#define BOUND_N SUITE_BOUND(N, n)

static void initialize(int n, DATA_TYPE SUITE_2D(path, N, N, n, n))
{
    int i, j;

    for (i = 0; i < n; i++)
        for (j = 0; j < n; j++) {
            path[i][j] = (i * 5 + j * 3) % 11 + 1;
            if ((i * 7 + j) % 4 != 0)
                path[i][j] = 600 + (i + 2 * j) % 90;
        }
}

static void kernel_floyd_warshall(int n, DATA_TYPE SUITE_2D(path, N, N, n, n))
{
    int i, j, k;

#pragma scop
    for (k = 0; k < BOUND_N; k++)
        for (i = 0; i < BOUND_N; i++)
            for (j = 0; j < BOUND_N; j++)
                path[i][j] = path[i][j] < path[i][k] + path[k][j] ? path[i][j] : path[i][k] + path[k][j];
#pragma endscop
}

static void print(int n, DATA_TYPE SUITE_2D(path, N, N, n, n))
{
    Digest digest = digest_begin("path");

    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            digest_put(&digest, path[i][j]);
    digest_end(&digest);
}

int main(void)
{
    int n = N;
    SUITE_NEW_2D(path, DATA_TYPE, N, N, n, n);

    initialize(n, SUITE_ARRAY(path));
    kernel_floyd_warshall(n, SUITE_ARRAY(path));
    print(n, SUITE_ARRAY(path));

    free(path);
    return 0;
}
