/* Nested loops that all sum into one scalar, a triangle, a skipped iteration; a sum inside a parallel loop stays there.
 * RUN: port
 * EXPECT: main/i parallel ported: no carried dependence (proven)
 * EXPECT: main/i/j parallel ported: no carried dependence (proven)
 * EXPECT: main/i#2 reduction ported: an associative update (+: total) is the only carried dependence
 * EXPECT: main/i#2/j reduction ported: an associative update (+: total) is the only carried dependence
 * EXPECT: main/i#3 reduction ported: an associative update (+: triangle) is the only carried dependence
 * EXPECT: main/i#3/j reduction ported: an associative update (+: triangle) is the only carried dependence
 * EXPECT: main/i#4 parallel ported: no carried dependence (proven)
 * EXPECT: main/i#4/j reduction ported: an associative update (+: rows) is the only carried dependence
 * VERIFY: pass
 */
#include <stdio.h>

#define N 67

static double A[N][N], rows[N];

int main(void)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            A[i][j] = i + 0.5 * j;
    double total = 0.0, triangle = 0.0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            total += A[i][j];
    for (int i = 0; i < N; i++)
        for (int j = i; j < N; j++) {
            if (j % 5 == 0)
                continue;
            triangle += A[i][j];
        }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            rows[i] += A[i][j];
    printf("%g %g %g\n", total, triangle, rows[66]);
    return 0;
}
