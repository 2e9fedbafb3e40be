/* One time step of the incompressible flow with heat: explicit Euler, Chorin's projection.
 *
 *     u* = u + dt (nu lap u - (u.grad) u + beta t e_y)
 *     lap p = div u* / dt
 *     u  = u* - dt grad p
 *     t  = t + dt (kappa lap t - u.grad t)
 */
#ifndef SOLVER_H
#define SOLVER_H

#include "grid.h"

struct fluid {
    double viscosity;   /* nu */
    double diffusivity; /* kappa */
    double buoyancy;    /* beta */
};

/* The largest stable time step. */
double solver_time_step(const struct grid *g, const struct fluid *f, double cfl);

void solver_predict(struct grid *g, const struct fluid *f, double dt);
void solver_project(struct grid *g, double dt);
void solver_temperature(struct grid *g, const struct fluid *f, double dt, int moving);
void solver_dye(struct grid *g, float dt);

#endif
