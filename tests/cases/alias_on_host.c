/* Between two kernels the host writes through another pointer, which may reach the array on the device: here it does.
 * RUN: port
 * EXPECT: step/t sequential host: carries a flow dependence on a
 * EXPECT: step/t/i parallel ported: no carried dependence (proven)
 * VERIFY: pass
 */
#include <stdio.h>

void step(int n, int rounds, double *a, double *mark)
{
    for (int t = 0; t < rounds; t++) {
        for (int i = 0; i < n; i++)
            a[i] = a[i] * 0.5 + 1.0;
        mark[t] = 100.0 + t;
    }
}

int main(void)
{
    double a[100] = {0};
    step(100, 7, a, a + 3);
    step(50, 7, a, a + 60);
    printf("%.15g %.15g %.15g\n", a[3], a[9], a[66]);
    return 0;
}
