/* Random numbers that the time of day seeds: both programs start at the same time of day.
 * RUN: port
 * EXPECT: main/round unanalyzable host: rand keeps hidden state
 * EXPECT: main/round/i unanalyzable host: rand keeps hidden state
 * EXPECT: main/round/i#2 reduction ported: an associative update (+: count) is the only carried dependence
 * VERIFY: pass
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static int bits[40];

int main(void)
{
    int count = 0;
    srand((unsigned)time(NULL));
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < 40; i++)
            bits[i] = rand() / 1000 % 2;
        for (int i = 0; i < 40; i++)
            count += bits[i];
    }
    printf("%d\n", count / 10000);
    return 0;
}
