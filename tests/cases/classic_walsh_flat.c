/* Walsh-Hadamard transform over pairs: row t / h of 2 h columns, column t % h.
 * RUN: port
 * EXPECT: transform/while unanalyzable host: not a counted loop: only running a while loop tells how often it runs
 * EXPECT: transform/while/t parallel ported: no carried dependence (if h >= 1)
 * EXPECT: main/i parallel ported: no carried dependence (proven)
 * EXPECT: main/i#2 unanalyzable host: printf writes output
 * VERIFY: pass
 */
#include <stdio.h>

#define N 64

static double a[N];

static void transform(double *x, int n)
{
    int h = 1;
    while (h < n) {
        for (int t = 0; t < n / 2; t++) {
            int i = (t / h) * 2 * h + t % h;
            double u = x[i], v = x[i + h];
            x[i] = u + v;
            x[i + h] = u - v;
        }
        h *= 2;
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
