/* Rows behind a `double **` may be anywhere, also twice the same.
 * RUN: port --verify off
 * EXPECT: scale_rows/i reduction host: 'a' is a pointer to pointers: its rows may lie anywhere; one block of memory can be ported
 * EXPECT: scale_rows/i/j parallel host: 'a' is a pointer to pointers: its rows may lie anywhere; one block of memory can be ported
 */
void scale_rows(int n, int m, double **a)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            a[i][j] *= 2.0;
}
