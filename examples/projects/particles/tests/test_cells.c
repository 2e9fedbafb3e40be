/* The lists hold exactly who is near. */
#include "cells.h"

#include "check.h"

static int near_pairs(const struct system *s, double reach)
{
    int pairs = 0;

    for (int i = 0; i < s->n; i++)
        for (int j = 0; j < s->n; j++) {
            double r2 = 0.0;
            for (int d = 0; d < DIMENSIONS; d++) {
                double x = nearest_image(s->particles[i].r[d] - s->particles[j].r[d], s->box[d]);
                r2 += x * x;
            }
            pairs += i != j && r2 < reach * reach;
        }
    return pairs;
}

static void shake(struct system *s)
{
    for (int i = 0; i < s->n; i++)
        for (int d = 0; d < DIMENSIONS; d++)
            s->particles[i].r[d] = wrapped(s->particles[i].r[d] + random_uniform(), s->box[d]);
}

static void lists_are_complete(int per_side, double reach)
{
    struct system s;
    struct cells c;
    struct neighbours nb;
    int listed = 0;

    near("create", system_create(&s, per_side, 0.8, 1.0, 0, 7), 0, 0);
    near("cells", cells_create(&c, &s, reach), 0, 0);
    near("lists", neighbours_create(&nb, &s, reach, 150), 0, 0);
    shake(&s);
    cells_sort(&c, &s);
    near("sorted", c.start[c.total], s.n, 0);
    near("room", neighbours_build(&nb, &c, &s), 0, 0);
    for (int i = 0; i < s.n; i++)
        listed += nb.count[i];
    near("pairs", listed, near_pairs(&s, reach), 0);
    near("fresh", neighbours_stale(&nb, &s, 0.3), 0, 0);
    s.particles[3].r[1] = wrapped(s.particles[3].r[1] + 0.2, s.box[1]);
    near("stale", neighbours_stale(&nb, &s, 0.3), 1, 0);
    neighbours_destroy(&nb);
    cells_destroy(&c);
    system_destroy(&s);
}

int main(void)
{
    lists_are_complete(5, 1.5);
    lists_are_complete(4, 2.0);
    lists_are_complete(3, 2.5);
    return verdict("cells");
}
