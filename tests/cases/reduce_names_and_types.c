/* Accumulators of all kinds: global, static, typedef, bool, named like functions of CUDA; counters that live on; values
 * whose type is not the accumulator's.
 * RUN: port
 * EXPECT: seen/i reduction ported: an associative update (+: calls) is the only carried dependence
 * EXPECT: main/i parallel ported: no carried dependence (proven)
 * EXPECT: main/i#2 reduction ported: an associative update (max: max, +: sum, ||: any, &: all, ||: found, +: total) is the only carried dependence
 * EXPECT: main/j reduction ported: an associative update (+: wide, +: parts) is the only carried dependence
 * EXPECT: main/j#2 unanalyzable host: printf writes output
 * VERIFY: pass
 */
#include <stdbool.h>
#include <stdio.h>

#define N 1003

typedef float real;

static unsigned key[N];
static real x[N];
static long wide[8];
static double parts[8];
unsigned long total;

static int seen(int n)
{
    static int calls = 3;
    int i;
    for (i = 0; i < n; i++)
        calls += key[i] & 1;
    return calls + i;
}

int main(void)
{
    for (int i = 0; i < N; i++) {
        key[i] = (unsigned)(i * 31 % 97);
        x[i] = (real)(i % 29) * 0.5f;
    }
    real max = -1.0f, sum = 0.0f;
    bool any = false, all = true;
    int found = 0, i;
    for (i = 0; i < N; i++) {
        if (x[i] > max)
            max = x[i];
        sum += 0.25 * x[i];
        any = any || key[i] == 77;
        all &= key[i] < 97;
        if (x[i] > 13.5f)
            found = 1;
        total += key[i];
    }
    for (int j = 0; j < N; j++) {
        wide[key[j] & 7] -= key[j];
        parts[key[j] & 7] = parts[key[j] & 7] - key[j] - x[j];
    }
    printf("%g %g %d %d %d %d %lu %d\n", max, sum, any, all, found, i, total, seen(N));
    for (int j = 0; j < 8; j++)
        printf("%ld %.6g\n", wide[j], parts[j]);
    return 0;
}
