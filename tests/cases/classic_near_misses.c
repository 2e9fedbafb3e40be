/* Loops that look like those of the classic algorithms, and whose iterations meet.
 * RUN: port --verify off
 * EXPECT: rotate/i sequential host: carries a flow dependence on a
 * EXPECT: both/i sequential host: carries a flow dependence on a
 * EXPECT: other_bit/i sequential host: carries a flow dependence on a
 * EXPECT: too_far/i parallel ported: no carried dependence (if 2*j + n <= 0 || j == 0 || n <= 2*j)
 * EXPECT: reads_beside/i parallel-after ported: parallel after distribute=reads_beside/i,groups=1
 * EXPECT: one_too_many/for unanalyzable host: not a counted loop: its step 2 * len is not a constant
 * EXPECT: one_too_many/for/j sequential host: carries a flow dependence on a
 * EXPECT: overlapping_blocks/for unanalyzable host: not a counted loop: its step len is not a constant
 * EXPECT: overlapping_blocks/for/j parallel ported: no carried dependence (proven)
 * EXPECT: flat_overlap/t sequential host: carries a flow dependence on a
 * EXPECT: growing_step/for unanalyzable host: not a counted loop: its step len is not a constant
 * EXPECT: chained/for unanalyzable host: not a counted loop: its step p is not a constant
 */

/* no inverse of itself: what one iteration writes another one reads */
void rotate(int n, int j, int *restrict a)
{
    for (int i = 0; i < n; i++)
        a[(i + j) & (n - 1)] = a[i] + 1;
}

/* both partners exchange */
void both(int n, int j, int *restrict a)
{
    for (int i = 0; i < n; i++) {
        int l = i ^ j, t = a[i];
        a[i] = a[l];
        a[l] = t;
    }
}

/* the guard asks for a bit of k, the pair differs in the bits of j */
void other_bit(int n, int j, int k, int *restrict a)
{
    for (int i = 0; i < n; i++)
        if ((i & k) == 0) {
            int l = i ^ j, t = a[i];
            a[i] = a[l];
            a[l] = t;
        }
}

/* the partner is two steps away: the pairs overlap, unless there are few of them */
void too_far(int n, int j, int *restrict a)
{
    for (int i = 0; i < n; i++)
        if ((i & j) == 0) {
            int t = a[i];
            a[i] = a[i + 2 * j];
            a[i + 2 * j] = t;
        }
}

/* the lesser partner writes, and every iteration reads its own element besides */
void reads_beside(int n, int j, int *restrict a, int *restrict b)
{
    for (int i = 0; i < n; i++) {
        if ((i ^ j) > i)
            a[i ^ j] = a[i];
        b[i] = a[i];
    }
}

/* blocks of len and a last pair that belongs to the next block */
void one_too_many(int n, int len, int *restrict a)
{
    for (int i = 0; i < n; i += 2 * len)
        for (int j = 0; j <= len; j++) {
            int t = a[i + j];
            a[i + j] = a[i + j + len];
            a[i + j + len] = t;
        }
}

/* steps of len with pairs 2 len apart */
void overlapping_blocks(int n, int len, int *restrict a)
{
    for (int i = 0; i < n; i += len)
        for (int j = 0; j < len; j++)
            a[i + j + len] += a[i + j];
}

/* rows of h where rows of 2 h are meant */
void flat_overlap(int n, int h, int *restrict a)
{
    for (int t = 0; t < n; t++) {
        int i = t / h * h + t % h;
        a[i + h] += a[i];
    }
}

/* the step grows while the loop runs */
void growing_step(int n, int len, int *restrict a)
{
    for (int i = 0; i < n; i += len) {
        a[i] = 0;
        len++;
    }
}

/* a multiple takes what the one before has got */
void chained(int n, int p, int *restrict a)
{
    for (int m = p; m < n; m += p)
        a[m] += a[m - p];
}
