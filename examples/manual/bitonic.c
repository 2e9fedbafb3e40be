/* Bitonic sort: for one j, i and i ^ j are partners of each other, and the lesser one compares. */
#include <stdio.h>

#define N 64

static int a[N];

static void bitonic(int *x, int n)
{
    int i, j, k, l;
    for (k = 2; k <= n; k *= 2)
        for (j = k / 2; j > 0; j /= 2)
            for (i = 0; i < n; i++) {
                l = i ^ j;
                if (l > i) {
                    if (((i & k) == 0 && x[i] > x[l]) || ((i & k) != 0 && x[i] < x[l])) {
                        int t = x[i];
                        x[i] = x[l];
                        x[l] = t;
                    }
                }
            }
}

int main(void)
{
    for (int i = 0; i < N; i++)
        a[i] = (i * 37 + 11) % 101;
    bitonic(a, N);
    for (int i = 0; i < N; i++)
        printf("%d ", a[i]);
    printf("\n");
    return 0;
}
