/* The tree shows one configuration only, so this loop is not analyzed; the next one is.
 * RUN: port --verify off
 * EXPECT: update/i unanalyzable host: a construct that is not modelled: a preprocessor conditional inside the loop
 * EXPECT: update/i#2 parallel ported: no carried dependence (proven)
 */
void update(int n, double *restrict a)
{
    for (int i = 0; i < n; i++) {
#ifdef DOUBLE_STEP
        a[i] += 2.0;
#else
        a[i] += 1.0;
#endif
    }
    for (int i = 0; i < n; i++)
        a[i] *= 0.5;
}
