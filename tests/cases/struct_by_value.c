/* The bounds are members of a struct that is passed by value.
 * RUN: port
 * EXPECT: fill/i parallel ported: no carried dependence (proven)
 * VERIFY: pass
 */
#include <stdio.h>

typedef struct {
    int w, h;
} extent;

static double a[600];

static void fill(extent s, double scale)
{
    for (int i = 0; i < s.w * s.h; i++)
        a[i] = scale * i;
}

int main(void)
{
    extent s = {30, 20};
    fill(s, 0.5);
    printf("%g %g\n", a[1], a[599]);
    return 0;
}
