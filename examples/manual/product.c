// The matrix product, C += A B, as the definition says it.
#define N 1024

void product(double A[N][N], double B[N][N], double C[N][N])
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            for (int k = 0; k < N; k++)
                C[i][j] += A[i][k] * B[k][j];
}
