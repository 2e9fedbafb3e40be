/* A hot function, called 10,000 times: its buffers are kept between the calls.
 * RUN: port
 * EXPECT: relax/i parallel ported: no carried dependence (proven)
 * EXPECT: main/call unanalyzable host: relax(8, a) may touch any part of a
 * VERIFY: pass
 */
#include <stdio.h>

static void relax(int n, double *restrict a)
{
    for (int i = 0; i < n; i++)
        a[i] = 0.5 * a[i] + 1.0;
}

int main(void)
{
    double a[8] = {0};
    for (int call = 0; call < 10000; call++)
        relax(8, a);
    printf("%.12g\n", a[7]);
    return 0;
}
