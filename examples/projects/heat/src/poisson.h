/* The pressure equation, lap p = rhs, no flow of p through the walls. */
#ifndef POISSON_H
#define POISSON_H

#include "config.h"
#include "grid.h"

struct poisson_result {
    int sweeps;
    double residual; /* root of the mean square, relative to the right side */
};

struct poisson_result poisson_solve(struct grid *g, enum pressure_method method, double tolerance, int max_sweeps);

#endif
