/* Polygeist 398: the inner loop starts at a product of the outer counter with itself.
 * RUN: port --verify off
 * EXPECT: squares/k unanalyzable host: the subscript of a[k][i] is not affine
 * EXPECT: squares/k/i parallel ported: no carried dependence (if k*k >= 0)
 */
void squares(int n, int m, double a[restrict n][m])
{
    for (int k = 0; k < n; k++)
        for (int i = k * k; i < m; i++)
            a[k][i] = 1.0;
}
