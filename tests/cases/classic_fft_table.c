/* Fast Fourier transform with a table of factors, after a permutation by a table: one launch a level.
 * RUN: port
 * EXPECT: main/i parallel ported: no carried dependence (proven)
 * EXPECT: main/i/for unanalyzable ported: not a counted loop: it does not advance its counter b by a constant step
 * EXPECT: main/i#2 parallel ported: no carried dependence (proven)
 * EXPECT: main/for unanalyzable host: not a counted loop: it does not advance its counter len by a constant step
 * EXPECT: main/for/for parallel-after ported: parallel after normalize=main/for/for
 * EXPECT: main/for/for/j parallel ported: no carried dependence (proven)
 * EXPECT: main/i#3 unanalyzable host: printf writes output
 * VERIFY: pass
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define N 32

int main(void)
{
    double *re = malloc(N * sizeof *re), *im = malloc(N * sizeof *im);
    double *c = malloc(N / 2 * sizeof *c), *s = malloc(N / 2 * sizeof *s);
    if (!re || !im || !c || !s)
        return 1;
    for (int i = 0; i < N; i++) {
        int r = 0;
        for (int b = 1; b < N; b *= 2)
            r = 2 * r + (i & b ? 1 : 0);
        re[i] = (r * 37 + 11) % 101;
        im[i] = 0;
    }
    for (int i = 0; i < N / 2; i++) {
        c[i] = cos(6.28318530717958648 * i / N);
        s[i] = -sin(6.28318530717958648 * i / N);
    }
    for (int len = 2; len <= N; len <<= 1)
        for (int i = 0; i < N; i += len)
            for (int j = 0; j < len / 2; j++) {
                int p = i + j, q = i + j + len / 2, w = j * (N / len);
                double tr = re[q] * c[w] - im[q] * s[w], ti = re[q] * s[w] + im[q] * c[w];
                re[q] = re[p] - tr;
                im[q] = im[p] - ti;
                re[p] += tr;
                im[p] += ti;
            }
    for (int i = 0; i < N; i++)
        printf("%.6f %.6f\n", re[i], im[i]);
    free(re);
    free(im);
    free(c);
    free(s);
    return 0;
}
