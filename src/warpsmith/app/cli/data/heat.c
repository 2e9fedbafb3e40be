/* Heat in a rod of N pieces: each step makes every piece the mean of its neighbors. */
#include <stdio.h>
#include <stdlib.h>

static void step(int n, const double *restrict old, double *restrict new)
{
    for (int i = 1; i < n - 1; i++)
        new[i] = 0.5 * old[i] + 0.25 * (old[i - 1] + old[i + 1]);
}

static double heat(int n, const double *a)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += a[i];
    return sum;
}

int main(void)
{
    int n = 1000;
    double *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b);
    if (!a || !b)
        return 1;
    for (int i = 0; i < n; i++)
        a[i] = b[i] = i == n / 2 ? 1000.0 : 0.0;
    for (int t = 0; t < 20; t++) {
        step(n, a, b);
        step(n, b, a);
    }
    printf("%.6f\n", heat(n, a));
    free(a);
    free(b);
    return 0;
}
