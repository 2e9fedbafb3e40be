/* Three pragmas: one is right, one is wrong, and of one nobody can know. */

void right(int n, double *restrict a, const double *restrict b)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        a[i] = 2 * b[i];
}

void wrong(int n, double *restrict a, const double *restrict b)
{
    double t;
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        t = b[i];
        a[i] = t * t;
    }
}

void open(int n, const int *p, double *restrict a, const double *restrict b)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        a[p[i]] = b[i];
}
