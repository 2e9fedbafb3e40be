/* A sum into one element of an array, of which other elements are read: forward substitution.
 * RUN: port
 * EXPECT: main/i parallel ported: no carried dependence (proven)
 * EXPECT: main/i/j parallel ported: no carried dependence (proven)
 * EXPECT: main/i#2 parallel-after ported: parallel after reschedule=main/i#2,times=0 i:1 j 1 i:1 i
 * EXPECT: main/i#2/j reduction host: the host counts its iterations; its statements run in a kernel
 * VERIFY: pass
 */
#include <stdio.h>

#define N 70

static double L[N][N], x[N], b[N];

int main(void)
{
    for (int i = 0; i < N; i++) {
        b[i] = 1.0 / (i + 2);
        for (int j = 0; j < N; j++)
            L[i][j] = i == j ? N : 1.0 / (i + j + 1);
    }
    for (int i = 0; i < N; i++) {
        x[i] = b[i];
        for (int j = 0; j < i; j++)
            x[i] -= L[i][j] * x[j];
        x[i] = x[i] / L[i][i];
    }
    printf("%.6g %.6g\n", x[1], x[N - 1]);
    return 0;
}
