#include "solver.h"

#include <math.h>

#include "config.h"

static inline double square(double x)
{
    return x * x;
}

/* Donor-cell part of the flux of `b` - `a` carried by `s`, which is twice the speed. */
static inline double donor(double s, double a, double b)
{
    return fabs(s) * (a - b);
}

double solver_time_step(const struct grid *g, const struct fluid *f, double cfl)
{
    double fastest_u = 1e-12, fastest_v = 1e-12;
    double slow = fmax(f->viscosity, f->diffusivity);
    double diffusive = 0.5 / (slow * (1.0 / square(g->dx) + 1.0 / square(g->dy)));
    size_t n = grid_points(g), k;

#pragma omp parallel for reduction(max : fastest_u, fastest_v)
    for (k = 0; k < n; k++) {
        fastest_u = fmax(fastest_u, fabs(g->u[k]));
        fastest_v = fmax(fastest_v, fabs(g->v[k]));
    }
    return cfl * fmin(diffusive, fmin(g->dx / fastest_u, g->dy / fastest_v));
}

static void predict_u(struct grid *g, const struct fluid *f, double dt)
{
    const int nx = g->nx, ny = g->ny;
    const double rx = 1.0 / g->dx, ry = 1.0 / g->dy;
    const double *u = g->u, *v = g->v;
    int i, j;
    double east, west, north, south, convection, diffusion;

#pragma omp parallel for private(i, east, west, north, south, convection, diffusion) schedule(static)
    for (j = 1; j <= ny; j++) {
        for (i = 1; i < nx; i++) {
            const double here = u[AT(g, i, j)];

            east = here + u[AT(g, i + 1, j)];
            west = u[AT(g, i - 1, j)] + here;
            north = v[AT(g, i, j)] + v[AT(g, i + 1, j)];
            south = v[AT(g, i, j - 1)] + v[AT(g, i + 1, j - 1)];
            convection = 0.25 * rx *
                             (square(east) - square(west) +
                              upwind_share * (donor(east, here, u[AT(g, i + 1, j)]) -
                                              donor(west, u[AT(g, i - 1, j)], here))) +
                         0.25 * ry *
                             (north * (here + u[AT(g, i, j + 1)]) - south * (u[AT(g, i, j - 1)] + here) +
                              upwind_share * (donor(north, here, u[AT(g, i, j + 1)]) -
                                              donor(south, u[AT(g, i, j - 1)], here)));
            diffusion = (u[AT(g, i + 1, j)] - 2.0 * here + u[AT(g, i - 1, j)]) * rx * rx +
                        (u[AT(g, i, j + 1)] - 2.0 * here + u[AT(g, i, j - 1)]) * ry * ry;
            g->us[AT(g, i, j)] = here + dt * (f->viscosity * diffusion - convection);
        }
    }
}

static void predict_v(struct grid *g, const struct fluid *f, double dt)
{
    const int nx = g->nx, ny = g->ny;
    const double rx = 1.0 / g->dx, ry = 1.0 / g->dy;
    const double *u = g->u, *v = g->v, *t = g->t;
    int i, j;
    double east, west, north, south, convection, diffusion;

#pragma omp parallel for private(i, east, west, north, south, convection, diffusion) schedule(static)
    for (j = 1; j < ny; j++) {
        for (i = 1; i <= nx; i++) {
            const double here = v[AT(g, i, j)];

            east = u[AT(g, i, j)] + u[AT(g, i, j + 1)];
            west = u[AT(g, i - 1, j)] + u[AT(g, i - 1, j + 1)];
            north = here + v[AT(g, i, j + 1)];
            south = v[AT(g, i, j - 1)] + here;
            convection = 0.25 * ry *
                             (square(north) - square(south) +
                              upwind_share * (donor(north, here, v[AT(g, i, j + 1)]) -
                                              donor(south, v[AT(g, i, j - 1)], here))) +
                         0.25 * rx *
                             (east * (here + v[AT(g, i + 1, j)]) - west * (v[AT(g, i - 1, j)] + here) +
                              upwind_share * (donor(east, here, v[AT(g, i + 1, j)]) -
                                              donor(west, v[AT(g, i - 1, j)], here)));
            diffusion = (v[AT(g, i + 1, j)] - 2.0 * here + v[AT(g, i - 1, j)]) * rx * rx +
                        (v[AT(g, i, j + 1)] - 2.0 * here + v[AT(g, i, j - 1)]) * ry * ry;
            g->vs[AT(g, i, j)] = here + dt * (f->viscosity * diffusion - convection +
                                              0.5 * f->buoyancy * (t[AT(g, i, j)] + t[AT(g, i, j + 1)]));
        }
    }
}

/* Faces on the walls keep their velocity. */
static void predict_walls(struct grid *g)
{
    int nx = g->nx, ny = g->ny;

#pragma omp parallel for
    for (int j = 1; j <= ny; j++) {
        g->us[AT(g, 0, j)] = g->u[AT(g, 0, j)];
        g->us[AT(g, nx, j)] = g->u[AT(g, nx, j)];
    }
#pragma omp parallel for
    for (int i = 1; i <= nx; i++) {
        g->vs[AT(g, i, 0)] = g->v[AT(g, i, 0)];
        g->vs[AT(g, i, ny)] = g->v[AT(g, i, ny)];
    }
}

void solver_predict(struct grid *g, const struct fluid *f, double dt)
{
    predict_u(g, f, dt);
    predict_v(g, f, dt);
    predict_walls(g);

#pragma omp parallel for collapse(2)
    for (int j = 1; j <= g->ny; j++)
        for (int i = 1; i <= g->nx; i++)
            g->rhs[AT(g, i, j)] = ((g->us[AT(g, i, j)] - g->us[AT(g, i - 1, j)]) / g->dx +
                                   (g->vs[AT(g, i, j)] - g->vs[AT(g, i, j - 1)]) / g->dy) /
                                  dt;
}

void solver_project(struct grid *g, double dt)
{
    const double ax = dt / g->dx, ay = dt / g->dy;

#pragma omp parallel
    {
#pragma omp for nowait
        for (int j = 1; j <= g->ny; j++)
            for (int i = 1; i < g->nx; i++)
                g->u[AT(g, i, j)] = g->us[AT(g, i, j)] - ax * (g->p[AT(g, i + 1, j)] - g->p[AT(g, i, j)]);
#pragma omp for
        for (int j = 1; j < g->ny; j++)
            for (int i = 1; i <= g->nx; i++)
                g->v[AT(g, i, j)] = g->vs[AT(g, i, j)] - ay * (g->p[AT(g, i, j + 1)] - g->p[AT(g, i, j)]);
    }
}

void solver_temperature(struct grid *g, const struct fluid *f, double dt, int moving)
{
    const int nx = g->nx, ny = g->ny, w = g->stride;
    const double cx = f->diffusivity * dt / square(g->dx);
    const double cy = f->diffusivity * dt / square(g->dy);

#pragma omp parallel for collapse(2)
    for (int j = 1; j <= ny; j++)
        for (int i = 1; i <= nx; i++) {
            const double *t = g->t + (size_t)j * w + i;
            double change = cx * (t[1] - 2.0 * t[0] + t[-1]) + cy * (t[w] - 2.0 * t[0] + t[-w]);

            if (moving) {
                const double ue = g->u[AT(g, i, j)], uw = g->u[AT(g, i - 1, j)];
                const double vn = g->v[AT(g, i, j)], vs = g->v[AT(g, i, j - 1)];

                change -= 0.5 * dt / g->dx *
                          (ue * (t[0] + t[1]) - uw * (t[-1] + t[0]) +
                           upwind_share * (donor(ue, t[0], t[1]) - donor(uw, t[-1], t[0])));
                change -= 0.5 * dt / g->dy *
                          (vn * (t[0] + t[w]) - vs * (t[-w] + t[0]) +
                           upwind_share * (donor(vn, t[0], t[w]) - donor(vs, t[-w], t[0])));
            }
            g->t_new[AT(g, i, j)] = t[0] + change;
        }
    swap_fields(&g->t, &g->t_new);
}

/* Pure upwind; what leaves one cell enters the next, so the sum stays. */
void solver_dye(struct grid *g, float dt)
{
    const int nx = g->nx, ny = g->ny;
    const float ax = dt / (float)g->dx, ay = dt / (float)g->dy;
    const float *c = g->dye;
    float *out = g->dye_new;

#pragma omp parallel for
    for (int j = 1; j <= ny; j++) {
        for (int i = 1; i <= nx; i++) {
            float ue = (float)g->u[AT(g, i, j)], uw = (float)g->u[AT(g, i - 1, j)];
            float vn = (float)g->v[AT(g, i, j)], vs = (float)g->v[AT(g, i, j - 1)];
            float fe = ue * (ue > 0.0f ? c[AT(g, i, j)] : c[AT(g, i + 1, j)]);
            float fw = uw * (uw > 0.0f ? c[AT(g, i - 1, j)] : c[AT(g, i, j)]);
            float fn = vn * (vn > 0.0f ? c[AT(g, i, j)] : c[AT(g, i, j + 1)]);
            float fs = vs * (vs > 0.0f ? c[AT(g, i, j - 1)] : c[AT(g, i, j)]);

            out[AT(g, i, j)] = c[AT(g, i, j)] - ax * (fe - fw) - ay * (fn - fs);
        }
    }
    swap_dye(&g->dye, &g->dye_new);
}
