/* A function that the host calls between two kernels reads the array through a global pointer.
 * RUN: port
 * EXPECT: main/t reduction host: it launches the kernel of the loop inside it, at line 21
 * EXPECT: main/t/i parallel ported: no carried dependence (proven)
 * VERIFY: pass
 */
#include <stdio.h>

static double data[64];
double *view = data;

static double peek(void)
{
    return view[5];
}

int main(void)
{
    double sum = 0.0;
    for (int t = 0; t < 5; t++) {
        for (int i = 0; i < 64; i++)
            data[i] = data[i] + i * t;
        sum += peek();
    }
    printf("%g\n", sum);
    return 0;
}
