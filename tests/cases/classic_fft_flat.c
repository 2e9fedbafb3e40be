/* Fast Fourier transform over pairs, unsigned: block and pair by division, the length computed beside.
 * RUN: port --all
 * EXPECT: fft/for unanalyzable host: not a counted loop: it does not advance its counter len by a constant step
 * EXPECT: fft/for/t parallel ported: no carried dependence (if half >= 1; len <= 2*half; (2*half + 2 <= n && half + n <= 4294967297) || (2*half + n <= 8589934593 && n <= 2*half + 1); 2*half + n <= 2*len + 1 || len == 2*half; im and re lie in different blocks of memory)
 * EXPECT: main/i parallel ported: no carried dependence (proven)
 * EXPECT: main/i#2 unanalyzable host: printf writes output
 * VERIFY: pass
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define PI 3.14159265358979324

static void fft(double *re, double *im, unsigned n)
{
    for (unsigned len = 2; len <= n; len <<= 1) {
        unsigned half = len / 2;
        for (unsigned t = 0; t < n / 2; t++) {
            unsigned j = t % half, a = t / half * len + j, b = a + half;
            double c = cos(-2 * PI * j / len), s = sin(-2 * PI * j / len);
            double x = re[b] * c - im[b] * s, y = re[b] * s + im[b] * c;
            re[b] = re[a] - x;
            im[b] = im[a] - y;
            re[a] += x;
            im[a] += y;
        }
    }
}

int main(void)
{
    unsigned n = 64;
    double *re = malloc(n * sizeof *re), *im = malloc(n * sizeof *im);
    if (!re || !im)
        return 1;
    for (unsigned i = 0; i < n; i++) {
        re[i] = (i * 37 + 11) % 101;
        im[i] = i % 3;
    }
    fft(re, im, n);
    for (unsigned i = 0; i < n; i++)
        printf("%.6f %.6f\n", re[i], im[i]);
    free(re);
    free(im);
    return 0;
}
