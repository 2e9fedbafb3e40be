/* Searches in while loops, in headers of for loops, down from the end, with the bound in the body, and a constant result.
 * RUN: port --all
 * EXPECT: position/while reduction ported: an associative update (min: i_first) is the only carried dependence, after canonicalize=position/while, find-first=position/i
 * EXPECT: header/for reduction ported: an associative update (min: i_first2) is the only carried dependence, after canonicalize=header/for, find-first=header/i
 * EXPECT: forever/while reduction ported: an associative update (min: i_first3) is the only carried dependence, after canonicalize=forever/while, find-first=forever/i
 * EXPECT: from_behind/for reduction ported: an associative update (min: i_k_first) is the only carried dependence, after canonicalize=from_behind/for, find-first=from_behind/i_k
 * EXPECT: contains/while reduction ported: an associative update (min: i_first4) is the only carried dependence, after canonicalize=contains/while, find-first=contains/i
 * EXPECT: main/i parallel ported: no carried dependence (proven)
 * VERIFY: pass
 */
#include <stdio.h>
#include <stdlib.h>

static int position(const int *a, int n, int x)
{
    int i = 0;
    while (i < n && a[i] != x)
        i++;
    return i;
}

static size_t header(const int *a, size_t n, int x)
{
    size_t i;
    for (i = 0; i < n && a[i] != x; i++)
        ;
    return i;
}

static int forever(const int *a, int n, int x)
{
    int i = 0;
    while (1) {
        if (i >= n)
            return -1;
        if (a[i] == x)
            return i;
        i++;
    }
}

static int from_behind(const int *a, int n, int x)
{
    for (int i = n; i-- > 0;)
        if (a[i] == x)
            return i;
    return -1;
}

static int contains(const int *a, unsigned n, int x)
{
    unsigned i = 0;
    while (i < n) {
        if (a[i] == x)
            return 1;
        ++i;
    }
    return 0;
}

int main(void)
{
    int n = 2000;
    int *a = malloc(n * sizeof *a);
    for (int i = 0; i < n; i++)
        a[i] = i * 37 % 1009;
    printf("%d %d %d\n", position(a, n, a[900]), position(a, n, -1), position(a, -3, 0));
    printf("%zu %zu\n", header(a, n, a[1000]), header(a, 0, 3));
    printf("%d %d\n", forever(a, n, a[1008]), forever(a, n, 5000));
    printf("%d %d\n", from_behind(a, n, a[5]), from_behind(a, n, -1));
    printf("%d %d\n", contains(a, n, a[777]), contains(a, n, -7));
    free(a);
    return 0;
}
