/* Searches that end where they find something: what they may read on is tested, else the user's own loop runs.
 * RUN: port
 * EXPECT: find/i reduction ported: an associative update (min: i_first) is the only carried dependence, after find-first=find/i
 * EXPECT: position/i reduction ported: an associative update (min: i_first2) is the only carried dependence, after find-first=position/i
 * EXPECT: below/i reduction ported: an associative update (max: i_first3) is the only carried dependence, after find-first=below/i
 * EXPECT: main/i parallel ported: no carried dependence (proven)
 * VERIFY: pass
 */
#include <stdio.h>
#include <stdlib.h>
static int x[3000];
static int is(int v, int key)
{
    return v == key;
}


static int find(int n, const int *a, int key)
{
    for (int i = 0; i < n; i++)
        if (a[i] == key)
            return i;
    return -1;
}

static int position(unsigned n, int key)
{
    unsigned i;
    for (i = 0; i < n; i++) {
        int v = x[i];
        if (is(v, key))
            break;
    }
    return (int)i;
}

/* leaves with values, downwards */
static int below(int n, const double *restrict a, const double *restrict b, double *which)
{
    int found = -1;
    for (int i = n - 1; i >= 0; i--)
        if (a[i] < b[i]) {
            found = i;
            *which = a[i];
            break;
        }
    return found;
}

int main(void)
{
    int n = 3000;
    double *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b), w = 0;
    for (int i = 0; i < n; i++) {
        x[i] = i * 37 % 3001;
        a[i] = i % 1000;
        b[i] = 2 * (i % 500) - 100;
    }
    printf("%d %d\n", find(n, x, 111), find(n, x + 5, 111));
    printf("%d %d\n", find(n, x, -5), find(0, x, 111));
    /* it is the last element: reading on would leave the array */
    printf("%d\n", find(n + 1000, x, x[n - 1]));
    printf("%d %d\n", position(n, 222), position(n, -222));
    printf("%d", below(n, a, b, &w));
    printf(" %g\n", w);
    return 0;
}
