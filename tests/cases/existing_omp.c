/* The loop has an OpenMP pragma already; it goes with the loop.
 * RUN: port
 */
void add(int n, const double *restrict a, const double *restrict b, double *restrict c)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        c[i] = a[i] + b[i];
}
