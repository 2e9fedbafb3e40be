/* Elements that are kept stand one behind the other, in their order: indices, pointers, unsigned, a helper, a macro.
 * RUN: port
 * EXPECT: kept/i scan ported: a running value (+: k) is the only carried dependence
 * EXPECT: behind/i scan ported: a running value (+: k) is the only carried dependence
 * EXPECT: moved/i scan ported: a running value (+: to_at) is the only carried dependence, after index-pointer=moved/i,variable=to
 * EXPECT: places/i scan ported: a running value (+: count) is the only carried dependence
 * EXPECT: parts/i scan ported: a running value (+: total, +: low, +: high) is the only carried dependence
 * EXPECT: runs/i scan ported: a running value (+: k) is the only carried dependence
 * EXPECT: squeezed/i scan ported: a running value (+: k) is the only carried dependence
 * EXPECT: main/i parallel ported: no carried dependence (proven)
 * VERIFY: pass
 */
#include <stdio.h>
#include <stdlib.h>

#define KEEP(v) ((v) > 40)
#define PUSH(array, count, value) (array)[(count)++] = (value)

typedef struct {
    int place;
    double value;
} pair;

static int x[1500], a[1500], b[1500];

static int odd(int v)
{
    return v % 2 != 0;
}

static int kept(int n, const int *restrict from, int *restrict to)
{
    int k = 0;
    for (int i = 0; i < n; i++)
        if (from[i] > 10)
            to[k++] = from[i] * 2;
    return k;
}

static size_t behind(size_t n, const int *from, unsigned *to, size_t k)
{
    for (size_t i = 0; i < n; ++i) {
        if (!odd(from[i]))
            continue;
        to[k] = (unsigned)i;
        k += 1;
    }
    return k;
}

static double *moved(int n, const int *restrict from, double *restrict to)
{
    for (int i = 0; i < n; i++)
        if (KEEP(from[i]))
            *to++ = from[i] / 2.0;
    return to;
}

static unsigned places(unsigned n, const int *from, pair *to)
{
    unsigned count = 0;
    for (unsigned i = 0; i != n; i++) {
        int v = from[i];
        if (v > 20 && i % 3) {
            to[count].place = i;
            to[count].value = v;
            count++;
        }
    }
    return count;
}

/* two in one loop, and a sum of what is kept */
static int parts(int *sum)
{
    int low = 0, high = 1500, total = 0;
    for (int i = 0; i < 1500; i++) {
        if (x[i] < 50) {
            PUSH(a, low, x[i]);
            total += x[i];
        } else
            b[--high] = i;
    }
    *sum = total;
    return low - high;
}

/* two elements at once */
static int runs(int n, const int *restrict from, long *restrict to)
{
    int k = 0;
    for (int i = 1; i < n; i++)
        if (from[i] != from[i - 1]) {
            to[2 * k] = i;
            to[2 * k + 1] = from[i];
            k = k + 1;
        }
    return k;
}

/* the caller may give the same array: then the loop runs as it is */
static int squeezed(int n, const int *from, int *to)
{
    int k = 0, i;
    for (i = n - 1; i >= 0; i--)
        if (from[i]) {
            to[k] = from[i];
            ++k;
        }
    return k + i;
}

int main(void)
{
    int n = 1500, sum;
    int *to = malloc(n * sizeof *to);
    unsigned *at = malloc((n + 3) * sizeof *at);
    double *values = malloc(n * sizeof *values);
    pair *pairs = malloc(n * sizeof *pairs);
    long *starts = malloc(2 * n * sizeof *starts);
    for (int i = 0; i < n; i++) {
        x[i] = i * 37 % 101;
        to[i] = -i;
        at[i] = 7;
        values[i] = 0.5;
        pairs[i].place = pairs[i].value = 0;
        starts[i] = starts[n + i] = -1;
    }
    int k = kept(n, x, to);
    printf("%d %d %d %d\n", k, to[0], to[k - 1], to[k]);
    size_t m = behind(n, x, at, 3);
    printf("%zu %u %u\n", m, at[3], at[m - 1]);
    double *end = moved(n, x, values);
    printf("%d %g %g\n", (int)(end - values), values[0], end[-1]);
    unsigned count = places(n, x, pairs);
    printf("%u %d %g\n", count, pairs[0].place, pairs[count - 1].value);
    int both = parts(&sum);
    printf("%d %d %d %d\n", both, sum, a[1], b[1499]);
    int steps = runs(n, x, starts);
    printf("%d %ld %ld\n", steps, starts[2], starts[2 * steps - 1]);
    k = squeezed(n, x, to);
    printf("%d %d %d\n", k, to[0], to[k]);
    k = squeezed(n, to, to);
    printf("%d %d %d\n", k, to[0], to[k]);
    return kept(0, x, to);
}
