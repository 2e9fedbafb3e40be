/* Arrays of one block of memory: kernels that write some of them, and read others. */
#include <stdio.h>
#include <stdlib.h>

static void both(double *low, double *high, int n)
{
    for (int i = 0; i < n; i++) {
        low[i] = i;
        high[i] = 2 * i;
    }
}

static void one(const int *from, int *to, int n)
{
    for (int i = 0; i < n; i++)
        to[i] = from[i] + 1;
}

int main(void)
{
    double *block = malloc(80 * sizeof(double));
    int *pair = malloc(2 * sizeof(int));
    for (int i = 0; i < 80; i++)
        block[i] = 1;
    pair[0] = 7;
    pair[1] = 0;
    both(block, block + 40, 39);
    one(pair, pair + 1, 1);
    printf("%g %g %g %d %d\n", block[38], block[39], block[78], pair[0], pair[1]);
    return 0;
}
