/* What is read off the particles. */
#ifndef PARTICLES_MEASURE_H
#define PARTICLES_MEASURE_H

#include "system.h"

struct histogram {
    int bins;
    double width; /* of a bin */
    long *count;
    long samples; /* how often it was filled */
};

/* How many particles were seen over each square of the floor. */
struct density_map {
    int nx, ny;
    double **cell; /* cell[x][y] */
};

double kinetic_energy(const struct system *s);
double temperature(const struct system *s);
double pressure(const struct system *s);
void total_momentum(const struct system *s, double momentum[DIMENSIONS]);
/* Mean square of the way since `start`, which holds x y z of each particle then. */
double mean_square_displacement(const struct system *s, const double *start);
void positions_unwrapped(const struct system *s, double *out);

int histogram_create(struct histogram *h, int bins, double width);
void histogram_destroy(struct histogram *h);
void histogram_pairs(struct histogram *h, const struct system *s);
void histogram_speeds(struct histogram *h, const struct system *s);
/* The pair histogram over what an ideal gas has: g(r) in the middle of `bin`. */
double radial_distribution(const struct histogram *h, const struct system *s, int bin);

int density_create(struct density_map *m, int nx, int ny);
void density_destroy(struct density_map *m);
void density_add(struct density_map *m, const struct system *s);
double density_total(const struct density_map *m);

#endif
