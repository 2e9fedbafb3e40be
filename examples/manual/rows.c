/* y = A x: a matrix times a vector, row by row. */
#include <stdio.h>

#define N 1000

static double A[N][N], x[N], y[N];

static void multiply(int n)
{
    for (int i = 0; i < n; i++) {
        double sum = 0;
        for (int j = 0; j < n; j++)
            sum += A[i][j] * x[j];
        y[i] = sum;
    }
}

int main(void)
{
    for (int i = 0; i < N; i++) {
        x[i] = 1.0 / (i + 1);
        for (int j = 0; j < N; j++)
            A[i][j] = (i + j) % 7;
    }
    multiply(N);
    printf("%.6f\n", y[N / 2]);
    return 0;
}
