/* A region becomes kernels as a whole: what each thread does again is done once, each thread's part is all of it, the
 * last iteration's value is what lastprivate says, and what single touches on the way is where it must be.
 * RUN: port
 * EXPECT: run/i parallel ported: no carried dependence (proven)
 * EXPECT: run/t unanalyzable host: printf writes output
 * EXPECT: run/t/i parallel ported: no carried dependence (proven)
 * EXPECT: run/t/i#2 parallel ported: no carried dependence (proven)
 * EXPECT: run/i#2 parallel ported: no carried dependence (proven)
 * EXPECT: run/i#3 reduction ported: an associative update (+: mine) is the only carried dependence
 * VERIFY: pass
 */
#include <omp.h>
#include <stdio.h>
static double a[300], b[300];
double run(int n, int steps)
{
    double h, mine, at = 0.0, sum = 0.0;
    int i, t;
#pragma omp parallel private(h, i, t, mine) shared(sum)
    {
        h = 1.0 / n;
        mine = 0.0;
#pragma omp for nowait
        for (i = 0; i < n; i++)
            a[i] = i * h;
        for (t = 0; t < steps; t++) {
#pragma omp barrier
#pragma omp for
            for (i = 1; i < n - 1; i++)
                b[i] = 0.5 * (a[i - 1] + a[i + 1]);
#pragma omp for
            for (i = 1; i < n - 1; i++)
                a[i] = b[i];
#pragma omp single
            {
                printf("%d: %g\n", t, a[n / 2]);
                a[0] = a[0] + 0.25;
            }
        }
#pragma omp for lastprivate(at)
        for (i = 0; i < n; i++) {
            at = a[i] * h;
            b[i] = at + i;
        }
#pragma omp for
        for (i = 0; i < n; i++)
            mine += b[i];
#pragma omp critical
        sum += mine;
    }
    return sum + at;
}
int main(void)
{
    printf("%.9g\n", run(300, 3));
    return 0;
}
