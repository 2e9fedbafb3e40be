/* Gotos that lead on in a loop are branches, those that lead to the label behind it are breaks; on the host too the text
 * around what runs on the device is written so. Those that lead back, or cross each other, stay.
 * RUN: port --all
 * EXPECT: rows/t unanalyzable host: printf writes output
 * EXPECT: rows/t/i parallel ported: no carried dependence (proven)
 * EXPECT: rows/t/i#2 parallel ported: no carried dependence (proven)
 * EXPECT: rows/t/i#3 parallel ported: no carried dependence (proven)
 * EXPECT: choose/i parallel ported: no carried dependence (proven)
 * EXPECT: back/i unanalyzable host: a construct that is not modelled: goto again, which leads back or into a block
 * EXPECT: cross/i unanalyzable host: a construct that is not modelled: gotos whose ways cross
 * EXPECT: main/i parallel ported: no carried dependence (proven)
 * EXPECT: main/i#2 reduction ported: an associative update (+: s) is the only carried dependence
 * VERIFY: pass
 */
#include <stdio.h>

#define N 600
static double a[N], b[N], m[20][N];
static int w[N];

void rows(int n, int k)
{
    for (int t = 0; t < k; t++) {
        if (t % 3 == 1)
            goto next;
        for (int i = 0; i < n; i++) {
            if (b[i] > 2)
                goto skip;
            m[t][i] = a[i] * t;
skip:
            m[t][i] += 1;
        }
        printf("row %d\n", t);
        if (t == 8)
            goto next;
        for (int i = 0; i < n; i++)
            a[i] += m[t][i];
next:
        for (int i = 0; i < n; i++)
            b[i] = b[i] * 0.5 + t;
    }
}

void choose(int n)
{
    for (int i = 0; i < n; i++) {
        switch (w[i]) {
        case 1:
            goto add;
        case 2:
            goto subtract;
        }
add:
        a[i] += b[i];
        goto done;
subtract:
        a[i] -= b[i];
done:
        b[i] = a[i];
    }
}

void back(int n)
{
    for (int i = 0; i < n; i++) {
again:
        a[i] *= 0.5;
        if (a[i] > 1.0)
            goto again;
    }
}

void cross(int n)
{
    for (int i = 0; i < n; i++) {
        if (w[i] == 1)
            goto one;
        a[i] += 1;
        if (w[i] == 2)
            goto two;
        a[i] += 2;
one:
        a[i] *= 3;
two:
        b[i] = a[i];
    }
}

int main(void)
{
    for (int i = 0; i < N; i++) {
        a[i] = i % 11;
        b[i] = i % 5;
        w[i] = i % 4;
    }
    rows(N, 20);
    choose(N);
    back(N);
    cross(N);
    double s = 0;
    for (int i = 0; i < N; i++)
        s += a[i] + b[i] + m[8][i];
    printf("%.10g\n", s);
    return 0;
}
