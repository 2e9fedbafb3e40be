/* Batcher's odd-even merge sort: one launch for each merge step, a helper that compares and exchanges.
 * RUN: port
 * EXPECT: sort/for unanalyzable host: not a counted loop: it does not advance its counter p by a constant step
 * EXPECT: sort/for/for unanalyzable host: not a counted loop: it does not advance its counter k by a constant step
 * EXPECT: sort/for/for/for parallel-after ported: parallel after normalize=sort/for/for/for, forward-substitute=sort/for/for/j_k,variable=j, inline=sort/for/for/j_k,function=exchange
 * EXPECT: sort/for/for/for/i parallel-after ported: parallel after normalize=sort/for/for/for, forward-substitute=sort/for/for/j_k,variable=j, inline=sort/for/for/j_k,function=exchange
 * EXPECT: main/i parallel ported: no carried dependence (proven)
 * EXPECT: main/i#2 unanalyzable host: printf writes output
 * VERIFY: pass
 */
#include <stdio.h>

#define N 32

static int a[N];

static void exchange(int *x, int *y)
{
    if (*x > *y) {
        int t = *x;
        *x = *y;
        *y = t;
    }
}

static void sort(int *x, int n)
{
    for (int p = 1; p < n; p *= 2)
        for (int k = p; k >= 1; k /= 2)
            for (int j = k % p; j + k < n; j += 2 * k)
                for (int i = 0; i < k; i++)
                    if (i + j + k < n && (i + j) / (2 * p) == (i + j + k) / (2 * p))
                        exchange(&x[i + j], &x[i + j + k]);
}

int main(void)
{
    for (int i = 0; i < N; i++)
        a[i] = (i * 37 + 11) % 101;
    sort(a, N);
    for (int i = 0; i < N; i++)
        printf("%d ", a[i]);
    printf("\n");
    return 0;
}
