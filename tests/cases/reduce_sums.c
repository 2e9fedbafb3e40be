/* Sums, products and counts of several accumulators, some under a condition; a dot product.
 * RUN: port
 * EXPECT: main/i parallel ported: no carried dependence (proven)
 * EXPECT: main/i#2 reduction ported: an associative update (+: dot, +: positive, *: product) is the only carried dependence
 * EXPECT: main/i#3 reduction ported: an associative update (+: count, +: wraps) is the only carried dependence
 * VERIFY: pass
 */
#include <stdio.h>

#define N 1003

static double x[N], y[N];
static int key[N];

int main(void)
{
    for (int i = 0; i < N; i++) {
        x[i] = 1.0 / (i + 1);
        y[i] = 0.25 * i;
        key[i] = i * 31 % 97;
    }
    double dot = 0.0, positive = 1.5, product = 1.0;
    int count = 7;
    short wraps = 0;
    for (int i = 0; i < N; i++) {
        dot += x[i] * y[i];
        if (key[i] > 50)
            positive += y[i];
        product = product * (1.0 + 0.001 * x[i]);
    }
    for (int i = 0; i < N; i++) {
        if (key[i] % 3 == 0)
            count++;
        wraps -= key[i] * 31;
    }
    printf("%.9g %.9g %.9g %d %d\n", dot, positive, product, count, wraps);
    return 0;
}
