/* Never parallel: which iterations run depends on the data.
 * RUN: port --verify off
 * EXPECT: until_negative/i unanalyzable host: the loop may be left early by break
 */
int until_negative(int n, const double *restrict a, double *restrict b)
{
    int i;
    for (i = 0; i < n; i++) {
        if (a[i] < 0.0)
            break;
        b[i] = a[i];
    }
    return i;
}
