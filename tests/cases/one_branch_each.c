/* The host writes x on one path, a kernel writes it on the other: neither copy may be lost.
 * RUN: port
 * EXPECT: either/r sequential host: carries a flow dependence on x
 * EXPECT: either/r/i parallel ported: no carried dependence (proven)
 * VERIFY: pass
 */
#include <stdio.h>

static double x[64];

static void either(int c, int rounds)
{
    for (int r = 0; r < rounds; r++) {
        if ((r + c) % 2) {
            x[r] = 7.0;
        } else {
            for (int i = 0; i < 64; i++)
                x[i] = x[i] * 0.5 + i;
        }
    }
}

int main(void)
{
    either(0, 5);
    either(1, 6);
    printf("%g %g %g\n", x[0], x[3], x[63]);
    return 0;
}
