/* Reading through an index is no conflict.
 * RUN: port --verify off
 * EXPECT: gather/i parallel ported: no carried dependence (proven)
 */
void gather(int n, const int *restrict index, double *restrict a, const double *restrict b)
{
    for (int i = 0; i < n; i++)
        a[i] = b[index[i]];
}
