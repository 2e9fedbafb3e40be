/* Counters and temporaries declared at the top of the function; the counter is read after the loop.
 * RUN: port
 * EXPECT: clamp/i parallel ported: no carried dependence (proven)
 * VERIFY: pass
 */
int clamp(int n, double *restrict a)
{
    int i;
    double t;
    for (i = 0; i < n; i++) {
        t = a[i];
        if (t > 1.0)
            t = 1.0;
        a[i] = t;
    }
    return i;
}
