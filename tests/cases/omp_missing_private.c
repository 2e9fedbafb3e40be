/* The pragma is wrong, and the loop is ported by proof: what one thread computes is what counts.
 * RUN: port
 * EXPECT: squares/i parallel ported: no carried dependence (proven)
 * VERIFY: pass
 */
void squares(int n, const double *restrict a, double *restrict b)
{
    double t;
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        t = a[i];
        b[i] = t * t;
    }
}
