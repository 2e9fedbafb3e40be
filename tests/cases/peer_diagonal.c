/* PSyclone 2303: the elements written lie on the diagonal, those read above it; they never coincide.
 * RUN: port
 * EXPECT: diagonal/ji parallel ported: no carried dependence (proven)
 * VERIFY: pass
 */
void diagonal(int n, double m[restrict n][n])
{
    for (int ji = 1; ji < n; ji++)
        m[ji][ji] = m[ji][ji] + m[ji - 1][ji];
}
