/* Sums and histograms against their definitions. */
#include "measure.h"

#include <stdlib.h>

#include "check.h"
#include "integrate.h"

int main(void)
{
    struct system s;
    struct histogram pairs, speeds;
    struct density_map map;
    double momentum[DIMENSIONS], *start, before;
    long all = 0;

    near("system", system_create(&s, 4, 0.5, 1.5, 4, 3), 0, 0);
    near("pairs", histogram_create(&pairs, 40, s.box[0] / 40), 0, 0);
    near("speeds", histogram_create(&speeds, 10, 0.2), 0, 0);
    near("map", density_create(&map, 5, 3), 0, 0);
    start = malloc((size_t)s.n * DIMENSIONS * sizeof *start);
    if (start == NULL)
        return 1;

    total_momentum(&s, momentum);
    near("at rest", fabs(momentum[0]) + fabs(momentum[1]) + fabs(momentum[2]), 0.0, 1e-11);

    before = temperature(&s);
    for (int k = 0; k < 40; k++)
        thermostat(&s, 2.0 * before, 0.1, 1.0);
    near("warmer", temperature(&s), 2.0 * before, 0.05 * before);

    histogram_pairs(&pairs, &s);
    for (int k = 0; k < pairs.bins; k++)
        all += pairs.count[k];
    near("every pair twice", (double)all, (double)s.n * (s.n - 1), 0);

    histogram_speeds(&speeds, &s);
    all = 0;
    for (int k = 0; k < speeds.bins; k++)
        all += speeds.count[k];
    near("everyone once", (double)all, s.n, 0);

    density_add(&map, &s);
    near("over the floor", density_total(&map), s.n, 0);
    near("over a corner", map.cell[0][0], 4, 0);
    near("over the middle", map.cell[1][1], 8, 0);

    /* in free flight everyone moves by v t, out of the box as well */
    positions_unwrapped(&s, start);
    for (int k = 0; k < 100; k++)
        drift(&s, 0.05);
    double way = 0.0;
    for (int i = 0; i < s.n; i++)
        way += 25.0 * dot(s.particles[i].v, s.particles[i].v);
    near("free flight", mean_square_displacement(&s, start), way / s.n, 1e-9 * way);

    free(start);
    density_destroy(&map);
    histogram_destroy(&pairs);
    histogram_destroy(&speeds);
    system_destroy(&s);
    return verdict("measure");
}
