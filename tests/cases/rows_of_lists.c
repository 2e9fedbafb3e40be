/* Lists of neighbors behind a struct: what tests the guards names where rows start, and the user's loop does as well.
 * RUN: port --all
 * EXPECT: build/d parallel ported: no carried dependence (proven)
 * EXPECT: build/for reduction ported: taken from #pragma omp parallel for reduction(+ : overflow) in line 31, which could not be proved, after localize=build/for, row-starts=build/for, localize=build/i/for
 * EXPECT: build/for/for unanalyzable ported: not a counted loop: its bound home[i] may be written by nb->list[i][found++] in line 36
 * EXPECT: main/i unanalyzable host: calloc allocates memory
 * EXPECT: main/i#2 reduction ported: an associative update (+: sum) is the only carried dependence
 * EXPECT: main/i#2/k reduction ported: an associative update (+: sum) is the only carried dependence
 * EXPECT: main/i#3 unanalyzable host: free frees memory
 * VERIFY: pass
 */
#include <stdio.h>
#include <stdlib.h>

#define N 40
#define MOST 6

struct lists {
    int n, most, builds;
    int **list;
    int *count;
};

int build(struct lists *nb, const int *home)
{
    int overflow = 0;
    double reach[3];

    for (int d = 0; d < 3; d++)
        reach[d] = home[d] % 2;
#pragma omp parallel for reduction(+ : overflow)
    for (int i = 0; i < nb->n; i++) {
        int found = (int)reach[i % 3];
        for (int k = 0; k < home[i]; k++) {
            if (found < nb->most)
                nb->list[i][found++] = k * i;
            else
                overflow++;
        }
        nb->count[i] = found;
    }
    nb->builds++;
    return overflow;
}

int main(void)
{
    struct lists nb = { N, MOST, 0, malloc(N * sizeof(int *)), malloc(N * sizeof(int)) };
    int *home = malloc(N * sizeof *home);
    long sum = 0;

    for (int i = 0; i < N; i++) {
        nb.list[i] = calloc(MOST, sizeof(int));
        home[i] = i % 9;
    }
    int overflow = build(&nb, home);
    for (int i = 0; i < N; i++)
        for (int k = 0; k < nb.count[i]; k++)
            sum += nb.list[i][k];
    printf("%d %ld %d\n", overflow, sum, nb.builds);
    for (int i = 0; i < N; i++)
        free(nb.list[i]);
    free(nb.list);
    free(nb.count);
    free(home);
    return 0;
}
