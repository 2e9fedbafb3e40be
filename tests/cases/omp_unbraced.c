/* Pragmas in front of unbraced bodies, and made by a macro, go with their loops.
 * RUN: port
 * EXPECT: f/i parallel ported: no carried dependence (proven)
 * EXPECT: f/i#2 parallel ported: no carried dependence (proven)
 * EXPECT: f/i#3 parallel ported: no carried dependence (proven)
 * VERIFY: pass
 */
#define PARALLEL _Pragma("omp parallel for")
void f(int n, int k, double *restrict a)
{
    if (k > 1)
#pragma omp parallel for
        for (int i = 0; i < n; i++)
            a[i] = 1;
    else
#pragma omp parallel for
        for (int i = 0; i < n; i++)
            a[i] = 2;
    PARALLEL for (int i = 0; i < n; i++)
        a[i] += 0.5;
}
