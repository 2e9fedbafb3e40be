/* The residual of every sweep comes back to the host; the grid does not.
 * RUN: port
 * EXPECT: main/i parallel ported: no carried dependence (proven)
 * EXPECT: main/sweep sequential host: may carry an anti dependence on change, under a condition that depends on data
 * EXPECT: main/sweep/i parallel ported: no carried dependence (proven)
 * EXPECT: main/sweep/i#2 reduction ported: an associative update (+: change) is the only carried dependence
 * VERIFY: pass
 */
#include <stdio.h>

#define N 130

static double a[N], b[N];

int main(void)
{
    for (int i = 0; i < N; i++)
        a[i] = i % 13;
    double change = 1.0;
    for (int sweep = 0; sweep < 9; sweep++) {
        if (change < 1e-3)
            continue;
        change = 0.0;
        for (int i = 1; i < N - 1; i++)
            b[i] = 0.5 * (a[i - 1] + a[i + 1]);
        for (int i = 1; i < N - 1; i++) {
            change += (b[i] - a[i]) * (b[i] - a[i]);
            a[i] = b[i];
        }
    }
    printf("%.6g %g\n", change, a[7]);
    return 0;
}
