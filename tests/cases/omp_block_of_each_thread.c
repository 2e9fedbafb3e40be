/*
 * Each thread of a region allocates memory of its own, which the iterations of a shared loop use one after another. One
 * thread needs one block; the block is given one part for each iteration then.
 *
 * RUN: port --all
 * EXPECT: main/i parallel ported: no carried dependence (proven)
 * EXPECT: main/i#2 parallel-after ported: parallel after unthread=main/i#2, expand=main/i#2,variable=square
 * EXPECT: main/i#2/j parallel ported: no carried dependence (proven)
 * EXPECT: main/i#2/j#2 reduction ported: an associative update (+: s) is the only carried dependence
 * EXPECT: main/i#3 reduction ported: an associative update (+: sum) is the only carried dependence
 * VERIFY: pass
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int n = argc + 149, m = argc + 30;
    double *a = malloc(n * m * sizeof(double)), *norm = malloc(n * sizeof(double)), sum = 0;
    for (int i = 0; i < n * m; i++)
        a[i] = i * 7 % 13 * 0.25;
#pragma omp parallel
    {
        double *square = malloc(m * sizeof(double));
#pragma omp for
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < m; j++)
                square[j] = a[i * m + j] * a[i * m + j];
            double s = 0;
            for (int j = 1; j < m; j++)
                s += sqrt(square[j] + square[j - 1]);
            norm[i] = s;
        }
        free(square);
    }
    for (int i = 0; i < n; i++)
        sum += norm[i];
    printf("%.4f\n", sum);
    free(a);
    free(norm);
    return 0;
}
