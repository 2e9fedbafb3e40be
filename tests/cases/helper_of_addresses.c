/* A helper gets the address of an element through a pointer that is not const, and its own loop is ported as well:
 * what the original does in it on the host, the port does inside a kernel.
 * RUN: port
 * EXPECT: four/i reduction ported: an associative update (+: s) is the only carried dependence
 * EXPECT: main/i parallel ported: no carried dependence (proven)
 * EXPECT: main/i#2 parallel ported: no carried dependence (proven)
 * VERIFY: undecided
 */
#include <stdio.h>

static double a[64], b[64];

static double four(double *p)
{
    double s = 0;
    for (int i = 0; i < 4; i++)
        s += p[i];
    return s;
}

int main(void)
{
    for (int i = 0; i < 64; i++)
        a[i] = i * 0.5;
    for (int i = 0; i < 60; i++)
        b[i] = four(&a[i]);
    printf("%g %g\n", b[7], b[59]);
    return 0;
}
