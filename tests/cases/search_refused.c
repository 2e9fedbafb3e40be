/* Near misses of a search: it writes on its way, reads what is not known to be there, or may trap.
 * RUN: port --verify off
 * EXPECT: writes/i unanalyzable host: the loop may be left early by return
 * EXPECT: leads_on/i unanalyzable host: the loop may be left early by return
 * EXPECT: divides/i unanalyzable host: the loop may be left early by return
 * EXPECT: counts/i unanalyzable host: the loop may be left early by break
 */
int writes(int n, const int *restrict x, int *restrict seen, int key)
{
    for (int i = 0; i < n; i++) {
        if (x[i] == key)
            return i;
        seen[i] = 1;
    }
    return -1;
}

int leads_on(int n, const int *x, int at)
{
    for (int i = 0; i < n; i++)
        if (x[x[i]] == at)
            return i;
    return -1;
}

int divides(int n, const int *x, int key)
{
    for (int i = 0; i < n; i++)
        if (key / x[i] > 3)
            return i;
    return -1;
}

int counts(int n, const int *x, int key, int *steps)
{
    int i, k = 0;
    for (i = 0; i < n; i++) {
        k += x[i];
        if (k > key)
            break;
    }
    *steps = i;
    return k;
}
