/* Tables against the formula, lists against all pairs, forces against differences of the energy. */
#include <stdlib.h>

#include "cells.h"
#include "check.h"
#include "forces.h"
#include "potential.h"

static void tables_follow_the_formula(const struct potential *u, const struct system *s)
{
    const struct species *a = &s->species[0], *b = &s->species[1];
    double shift = pair_energy(a, b, u->cutoff * u->cutoff);

    for (double r2 = 0.85; r2 < u->cutoff * u->cutoff; r2 += 0.07) {
        near("energy", potential_at(u, u->energy[1], r2), pair_energy(a, b, r2) - shift, 2e-3);
        near("force", potential_at(u, u->force[1], r2), pair_force(a, b, r2), 5e-2);
    }
    near("bottom", pair_energy(a, a, cbrt(2.0)), -1.0, 1e-12);
    near("no force there", pair_force(a, a, cbrt(2.0)), 0.0, 1e-12);
}

static void lists_give_what_all_pairs_give(struct system *s, const struct neighbours *nb, const struct potential *u)
{
    double *f = malloc((size_t)s->n * DIMENSIONS * sizeof *f);
    double energy, virial;

    if (f == NULL)
        exit(1);
    forces_all_pairs(s, u);
    energy = s->potential;
    virial = s->virial;
    for (int i = 0; i < s->n; i++)
        for (int d = 0; d < DIMENSIONS; d++)
            f[i * DIMENSIONS + d] = s->particles[i].f[d];
    forces_compute(s, nb, u);
    near("energy of all", s->potential, energy, 1e-9 * fabs(energy));
    near("virial of all", s->virial, virial, 1e-9 * fabs(virial) + 1e-9);
    for (int i = 0; i < s->n; i++)
        for (int d = 0; d < DIMENSIONS; d++)
            near("force on one", s->particles[i].f[d], f[i * DIMENSIONS + d], 1e-9);
    free(f);
}

static void force_is_the_slope(struct system *s, const struct neighbours *nb, const struct potential *u)
{
    const double h = 1e-4;
    double slope, there = s->particles[5].r[0];

    forces_compute(s, nb, u);
    slope = s->particles[5].f[0];
    s->particles[5].r[0] = there + h;
    forces_compute(s, nb, u);
    double after = s->potential;
    s->particles[5].r[0] = there - h;
    forces_compute(s, nb, u);
    near("slope", slope, -(after - s->potential) / (2.0 * h), 2e-2 * (1.0 + fabs(slope)));
    s->particles[5].r[0] = there;
}

int main(void)
{
    struct system s;
    struct cells c;
    struct neighbours nb;
    struct potential u;

    near("system", system_create(&s, 4, 0.8, 1.0, 3, 11), 0, 0);
    near("cells", cells_create(&c, &s, 1.9), 0, 0);
    near("lists", neighbours_create(&nb, &s, 1.9, 120), 0, 0);
    near("tables", potential_create(&u, &s, 1.6, 1024), 0, 0);
    for (int i = 0; i < s.n; i++)
        for (int d = 0; d < DIMENSIONS; d++)
            s.particles[i].r[d] = wrapped(s.particles[i].r[d] + 0.1 * (random_uniform() - 0.5), s.box[d]);
    cells_sort(&c, &s);
    near("room", neighbours_build(&nb, &c, &s), 0, 0);

    tables_follow_the_formula(&u, &s);
    lists_give_what_all_pairs_give(&s, &nb, &u);
    force_is_the_slope(&s, &nb, &u);

    potential_destroy(&u);
    neighbours_destroy(&nb);
    cells_destroy(&c);
    system_destroy(&s);
    return verdict("forces");
}
