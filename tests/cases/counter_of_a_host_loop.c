/* A counter that a step replaced by its value: after each iteration it is another number, which nobody reads.
 * RUN: port
 * EXPECT: load/i unanalyzable host: rand keeps hidden state
 * EXPECT: main/i parallel ported: no carried dependence (proven)
 * VERIFY: pass
 */
#include <stdio.h>
#include <stdlib.h>

static void load(int n, float *units)
{
    int i, k;
    k = 1;
    for (i = 0; i < n; i++) {
        units[k] = (float) rand() / RAND_MAX;
        k++;
    }
}

int main(void)
{
    float a[100] = {0};
    load(99, a);
    for (int i = 0; i < 100; i++)
        a[i] = a[i] * 2;
    printf("%g %g\n", a[1], a[99]);
    return 0;
}
