/* Nobody can tell whether two iterations write one element.
 * RUN: port --verify off
 * EXPECT: scatter/i unanalyzable host: the subscript of a[index[i]] is not affine
 */
void scatter(int n, const int *restrict index, double *restrict a, const double *restrict b)
{
    for (int i = 0; i < n; i++)
        a[index[i]] = b[i];
}
