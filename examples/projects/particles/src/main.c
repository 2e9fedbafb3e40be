/* particles: molecular dynamics of a Lennard-Jones fluid, in reduced units. See README.md. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cells.h"
#include "forces.h"
#include "integrate.h"
#include "measure.h"
#include "potential.h"
#include "system.h"

struct options {
    int per_side;
    int steps;
    int report;
    int second;   /* every so manyth particle is of the second species */
    double density;
    double temperature;
    double dt;
    double skin;
    double cutoff;
    int hold;     /* steps at the beginning with a thermostat */
    int list_rdf; /* print g(r) */
};

static int read_options(struct options *o, int argc, char **argv)
{
    *o = (struct options){4, 50, 10, 0, 0.8442, 0.728, 0.004, 0.3, 1.6, 0, 0};
    for (int k = 1; k < argc; k++) {
        const char *name = argv[k];

        if (strcmp(name, "--rdf") == 0) {
            o->list_rdf = 1;
            continue;
        }
        if (k + 1 == argc)
            return -1;
        k++;
        if (strcmp(name, "--side") == 0)
            o->per_side = atoi(argv[k]);
        else if (strcmp(name, "--steps") == 0)
            o->steps = atoi(argv[k]);
        else if (strcmp(name, "--report") == 0)
            o->report = atoi(argv[k]);
        else if (strcmp(name, "--second") == 0)
            o->second = atoi(argv[k]);
        else if (strcmp(name, "--hold") == 0)
            o->hold = atoi(argv[k]);
        else if (strcmp(name, "--density") == 0)
            o->density = atof(argv[k]);
        else if (strcmp(name, "--temperature") == 0)
            o->temperature = atof(argv[k]);
        else if (strcmp(name, "--dt") == 0)
            o->dt = atof(argv[k]);
        else if (strcmp(name, "--skin") == 0)
            o->skin = atof(argv[k]);
        else if (strcmp(name, "--cutoff") == 0)
            o->cutoff = atof(argv[k]);
        else
            return -1;
    }
    return o->per_side >= 2 && o->steps >= 0 && o->density > 0.0 && o->cutoff > 0.6 ? 0 : -1;
}

/* New lists where the old ones may miss somebody. Returns 0, or -1 where a row overflows. */
static int refresh(struct neighbours *nb, struct cells *c, const struct system *s, double skin)
{
    if (nb->builds > 0 && !neighbours_stale(nb, s, skin))
        return 0;
    cells_sort(c, s);
    return neighbours_build(nb, c, s) == 0 ? 0 : -1;
}

static void print_rdf(const struct histogram *pairs, const struct system *s)
{
    for (int k = 0; k < pairs->bins; k++)
        printf("rdf %.3f %.4f\n", (k + 0.5) * pairs->width, radial_distribution(pairs, s, k));
}

static int run(const struct options *o, struct system *s, struct cells *c, struct neighbours *nb,
               struct potential *u)
{
    struct histogram pairs, speeds;
    struct density_map floor_map;
    double *start = malloc((size_t)s->n * DIMENSIONS * sizeof *start);
    double first_energy = 0.0, drift_of_energy = 0.0, momentum[DIMENSIONS];
    int samples = 0, bad;

    bad = histogram_create(&pairs, 20, 0.5 * s->box[0] / 20);
    bad |= histogram_create(&speeds, 24, 0.25);
    bad |= density_create(&floor_map, 6, 5);
    bad |= start == NULL;
    if (!bad) {
        positions_unwrapped(s, start);
        bad = refresh(nb, c, s, o->skin);
    }
    if (!bad)
        forces_compute(s, nb, u);

    for (int step = 1; !bad && step <= o->steps; step++) {
        half_kick(s, o->dt);
        drift(s, o->dt);
        bad = refresh(nb, c, s, o->skin);
        forces_compute(s, nb, u);
        half_kick(s, o->dt);
        if (step <= o->hold)
            thermostat(s, o->temperature, o->dt, 25.0 * o->dt);
        if (step == o->hold + 1)
            first_energy = kinetic_energy(s) + s->potential;
        if (o->report > 0 && step % o->report == 0) {
            double energy = kinetic_energy(s) + s->potential;

            if (step > o->hold)
                drift_of_energy = fmax(drift_of_energy, fabs(energy - first_energy) / s->n);
            histogram_pairs(&pairs, s);
            histogram_speeds(&speeds, s);
            density_add(&floor_map, s);
            samples++;
            printf("step %d energy %.6f temperature %.6f pressure %.6f x0 %.6f\n", step, energy / s->n, temperature(s),
                   pressure(s), s->particles[0].r[0]);
        }
    }
    if (!bad) {
        long counted = 0;

        for (int k = 0; k < speeds.bins; k++)
            counted += speeds.count[k];
        total_momentum(s, momentum);
        printf("particles %d samples %d builds %ld\n", s->n, samples, nb->builds);
        printf("momentum %.1e drift %.2e moved %.6f\n",
               fabs(momentum[0]) + fabs(momentum[1]) + fabs(momentum[2]), drift_of_energy,
               mean_square_displacement(s, start));
        printf("seen %ld floor %.1f\n", counted, density_total(&floor_map));
        if (o->list_rdf && samples > 0)
            print_rdf(&pairs, s);
    }
    free(start);
    histogram_destroy(&pairs);
    histogram_destroy(&speeds);
    density_destroy(&floor_map);
    return bad;
}

int main(int argc, char **argv)
{
    struct options o;
    struct system s;
    struct cells c;
    struct neighbours nb;
    struct potential u;
    int bad;

    if (read_options(&o, argc, argv) != 0) {
        fprintf(stderr,
                "usage: %s [--side N] [--steps N] [--report K] [--second K] [--hold N] [--density X]\n"
                "       [--temperature X] [--dt X] [--skin X] [--cutoff X] [--rdf]\n",
                argv[0]);
        return 2;
    }
    memset(&s, 0, sizeof s);
    memset(&c, 0, sizeof c);
    memset(&nb, 0, sizeof nb);
    memset(&u, 0, sizeof u);
    bad = system_create(&s, o.per_side, o.density, o.temperature, o.second, 42);
    bad = bad || cells_create(&c, &s, o.cutoff + o.skin);
    bad = bad || neighbours_create(&nb, &s, o.cutoff + o.skin, 120);
    bad = bad || potential_create(&u, &s, o.cutoff, 1024);
    bad = bad || run(&o, &s, &c, &nb, &u);
    if (bad)
        fprintf(stderr, "%s: no memory, or a list is full\n", argv[0]);
    potential_destroy(&u);
    neighbours_destroy(&nb);
    cells_destroy(&c);
    system_destroy(&s);
    return bad ? 1 : 0;
}
