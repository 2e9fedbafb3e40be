/* Near misses of the classic algorithms whose iterations meet if data let them: refused with two that would.
 * RUN: port --verify off
 * EXPECT: ring/i sequential host: may carry an anti dependence on a, under a condition that depends on data
 * EXPECT: both/i sequential host: may carry an anti dependence on a, under a condition that depends on data
 * EXPECT: other_bit/i sequential host: may carry an anti dependence on a, under a condition that depends on data
 * EXPECT: bubble/i sequential host: may carry a flow dependence on a, under a condition that depends on data
 * EXPECT: flat/t sequential host: may carry a flow dependence on a, under a condition that depends on data
 * EXPECT: relax/i sequential host: may carry a flow dependence on d, under a condition that depends on data
 * EXPECT: least/i sequential host: may carry an anti dependence on place, under a condition that depends on data
 * EXPECT: marks/m sequential host: may carry a flow dependence on composite, under a condition that depends on data
 * EXPECT: row/j sequential host: may carry a flow dependence on cell, under a condition that depends on data
 */

/* neighbors on a ring, exchanged where they are out of order: an exchange moves what the next one compares */
void ring(int n, int *restrict a)
{
    for (int i = 0; i < n; i++)
        if (a[i] > a[(i + 1) % n]) {
            int t = a[i];
            a[i] = a[(i + 1) % n];
            a[(i + 1) % n] = t;
        }
}

/* a pass of a bitonic sort in which both partners compare and exchange */
void both(int n, int j, int *restrict a)
{
    for (int i = 0; i < n; i++)
        if (a[i] > a[i ^ j]) {
            int t = a[i];
            a[i] = a[i ^ j];
            a[i ^ j] = t;
        }
}

/* the guard asks for a bit of k, the pair differs in the bits of j */
void other_bit(int n, int j, int k, int *restrict a)
{
    for (int i = 0; i < n; i++)
        if ((i & k) == 0 && a[i] > a[i ^ j]) {
            int t = a[i];
            a[i] = a[i ^ j];
            a[i ^ j] = t;
        }
}

/* bubble sort's inner loop */
void bubble(int n, int *restrict a)
{
    for (int i = 0; i < n - 1; i++)
        if (a[i] > a[i + 1]) {
            int t = a[i];
            a[i] = a[i + 1];
            a[i + 1] = t;
        }
}

/* flat pairs whose rows are h apart where they should be 2 h apart */
void flat(int n, int h, int *restrict a)
{
    for (int t = 0; t < n; t++) {
        int i = t / h * h + t % h;
        if (a[i] > a[i + h])
            a[i + h] = a[i];
    }
}

/* shortest paths along a chain: a distance needs the one before */
void relax(int n, int *restrict d, const int *restrict w)
{
    for (int i = 1; i < n; i++)
        if (d[i - 1] + w[i] < d[i])
            d[i] = d[i - 1] + w[i];
}

/* the place of the least element so far is in memory */
void least(int n, const int *restrict x, int *restrict place)
{
    for (int i = 1; i < n; i++)
        if (x[i] < x[place[0]])
            place[0] = i;
}

/* a mark that is set where the one before is not */
void marks(int n, unsigned char *restrict composite)
{
    for (int m = 2; m < n; m++) {
        if (composite[m - 1])
            continue;
        composite[m] = 1;
    }
}

/* rows of an edit distance over each other: two cells of a row before are gone */
void row(int m, const int *restrict s, int *restrict cell)
{
    for (int j = 2; j <= m; j++)
        cell[j] = s[j] ? cell[j - 2] + 1 : cell[j] + 1;
}
