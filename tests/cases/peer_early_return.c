/* Never parallel: the function ends in the middle of the loop.
 * RUN: port --verify off
 * EXPECT: find/i unanalyzable host: the loop may be left early by return
 */
int find(int n, const int *restrict a, int *restrict seen, int key)
{
    for (int i = 0; i < n; i++) {
        seen[i] = 1;
        if (a[i] == key)
            return i;
    }
    return -1;
}
