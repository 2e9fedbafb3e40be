/* The particles and their box. */
#ifndef PARTICLES_SYSTEM_H
#define PARTICLES_SYSTEM_H

#include "vector.h"

struct species {
    const char *name;
    double mass;
    double epsilon; /* depth of the well */
    double sigma;   /* size */
};

struct particle {
    double r[DIMENSIONS]; /* position, inside the box */
    double v[DIMENSIONS];
    double f[DIMENSIONS];
    int image[DIMENSIONS]; /* how often it has left the box, and on which side */
    int type;
};

struct system {
    int n;
    double box[DIMENSIONS];
    struct particle *particles;
    int types;
    const struct species *species;
    double potential; /* energy, after forces were computed */
    double virial;
};

/* `per_side` cubed particles on a lattice of the given number density, with random velocities.
 * Every `second`th is of the second species (0: none). Returns 0, or -1 where there is no memory. */
int system_create(struct system *s, int per_side, double density, double temperature, int second,
                  unsigned long long seed);
void system_destroy(struct system *s);

/* Uniform in [0, 1). */
double random_uniform(void);
void random_seed(unsigned long long seed);

#endif
