/* What several host threads run between kernels: no copy is made inside it, nor between a pragma and its loop.
 * RUN: port
 * EXPECT: main/i parallel ported: no carried dependence (proven)
 * EXPECT: main/i#2 parallel host: several host threads run this loop at once (OpenMP): omp_get_thread_num tells how many threads there are, or which
 * EXPECT: main/i#3 parallel host: several host threads run this loop at once (OpenMP): omp_get_thread_num tells how many threads there are, or which
 * EXPECT: main/i#4 parallel ported: no carried dependence (proven)
 * EXPECT: main/i#5 unanalyzable host: printf writes output
 * EXPECT: main/i#6 parallel ported: no carried dependence (proven)
 * VERIFY: pass
 */
#include <stdio.h>
#include <omp.h>
static double a[200], b[200];
static int count;
int main(void)
{
    int i;
#pragma omp parallel for
    for (i = 0; i < 200; i++)
        a[i] = i;
#pragma omp parallel private(i)
    {
        int me = omp_get_thread_num();
#pragma omp atomic
        count += me;
#pragma omp for
        for (i = 0; i < 200; i++)
            a[i] = a[i] + 1;
#pragma omp for
        for (i = 0; i < 200; i++)
            b[i] = a[199 - i];
    }
#pragma omp parallel for
    for (i = 0; i < 200; i++)
        b[i] = b[i] + a[i];
    #pragma omp parallel for
    for (i = 0; i < 4; i++)
        printf("%g %g\n", a[5], b[7]);
#pragma omp parallel for
    for (i = 0; i < 200; i++)
        a[i] += b[i];
    printf("%g", a[3]);
    return 0;
}
