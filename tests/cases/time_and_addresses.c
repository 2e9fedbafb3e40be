/* The output holds the time and an address: they differ from run to run.
 * RUN: port
 * EXPECT: main/i parallel ported: no carried dependence (proven)
 * VERIFY: pass
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double a[100];

int main(void)
{
    char *heap = malloc(16);
    for (int i = 0; i < 100; i++)
        a[i] = 3.0 * i;
    printf("clock %ld at %p: a[99] = %g\n", (long)clock(), (void *)heap, a[99]);
    free(heap);
    return 0;
}
