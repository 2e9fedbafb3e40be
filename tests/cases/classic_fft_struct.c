/* Fast Fourier transform of structs in a function: halves of the length, the factor computed where it is used.
 * RUN: port
 * EXPECT: levels/for unanalyzable host: not a counted loop: it does not advance its counter half by a constant step
 * EXPECT: levels/for/for parallel-after ported: parallel after normalize=levels/for/for
 * EXPECT: levels/for/for/j parallel ported: no carried dependence (proven)
 * EXPECT: main/i parallel ported: no carried dependence (proven)
 * EXPECT: main/i#2 unanalyzable host: printf writes output
 * VERIFY: pass
 */
#include <math.h>
#include <stdio.h>

#define N 32

typedef struct {
    double re, im;
} number;

static number x[N];

static void levels(number *a, int n)
{
    int half, i, j;
    for (half = 1; half < n; half *= 2)
        for (i = 0; i < n; i += 2 * half)
            for (j = 0; j < half; j++) {
                double c = cos(3.14159265358979324 * j / half), s = -sin(3.14159265358979324 * j / half);
                number u = a[i + j], v = a[i + j + half];
                number w = {v.re * c - v.im * s, v.re * s + v.im * c};
                a[i + j].re = u.re + w.re;
                a[i + j].im = u.im + w.im;
                a[i + j + half].re = u.re - w.re;
                a[i + j + half].im = u.im - w.im;
            }
}

int main(void)
{
    for (int i = 0; i < N; i++) {
        x[i].re = (i * 37 + 11) % 101;
        x[i].im = i % 3;
    }
    levels(x, N);
    for (int i = 0; i < N; i++)
        printf("%.6f %.6f\n", x[i].re, x[i].im);
    return 0;
}
