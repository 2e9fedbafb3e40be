/* The element written is never one that is read.
 * RUN: port --verify off
 * EXPECT: diagonal/i parallel ported: no carried dependence (proven)
 */
void diagonal(int n, double m[restrict n][n])
{
    for (int i = 1; i < n; i++)
        m[i][i] = m[i][i] + m[i - 1][i];
}
