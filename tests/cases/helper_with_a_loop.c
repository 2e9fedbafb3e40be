/* Between the kernels of a host loop stands a call of a function that has a loop of its own: it stays a call.
 * RUN: port
 * EXPECT: smooth/i parallel ported: no carried dependence (if what is touched of in and of out does not overlap)
 * EXPECT: main/i parallel ported: no carried dependence (proven)
 * EXPECT: main/round sequential host: carries an output dependence on a
 * EXPECT: main/round/i parallel ported: no carried dependence (proven)
 * VERIFY: pass
 */
#include <stdio.h>

static void smooth(int n, const double *in, double *out)
{
    for (int i = 1; i < n - 1; i++)
        out[i] = 0.5 * (in[i - 1] + in[i + 1]);
}

int main(void)
{
    double a[60], b[60];
    for (int i = 0; i < 60; i++)
        a[i] = b[i] = i % 7;
    for (int round = 0; round < 4; round++) {
        smooth(60, a, b);
        for (int i = 0; i < 60; i++)
            a[i] = b[i];
        a[0] = round;
    }
    printf("%.12g %.12g\n", a[5], a[30]);
    return 0;
}
