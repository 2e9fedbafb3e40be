/* LU decomposition without pivoting, in place: A = L * U.
 *
 * The matrix is stored row after row in one block of memory; its width is known only at run time.
 *
 *     lu [N]      (default 67)
 */
#include <stdio.h>
#include <stdlib.h>

void lu(int N, double *A)
{
    for (int k = 0; k < N; k++) {
        /* the multipliers of column k */
        for (int i = k + 1; i < N; i++)
            A[i * N + k] /= A[k * N + k];

        /* subtract multiples of row k from the rows below it */
        for (int i = k + 1; i < N; i++)
            for (int j = k + 1; j < N; j++)
                A[i * N + j] -= A[i * N + k] * A[k * N + j];
    }
}

int main(int argc, char **argv)
{
    int N = argc > 1 ? atoi(argv[1]) : 67;
    double *A = malloc((size_t)N * N * sizeof(double));
    if (A == NULL) {
        fprintf(stderr, "lu: no memory for a %d x %d matrix\n", N, N);
        return 1;
    }

    /* diagonally dominant, so that no pivot is zero */
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            A[i * N + j] = (i == j ? N : 0) + 1.0 / (i + j + 1);

    lu(N, A);

    double trace = 0.0;
    for (int i = 0; i < N; i++)
        trace += A[i * N + i];
    printf("N = %d, trace of U = %.12g\n", N, trace);
    free(A);
    return 0;
}
