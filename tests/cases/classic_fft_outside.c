/* Fast Fourier transform with all counters and the length of a block declared outside.
 * RUN: port --all
 * EXPECT: fft/for unanalyzable host: not a counted loop: it does not advance its counter m by a constant step
 * EXPECT: fft/for/for parallel-after ported: parallel after normalize=fft/for/for
 * EXPECT: fft/for/for/j parallel ported: no carried dependence (if what is touched of im and of re does not overlap)
 * EXPECT: main/i parallel ported: no carried dependence (proven)
 * EXPECT: main/i#2 unanalyzable host: printf writes output
 * VERIFY: pass
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define PI 3.14159265358979324

static void fft(double *re, double *im, int n)
{
    int m, half, i, j;
    for (m = 2; m <= n; m *= 2) {
        half = m >> 1;
        for (i = 0; i < n; i += m)
            for (j = 0; j < half; j++) {
                double c = cos(-2 * PI * j / m), s = sin(-2 * PI * j / m);
                double x = re[i + j + half] * c - im[i + j + half] * s, y = re[i + j + half] * s + im[i + j + half] * c;
                re[i + j + half] = re[i + j] - x;
                im[i + j + half] = im[i + j] - y;
                re[i + j] += x;
                im[i + j] += y;
            }
    }
}

int main(void)
{
    int n = 64;
    double *re = malloc(n * sizeof *re), *im = malloc(n * sizeof *im);
    if (!re || !im)
        return 1;
    for (int i = 0; i < n; i++) {
        re[i] = (i * 37 + 11) % 101;
        im[i] = i % 3;
    }
    fft(re, im, n);
    for (int i = 0; i < n; i++)
        printf("%.6f %.6f\n", re[i], im[i]);
    free(re);
    free(im);
    return 0;
}
