/* Arrays, a bound and a number behind a struct: they are read into variables before the loops. The number is a double,
 * as what is stored: a test of the addresses tells it apart. Where no step is made there need not be a grid.
 * RUN: port
 * EXPECT: step/t sequential host: may carry an anti dependence on now, under a condition that depends on data
 * EXPECT: step/t/i parallel-after ported: parallel after localize=step/t
 * EXPECT: step/t/i#2 parallel-after ported: parallel after localize=step/t
 * EXPECT: number/for parallel-after ported: parallel after localize=number/for
 * EXPECT: main/for parallel-after ported: parallel after localize=main/for
 * VERIFY: pass
 */
#include <stdio.h>
#include <stdlib.h>

struct grid {
    int n;
    double dt;
    double *now, *next;
    int *id;
};

static void step(struct grid *g, int steps)
{
    for (int t = 0; t < steps; t++) {
        for (int i = 1; i < g->n - 1; i++)
            g->next[i] = 0.5 * (g->now[i - 1] + g->now[i + 1]) * g->dt;
        for (int i = 1; i < g->n - 1; i++)
            g->now[i] = g->next[i];
    }
}

static void number(struct grid *g)
{
    for (int i = 0; i < g->n; i++)
        g->id[i] = g->n - i;
}

int main(void)
{
    struct grid g = {40, 0.9, calloc(40, 8), calloc(40, 8), calloc(40, 4)};
    for (int i = 0; i < g.n; i++)
        g.now[i] = i % 7;
    step(&g, 3);
    step(NULL, 0);
    number(&g);
    printf("%g %g %d\n", g.now[3], g.next[38], g.id[7]);
    return 0;
}
