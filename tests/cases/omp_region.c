/* One thread runs a region whose threads share all of its work; where they do more, no thread may launch for all.
 * RUN: port
 * EXPECT: part/i parallel host: 'part' is called from 'h' inside an OpenMP parallel region (line 40)
 * EXPECT: f/i parallel ported: no carried dependence (proven)
 * EXPECT: f/i#2 parallel ported: no carried dependence (proven)
 * EXPECT: g/i parallel host: several host threads run this loop at once (OpenMP): every thread writes count, which they share
 * VERIFY: pass
 */
void part(int n, double *restrict a)
{
#pragma omp for
    for (int i = 0; i < n; i++)
        a[i] += 1;
}
void f(int n, double *restrict a, double *restrict b)
{
#pragma omp parallel
    {
#pragma omp for nowait
        for (int i = 0; i < n; i++)
            a[i] = i;
#pragma omp for
        for (int i = 0; i < n; i++)
            b[i] = i;
    }
}
void g(int n, double *restrict a, int *restrict count)
{
#pragma omp parallel
    {
#pragma omp for
        for (int i = 0; i < n; i++)
            a[i] = i;
        *count += 1;
    }
}
void h(int n, double *restrict a)
{
#pragma omp parallel
    part(n, a);
}
