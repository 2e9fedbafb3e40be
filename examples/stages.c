/* Two stages in one loop: an iteration reads what the one before it has written. In two loops, each stage is parallel. */
#include <stdio.h>

#define N 1000

static double a[N], b[N];

static void stages(int n, double *restrict x, double *restrict y)
{
    for (int i = 1; i < n; i++) {
        x[i] = 2 * y[i];
        y[i] = x[i - 1] + 1;
    }
}

int main(void)
{
    double sum = 0;
    for (int i = 0; i < N; i++) {
        a[i] = i % 7;
        b[i] = i % 11;
    }
    stages(N, a, b);
    for (int i = 0; i < N; i++)
        sum += b[i];
    printf("%.1f\n", sum);
    return 0;
}
