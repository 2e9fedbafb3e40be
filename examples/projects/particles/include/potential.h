/* The forces between two particles, in tables over the square of their distance: one row for each pair of species. */
#ifndef PARTICLES_POTENTIAL_H
#define PARTICLES_POTENTIAL_H

#include "system.h"

struct potential {
    double cutoff;
    int types;
    int bins;
    double r2_least;  /* where the tables begin */
    double per_bin;   /* bins for a unit of r squared */
    double **energy;  /* energy[a * types + b][bin], zero at the cutoff */
    double **force;   /* force over distance */
};

int potential_create(struct potential *u, const struct system *s, double cutoff, int bins);
void potential_destroy(struct potential *u);

/* Lennard-Jones as it is written in books, for the tables and the tests. */
double pair_energy(const struct species *a, const struct species *b, double r2);
double pair_force(const struct species *a, const struct species *b, double r2);

/* A value of a row, by a straight line between two bins. */
static inline double potential_at(const struct potential *u, const double *row, double r2)
{
    double x = (r2 - u->r2_least) * u->per_bin;
    int bin = x > 0.0 ? (int)x : 0;

    if (bin >= u->bins - 1)
        bin = u->bins - 2;
    x -= bin;
    return row[bin] + x * (row[bin + 1] - row[bin]);
}

#endif
