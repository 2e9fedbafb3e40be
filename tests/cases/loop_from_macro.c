/* The whole loop header is a macro: boxed.
 * RUN: port --verify off
 * EXPECT: fill/for unanalyzable host: not a counted loop: its header is the macro EACH
 * EXPECT: fill/i parallel ported: no carried dependence (proven)
 */
#define EACH(i, n) for (int i = 0; i < (n); i++)

void fill(int n, double *a)
{
    EACH(i, n)
        a[i] = 0.0;
    for (int i = 0; i < n; i++)
        a[i] += 1.0;
}
