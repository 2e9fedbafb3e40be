/* Which element an iteration updates is data: indivisible updates.
 * RUN: port
 * EXPECT: main/i parallel ported: no carried dependence (proven)
 * EXPECT: main/i#2 reduction ported: an associative update (+: count) is the only carried dependence
 * EXPECT: main/i#3 reduction ported: an associative update (+: sum, +: wide, max: most) is the only carried dependence
 * EXPECT: main/i#4 unanalyzable host: printf writes output
 * VERIFY: pass
 */
#include <stdio.h>

#define N 1003

static int key[N], count[16];
static double weight[N], sum[16], most[16];
static long wide[16];

int main(void)
{
    for (int i = 0; i < N; i++) {
        key[i] = i * 31 % 97;
        weight[i] = 0.5 * (i % 41);
    }
    for (int i = 0; i < N; i++)
        count[key[i] & 15]++;
    for (int i = 0; i < N; i++) {
        sum[key[i] & 15] += weight[i];
        wide[key[i] & 15] -= key[i];
        if (weight[i] > most[key[i] & 15])
            most[key[i] & 15] = weight[i];
    }
    for (int i = 0; i < 16; i++)
        printf("%d %g %ld %g\n", count[i], sum[i], wide[i], most[i]);
    return 0;
}
