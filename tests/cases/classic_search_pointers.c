/* Searches through pointers: to the end of the array, between two pointers, two arrays side by side, down.
 * RUN: port --all
 * EXPECT: position/for reduction ported: an associative update (min: p_k_first) is the only carried dependence, after canonicalize=position/for, find-first=position/p_k
 * EXPECT: locate/for reduction ported: an associative update (min: first_k_first) is the only carried dependence, after canonicalize=locate/for, find-first=locate/first_k
 * EXPECT: equal/while reduction ported: an associative update (min: n_k_first) is the only carried dependence, after canonicalize=equal/while, find-first=equal/n_k
 * EXPECT: last_above/while reduction ported: an associative update (min: p_k2_first) is the only carried dependence, after canonicalize=last_above/while, find-first=last_above/p_k2
 * EXPECT: main/i parallel ported: no carried dependence (proven)
 * VERIFY: pass
 */
#include <stdio.h>
#include <stdlib.h>

static long position(const int *a, int n, int x)
{
    const int *end = a + n;
    const int *p;
    for (p = a; p != end; ++p)
        if (*p == x)
            break;
    return p == end ? -1 : p - a;
}

static const int *locate(const int *first, const int *last, int x)
{
    for (; first != last; ++first)
        if (*first == x)
            return first;
    return NULL;
}

static int equal(const int *p, const int *q, int n)
{
    while (n-- > 0)
        if (*p++ != *q++)
            return 0;
    return 1;
}

static int last_above(const int *a, int n, int x)
{
    const int *p = a + n;
    while (p > a && p[-1] <= x)
        p--;
    return (int)(p - a);
}

int main(void)
{
    int n = 2000;
    int *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b);
    for (int i = 0; i < n; i++) {
        a[i] = i * 37 % 2003;
        b[i] = a[i];
    }
    printf("%ld %ld %ld\n", position(a, n, a[n - 2]), position(a, n, -5), position(a, 0, 3));
    const int *at = locate(a + 10, a + n, a[1500]);
    printf("%d %d\n", at ? (int)(at - a) : -1, locate(a, a + 100, -1) != NULL);
    /* what is looked for stands behind the end of the block that may be read */
    printf("%ld\n", position(a, n + 50, a[n - 1]));
    printf("%d", equal(a, b, n));
    b[n - 3]++;
    printf(" %d %d\n", equal(a, b, n), equal(a, b, -2));
    printf("%d %d\n", last_above(a, n, 1990), last_above(a, n, 5000));
    free(a);
    free(b);
    return 0;
}
