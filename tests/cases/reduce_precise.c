/* On request no floating-point sum is reordered; integers and maxima never depend on the order.
 * RUN: port --precise-fp
 * EXPECT: main/i parallel ported: no carried dependence (proven)
 * EXPECT: main/i#2 reduction host: --precise-fp: as a kernel, the floating-point numbers in s are combined in another order, the same in every run
 * EXPECT: main/i#3 reduction ported: an associative update (+: n, max: m) is the only carried dependence
 * VERIFY: pass
 */
#include <stdio.h>

#define N 1003

static double x[N];
static int key[N];

int main(void)
{
    for (int i = 0; i < N; i++) {
        x[i] = 1.0 / (i + 1);
        key[i] = i * 31 % 97;
    }
    double s = 0.0, m = -1.0;
    long n = 0;
    for (int i = 0; i < N; i++)
        s += x[i];
    for (int i = 0; i < N; i++) {
        n += key[i];
        if (x[i] > m)
            m = x[i];
    }
    printf("%.17g %g %ld\n", s, m, n);
    return 0;
}
