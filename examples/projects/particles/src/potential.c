#include "potential.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Particles nearer than this share of the cutoff do not meet at the temperatures that we care for. */
#define LEAST 0.5

/* Lorentz and Berthelot. */
static void mix(const struct species *a, const struct species *b, double *epsilon, double *sigma2)
{
    double sigma = 0.5 * (a->sigma + b->sigma);

    *epsilon = sqrt(a->epsilon * b->epsilon);
    *sigma2 = sigma * sigma;
}

double pair_energy(const struct species *a, const struct species *b, double r2)
{
    double epsilon, sigma2, s6;

    mix(a, b, &epsilon, &sigma2);
    s6 = sigma2 / r2;
    s6 = s6 * s6 * s6;
    return 4.0 * epsilon * (s6 * s6 - s6);
}

double pair_force(const struct species *a, const struct species *b, double r2)
{
    double epsilon, sigma2, s6;

    mix(a, b, &epsilon, &sigma2);
    s6 = sigma2 / r2;
    s6 = s6 * s6 * s6;
    return 24.0 * epsilon * (2.0 * s6 * s6 - s6) / r2;
}

static double **new_table(int rows, int columns)
{
    double **table = malloc((size_t)rows * sizeof *table);

    if (table == NULL)
        return NULL;
    table[0] = malloc((size_t)rows * columns * sizeof **table);
    if (table[0] == NULL) {
        free(table);
        return NULL;
    }
    for (int k = 1; k < rows; k++)
        table[k] = table[0] + (size_t)k * columns;
    return table;
}

static void free_table(double **table)
{
    if (table != NULL)
        free(table[0]);
    free(table);
}

int potential_create(struct potential *u, const struct system *s, double cutoff, int bins)
{
    u->cutoff = cutoff;
    u->types = s->types;
    u->bins = bins;
    u->r2_least = LEAST * LEAST;
    u->per_bin = (bins - 1) / (cutoff * cutoff - u->r2_least);
    u->energy = new_table(s->types * s->types, bins);
    u->force = new_table(s->types * s->types, bins);
    if (u->energy == NULL || u->force == NULL) {
        potential_destroy(u);
        return -1;
    }

    for (int a = 0; a < s->types; a++)
        for (int b = 0; b < s->types; b++) {
            const struct species *sa = &s->species[a], *sb = &s->species[b];
            const double shift = pair_energy(sa, sb, cutoff * cutoff);
            const int row = a * s->types + b;

#pragma omp parallel for
            for (int k = 0; k < bins; k++) {
                double r2 = u->r2_least + k / u->per_bin;
                u->energy[row][k] = pair_energy(sa, sb, r2) - shift;
                u->force[row][k] = pair_force(sa, sb, r2);
            }
        }
    return 0;
}

void potential_destroy(struct potential *u)
{
    free_table(u->energy);
    free_table(u->force);
    memset(u, 0, sizeof *u);
}
