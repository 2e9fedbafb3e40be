/* A Gauss-Seidel sweep: each element needs the one before it, already relaxed. This loop must be refused. */

void relax(int n, double *u, const double *f)
{
    for (int i = 1; i < n - 1; i++)
        u[i] = 0.5 * (u[i - 1] + u[i + 1] - f[i]);
}
