/* The loop has an OpenMP pragma already; it goes with the loop.
 * RUN: port
 * EXPECT: add/i parallel ported: no carried dependence (proven)
 * VERIFY: pass
 */
void add(int n, const double *restrict a, const double *restrict b, double *restrict c)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        c[i] = a[i] + b[i];
}
