/* Rows behind a `double **` may be anywhere, also twice the same.
 * RUN: port --verify off
 */
void scale_rows(int n, int m, double **a)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            a[i][j] *= 2.0;
}
