/* C = alpha * A * B + beta * C for matrices of fixed size.
 *
 *     gemm [seed]
 */
#include <stdio.h>
#include <stdlib.h>

#define NI 70
#define NJ 90
#define NK 50

static double A[NI][NK], B[NK][NJ], C[NI][NJ];

static void init(int seed)
{
    for (int i = 0; i < NI; i++)
        for (int k = 0; k < NK; k++)
            A[i][k] = (double)((i * k + seed) % 13) / 13.0 + 0.5;
    for (int k = 0; k < NK; k++)
        for (int j = 0; j < NJ; j++)
            B[k][j] = (double)((k * (j + 1) + seed) % 17) / 17.0 + 0.25;
    for (int i = 0; i < NI; i++)
        for (int j = 0; j < NJ; j++)
            C[i][j] = (double)((i + j + seed) % 7) / 7.0;
}

static void gemm(double alpha, double beta)
{
    for (int i = 0; i < NI; i++)
        for (int j = 0; j < NJ; j++) {
            C[i][j] *= beta;
            for (int k = 0; k < NK; k++)
                C[i][j] += alpha * A[i][k] * B[k][j];
        }
}

int main(int argc, char **argv)
{
    init(argc > 1 ? atoi(argv[1]) : 1);
    gemm(1.5, 1.2);

    double sum = 0.0;
    for (int i = 0; i < NI; i++)
        for (int j = 0; j < NJ; j++)
            sum += C[i][j];
    printf("sum of C = %.10g\n", sum);
    return 0;
}
