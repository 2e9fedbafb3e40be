/* Near misses of the classic algorithms whose iterations certainly meet: each is refused with two of them.
 * RUN: port --verify off
 * EXPECT: reversal/i sequential host: carries a flow dependence on a
 * EXPECT: neighbors/i sequential host: carries a flow dependence on a
 * EXPECT: blocks/i sequential host: carries a flow dependence on a
 * EXPECT: blocks/i/j sequential host: carries a flow dependence on a
 * EXPECT: marks/m sequential host: carries a flow dependence on composite
 * EXPECT: second_order/i sequential host: carries a flow dependence on y
 * EXPECT: logistic/i sequential host: carries a flow dependence on s
 * EXPECT: doubled/i sequential host: carries a flow dependence on a
 * EXPECT: rows_exchanged/i sequential host: carries a flow dependence on a
 * EXPECT: knapsack/c sequential host: carries a flow dependence on best
 * EXPECT: row/j sequential host: carries a flow dependence on cur
 * EXPECT: last_read/i sequential host: carries a flow dependence on last
 */

/* the two ends meet in the middle and change places again */
void reversal(int n, int *restrict a)
{
    for (int i = 0; i < n; i++) {
        int t = a[i];
        a[i] = a[n - 1 - i];
        a[n - 1 - i] = t;
    }
}

/* pairs that overlap: i with its neighbor */
void neighbors(int n, int *restrict a)
{
    for (int i = 0; i < n; i++) {
        int u = a[i], v = a[i + 1];
        a[i] = u + v;
        a[i + 1] = u - v;
    }
}

/* halves of blocks, one pair too many */
void blocks(int n, int *restrict a)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= 8; j++) {
            int t = a[16 * i + j];
            a[16 * i + j] = a[16 * i + j + 8];
            a[16 * i + j + 8] = t;
        }
}

/* a mark is made of the one before */
void marks(int n, unsigned char *restrict composite)
{
    for (int m = 4; m < n; m += 2)
        composite[m] = composite[m - 2] / 2 + 1;
}

/* two orders */
void second_order(int n, double *restrict y, const double *restrict x)
{
    for (int i = 2; i < n; i++)
        y[i] = 0.5 * y[i - 1] - 0.25 * y[i - 2] + x[i];
}

/* not linear */
double logistic(int n, double *restrict y)
{
    double s = 0.25;
    for (int i = 0; i < n; i++) {
        s = 3.5 * s * (1 - s);
        y[i] = s;
    }
    return s;
}

/* a copy to twice the place is read again there */
void doubled(int n, int *restrict a)
{
    for (int i = 1; i < n; i++)
        a[2 * i] = a[i] + 1;
}

/* row pointers change places in the loop that reads the rows */
void rows_exchanged(int n, double **a)
{
    for (int i = 1; i < n; i++) {
        double *t = a[i];
        a[i] = a[i - 1];
        a[i - 1] = t;
    }
}

/* in place in the wrong direction: an item may be taken twice */
void knapsack(int room, int value, int *restrict best)
{
    for (int c = 3; c <= room; c++)
        best[c] = best[c - 3] + value > best[c] ? best[c - 3] + value : best[c];
}

/* a row of the edit distance needs its own last cell */
void row(int m, const int *restrict prev, int *restrict cur)
{
    for (int j = 1; j <= m; j++)
        cur[j] = prev[j - 1] + cur[j - 1] / 2;
}

/* the last value is read in the loop */
int last_read(int n, const int *restrict x, int *restrict y)
{
    int last = 1;
    for (int i = 0; i < n; i++) {
        y[i] = x[i] / last;
        last = y[i] % 7 + 8;
    }
    return last;
}
