/* A sum, or a running value, that a kernel leaves behind and that bounds later loops: the host computes their launches
 * from its own copy.
 * RUN: port --all
 * EXPECT: main/m parallel ported: no carried dependence (proven)
 * EXPECT: main/m#2 scan ported: a running value (+: total) is the only carried dependence
 * EXPECT: main/m#3 reduction ported: an associative update (+: first) is the only carried dependence
 * EXPECT: main/j parallel ported: no carried dependence (proven)
 * EXPECT: main/m#4 reduction ported: an associative update (+: last) is the only carried dependence
 * EXPECT: main/j#2 reduction ported: an associative update (+: s) is the only carried dependence
 * EXPECT: main/i sequential host: carries an output dependence on b
 * EXPECT: main/i/j parallel ported: no carried dependence (proven)
 * EXPECT: main/m#5 reduction ported: an associative update (+: total) is the only carried dependence
 * EXPECT: main/j#3 parallel ported: no carried dependence (proven)
 * EXPECT: main/j#4 unanalyzable host: printf writes output
 * VERIFY: pass
 */
#include <stdio.h>

static double a[900], b[900];
static int many[40], offset[40];

int main(void)
{
    int total = 0, first = 0, last = 0;
    for (int m = 0; m < 40; m++)
        many[m] = 5 + m % 7;
    for (int m = 0; m < 40; m++) {
        offset[m] = total;
        total += many[m];
    }
    for (int m = 0; m < 40; m++)
        first += many[m] > 9;
    for (int j = first; j < total; j++)
        a[j] = 0.25 * (j * 13 % 101) + total;
    for (int m = 0; m < 40; m++)
        last += many[m] < 8;
    double s = 0;
    for (int j = first; j < total; j++)
        s += a[j] * last;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < last; j++)
            b[i * 20 + j] = a[first + j] + s;
    total = 0;
    for (int m = 0; m < 40; m++)
        total += many[m] % 3;
    for (int j = 0; j < total; j++)
        b[100 + j] = a[j] + total;
    printf("%g %d %d %g %g\n", s, total, offset[11], b[41], b[100 + total - 1]);
    for (int j = 0; j < 900; j += 50)
        printf("%g %g\n", a[j], b[j]);
    return 0;
}
