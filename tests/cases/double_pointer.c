/* Rows behind a `double **` may be anywhere, also twice the same.
 * RUN: port --verify off
 * EXPECT: scale_rows/i parallel-after ported: parallel after flatten=scale_rows/i
 * EXPECT: scale_rows/i/j parallel ported: no carried dependence (proven)
 */
void scale_rows(int n, int m, double **a)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            a[i][j] *= 2.0;
}
