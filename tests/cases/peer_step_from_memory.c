/* Polygeist 421: the step is an element of an array.
 * RUN: port --verify off
 * EXPECT: strided/for unanalyzable host: not a counted loop: its step stepx[0] is not a constant
 */
void strided(int n, const int *restrict stepx, double *restrict a)
{
    for (int y = 0; y < n; y += stepx[0])
        a[y] = 1.0;
}
