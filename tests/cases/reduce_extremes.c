/* Minima and maxima, with the first and the last place; and a form that depends on the order where a value is NaN.
 * RUN: port
 * EXPECT: main/i parallel ported: no carried dependence (proven)
 * EXPECT: main/i#2 reduction ported: an associative update (max: most) is the only carried dependence
 * EXPECT: main/i#3 reduction ported: an associative update (min: least) is the only carried dependence
 * EXPECT: main/i#4 reduction ported: an associative update (min: low, max: high) is the only carried dependence
 * VERIFY: pass
 */
#include <math.h>
#include <stdio.h>

#define N 1003

static double x[N];
static float f[N];

int main(void)
{
    for (int i = 0; i < N; i++) {
        x[i] = i * 7919 % 503;
        f[i] = (float)x[i] - 100.5f;
    }
    double most = -1.0, least = 1e9;
    int first = -1, last = -1;
    for (int i = 0; i < N; i++)
        if (x[i] > most) {
            most = x[i];
            first = i;
        }
    for (int i = 0; i < N; i++)
        if (x[i] <= least) {
            least = x[i];
            last = i;
        }
    float low = f[0], high = f[0];
    for (int i = 1; i < N; i++) {
        low = fminf(low, f[i]);
        high = high > f[i] ? high : f[i];
    }
    printf("%g %d %g %d %g %g\n", most, first, least, last, low, high);
    return 0;
}
