/* Few elements in each of many steps: a launch takes longer than the loop. */
#include <stdio.h>

static double a[15];

int main(void)
{
    for (int t = 0; t < 2000; t++) {
        for (int i = 0; i < 15; i++)
            a[i] = a[i] * 0.5 + 1.0;
        printf("%g\n", a[t % 15]);
    }
    return 0;
}
