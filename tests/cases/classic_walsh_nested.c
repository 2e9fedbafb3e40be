/* Walsh-Hadamard transform as three loops: one launch a level, its blocks and their pairs are the threads.
 * RUN: port
 * EXPECT: transform/for unanalyzable host: not a counted loop: it does not advance its counter len by a constant step
 * EXPECT: transform/for/for parallel-after ported: parallel after normalize=transform/for/for
 * EXPECT: transform/for/for/j parallel ported: no carried dependence (proven)
 * EXPECT: main/i parallel ported: no carried dependence (proven)
 * EXPECT: main/i#2 unanalyzable host: printf writes output
 * VERIFY: pass
 */
#include <stdio.h>

#define N 64

static double a[N];

static void transform(double *x, int n)
{
    for (int len = 1; len < n; len <<= 1)
        for (int i = 0; i < n; i += len << 1)
            for (int j = 0; j < len; j++) {
                double u = x[i + j];
                double v = x[i + j + len];
                x[i + j] = u + v;
                x[i + j + len] = u - v;
            }
}

int main(void)
{
    for (int i = 0; i < N; i++)
        a[i] = (i * 37 + 11) % 101;
    transform(a, N);
    for (int i = 0; i < N; i++)
        printf("%g ", a[i]);
    printf("\n");
    return 0;
}
