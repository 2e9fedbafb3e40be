/* Fast Fourier transform that halves the length, structs behind pointers, a helper that gets two of them.
 * RUN: port --all
 * EXPECT: dif/for unanalyzable host: not a counted loop: it does not advance its counter half by a constant step
 * EXPECT: dif/for/for parallel-after ported: parallel after normalize=dif/for/for, forward-substitute=dif/for/k_k,variable=k, inline=dif/for/k_k,function=butterfly
 * EXPECT: dif/for/for/j parallel-after ported: parallel after normalize=dif/for/for, forward-substitute=dif/for/k_k,variable=k, inline=dif/for/k_k,function=butterfly
 * EXPECT: main/i parallel ported: no carried dependence (proven)
 * EXPECT: main/i#2 unanalyzable host: printf writes output
 * VERIFY: pass
 */
#include <stdio.h>
#include <math.h>
#include <stdlib.h>
struct cpx { float r, i; };
static void butterfly(struct cpx *a, struct cpx *b, float c, float s)
{
    struct cpx u = *a, v = *b;
    a->r = u.r + v.r; a->i = u.i + v.i;
    float dr = u.r - v.r, di = u.i - v.i;
    b->r = dr * c - di * s; b->i = dr * s + di * c;
}
static void dif(struct cpx *x, int n)
{
    for (int half = n / 2; half >= 1; half >>= 1)
        for (int k = 0; k < n; k += 2 * half)
            for (int j = 0; j < half; ++j) {
                float ang = -3.14159265f * j / half;
                butterfly(&x[k + j], &x[k + j + half], cosf(ang), sinf(ang));
            }
}
int main(void)
{
    int n = 64;
    struct cpx *x = malloc(n * sizeof *x);
    if (!x) return 1;
    for (int i = 0; i < n; i++) { x[i].r = (i * 37 + 11) % 101; x[i].i = 0; }
    dif(x, n);
    for (int i = 0; i < n; i++) printf("%.3f %.3f\n", x[i].r, x[i].i);
    free(x);
    return 0;
}
