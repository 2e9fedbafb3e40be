/* DawnCC 21, ROSE 27: both loops are parallel and both are annotated; they become one kernel of two axes.
 * RUN: port
 * EXPECT: scale/i parallel ported: no carried dependence (proven)
 * EXPECT: scale/i/j parallel ported: no carried dependence (proven)
 * VERIFY: pass
 */
void scale(int n, int m, double a[restrict n][m], const double b[restrict n][m])
{
    double total;
#pragma omp parallel for private(total)
    for (int i = 0; i < n; i++)
#pragma omp parallel for private(total)
        for (int j = 0; j < m; j++) {
            total = b[i][j] * 2.0;
            a[i][j] = total + 1.0;
        }
}
