/* Near misses: what is kept is read again, decides what is kept, or does not stand at places of its own.
 * RUN: port --verify off
 * EXPECT: in_place/i unanalyzable host: the subscript of x[k++] is not affine
 * EXPECT: last_kept/i unanalyzable host: the subscript of out[k - 1] is not affine
 * EXPECT: room/i sequential host: a running value (+: k) is the only carried dependence, and what is combined with k depends on k, which the iteration computes
 * EXPECT: starts_again/i unanalyzable host: the subscript of out[k++] is not affine
 * EXPECT: both_ends/i unanalyzable host: the subscript of out[low++] is not affine
 * EXPECT: branch_free/i unanalyzable host: the subscript of out[k] is not affine
 * EXPECT: one_too_far/i unanalyzable host: the subscript of out[k] is not affine
 * EXPECT: stands_still/i unanalyzable host: the subscript of out[k] is not affine
 * EXPECT: comes_back/i unanalyzable host: the subscript of out[k++] is not affine
 * EXPECT: elsewhere/i unanalyzable host: *o++ may touch anything that is reached through o
 */
/* reads what it wrote: the array is its own output */
int in_place(int n, int *x)
{
    int k = 0;
    for (int i = 0; i < n; i++)
        if (x[i] > 0)
            x[k++] = x[i];
    return k;
}

int last_kept(int n, const int *restrict x, int *restrict out)
{
    int k = 1;
    for (int i = 0; i < n; i++)
        if (x[i] != out[k - 1])
            out[k++] = x[i];
    return k;
}

int room(int n, int most, const int *restrict x, int *restrict out)
{
    int k = 0;
    for (int i = 0; i < n; i++)
        if (x[i] > 0 && k < most)
            out[k++] = x[i];
    return k;
}

int starts_again(int n, const int *restrict x, int *restrict out)
{
    int k = 0;
    for (int i = 0; i < n; i++) {
        if (x[i] > 0)
            out[k++] = x[i];
        if (x[i] == -1)
            k = 0;
    }
    return k;
}

int both_ends(int n, const int *restrict x, int *restrict out)
{
    int low = 0, high = n;
    for (int i = 0; i < n; i++)
        if (x[i] > 0)
            out[low++] = x[i];
        else
            out[--high] = x[i];
    return low;
}

/* every iteration writes: the last one that does not move k is what stays */
int branch_free(int n, const int *restrict x, int *restrict out)
{
    int k = 0;
    for (int i = 0; i < n; i++) {
        out[k] = x[i];
        if (x[i] > 0)
            k++;
    }
    return k;
}

int one_too_far(int n, const int *restrict x, int *restrict out)
{
    int k = 0;
    for (int i = 0; i < n; i++)
        if (x[i] > 0) {
            out[k] = x[i];
            out[k + 1] = 0;
            k++;
        }
    return k;
}

int stands_still(int n, const int *restrict x, int *restrict out)
{
    int k = 0;
    for (int i = 0; i < n; i++)
        if (x[i] > 0) {
            out[k] = i;
            k += x[i] - 1;
        }
    return k;
}

int comes_back(int n, const int *restrict x, int *restrict out)
{
    unsigned char k = 0;
    for (int i = 0; i < n; i++)
        if (x[i] > 0)
            out[k++] = i;
    return k;
}

int *elsewhere(int n, const int *restrict x, int *restrict out)
{
    int *o = out;
    for (int i = 0; i < n; i++) {
        if (x[i] > 0)
            *o++ = x[i];
        if (x[i] == 7)
            o = out;
    }
    return o;
}
