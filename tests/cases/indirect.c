/* Nobody can tell whether two iterations write one element.
 * RUN: port --verify off
 */
void scatter(int n, const int *restrict index, double *restrict a, const double *restrict b)
{
    for (int i = 0; i < n; i++)
        a[index[i]] = b[i];
}
