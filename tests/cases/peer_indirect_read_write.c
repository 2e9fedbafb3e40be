/* Never parallel: the element read may be one that another iteration writes.
 * RUN: port --verify off
 * EXPECT: chase/i unanalyzable host: the subscript of a[next[i]] is not affine
 */
void chase(int n, const int *restrict next, double *restrict a)
{
    for (int i = 0; i < n; i++)
        a[i] = a[next[i]] + 1.0;
}
