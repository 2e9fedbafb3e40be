/* A loop that calls a function of a library whose source is not here. */

double interpolate(const double *table, int n, double x);

void fill(int m, int n, const double *restrict table, const double *restrict x, double *restrict y)
{
    for (int i = 0; i < m; i++)
        y[i] = interpolate(table, n, x[i]);
}
