/* The tree shows one configuration, and a port is of that one.
 * RUN: port --verify off
 * EXPECT: update/i parallel ported: no carried dependence (proven)
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
