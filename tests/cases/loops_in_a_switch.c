/* Loops that stand directly in the cases of a switch: each has a kernel, and control falls through as it did.
 * RUN: port
 * EXPECT: wall/j parallel ported: no carried dependence (proven)
 * EXPECT: wall/j#2 parallel ported: no carried dependence (proven)
 * EXPECT: wall/j#3 parallel ported: no carried dependence (proven)
 * EXPECT: main/i parallel ported: no carried dependence (proven)
 * EXPECT: main/i#2 reduction ported: an associative update (+: sum) is the only carried dependence
 * VERIFY: pass
 */
#include <stdio.h>

enum kind { FIXED, INSULATED, BOTH };

static double t[64];

static void wall(double *p, enum kind kind, int n, double value)
{
    switch (kind) {
    case BOTH:
        for (int j = 0; j < n; j++)
            p[j] = 3.0 * p[j] + value;
        p += 8;
        /* and then as FIXED */
    case FIXED:
        for (int j = 1; j < n; j++)
            p[j] = 2.0 * value - p[j];
        break;
    case INSULATED:
        p += 4;
        for (int j = 0; j < n; j++)
            p[j] = 0.5 * p[j];
        break;
    }
}

int main(void)
{
    double sum = 0.0;

    for (int i = 0; i < 64; i++)
        t[i] = i;
    wall(t, FIXED, 60, 1.5);
    wall(t, INSULATED, 50, 0.0);
    wall(t, BOTH, 40, 0.25);
    for (int i = 0; i < 64; i++)
        sum += t[i] * (i + 1);
    printf("%.6f\n", sum);
    return 0;
}
