/* PSyclone 1742: the subscript is a scalar of the iteration, one after the counter.
 * RUN: port
 * EXPECT: shifted/ji parallel ported: no carried dependence (proven)
 * VERIFY: pass
 */
void shifted(int n, int *restrict mask, const int *restrict land)
{
    int jj;
    for (int ji = 0; ji < n - 1; ji++) {
        jj = ji + 1;
        mask[jj] = land[ji] * 2;
    }
}
