/* Jacobi iteration on a square plate: every inner point becomes the mean of itself and its four neighbours.
 *
 *     jacobi2d [n [steps]]
 */
#include <stdio.h>
#include <stdlib.h>

void jacobi2d(int steps, int n, double A[n][n], double B[n][n])
{
    for (int t = 0; t < steps; t++) {
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                B[i][j] = 0.2 * (A[i][j] + A[i][j - 1] + A[i][j + 1] + A[i - 1][j] + A[i + 1][j]);
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                A[i][j] = 0.2 * (B[i][j] + B[i][j - 1] + B[i][j + 1] + B[i - 1][j] + B[i + 1][j]);
    }
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 65;
    int steps = argc > 2 ? atoi(argv[2]) : 10;
    double (*A)[n] = malloc(sizeof(double[n][n]));
    double (*B)[n] = malloc(sizeof(double[n][n]));
    if (A == NULL || B == NULL)
        return 1;

    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            A[i][j] = B[i][j] = (double)(i * (j + 2) + 10) / n;

    jacobi2d(steps, n, A, B);

    for (int i = 0; i < n; i += n / 4 + 1)
        printf("A[%d][%d] = %.10g\n", i, i, A[i][i]);
    free(A);
    free(B);
    return 0;
}
