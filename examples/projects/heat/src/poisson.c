#include "poisson.h"

#include <math.h>
#include <stdio.h>

#include "boundary.h"
#include "norms.h"

/* How often the residual is looked at. */
#define CHECK_EVERY 10

static const double pi = 3.14159265358979323846;

static inline double square(double x)
{
    return x * x;
}

/* Relaxation that suits a square grid. */
static double best_relaxation(const struct grid *g)
{
    int longest = g->nx > g->ny ? g->nx : g->ny;
    return 2.0 / (1.0 + sin(pi / longest));
}

static void jacobi_sweep(const double *restrict p, double *restrict p_new, const double *restrict rhs, int nx, int ny,
                         int stride, double ax, double ay)
{
    const double scale = 1.0 / (2.0 * (ax + ay));

#pragma omp parallel for collapse(2) schedule(static)
    for (int j = 1; j <= ny; j++)
        for (int i = 1; i <= nx; i++) {
            const size_t k = (size_t)j * stride + i;
            p_new[k] = scale * (ax * (p[k - 1] + p[k + 1]) + ay * (p[k - stride] + p[k + stride]) - rhs[k]);
        }
}

/* One color of the checkerboard, in place: neighbours have the other color. */
static void color_sweep(struct grid *g, int color, double relaxation)
{
    const double ax = 1.0 / square(g->dx), ay = 1.0 / square(g->dy);
    const double scale = relaxation / (2.0 * (ax + ay));
    double *p = g->p;
    const double *rhs = g->rhs;

#pragma omp parallel for
    for (int j = 1; j <= g->ny; j++) {
        for (int i = 1 + (j + color) % 2; i <= g->nx; i += 2) {
            p[AT(g, i, j)] = (1.0 - relaxation) * p[AT(g, i, j)] +
                             scale * (ax * (p[AT(g, i - 1, j)] + p[AT(g, i + 1, j)]) +
                                      ay * (p[AT(g, i, j - 1)] + p[AT(g, i, j + 1)]) - rhs[AT(g, i, j)]);
        }
    }
}

static double residual(const struct grid *g)
{
    const double ax = 1.0 / square(g->dx), ay = 1.0 / square(g->dy);
    double sum = 0.0;

#pragma omp parallel for reduction(+ : sum)
    for (int j = 1; j <= g->ny; j++) {
        const double *p = &g->p[AT(g, 0, j)];
        const double *below = p - g->stride, *above = p + g->stride;

        for (int i = 1; i <= g->nx; i++) {
            double r = ax * (p[i - 1] - 2.0 * p[i] + p[i + 1]) + ay * (below[i] - 2.0 * p[i] + above[i]) -
                       g->rhs[AT(g, i, j)];
            sum += r * r;
        }
    }
    return sqrt(sum / ((double)g->nx * g->ny));
}

/* Only differences of the pressure count: keep its mean at zero. */
static void remove_mean(struct grid *g)
{
    double mean = field_sum(g, g->p) / ((double)g->nx * g->ny);

#pragma omp parallel for collapse(2)
    for (int j = 0; j < g->ny + 2; j++)
        for (int i = 0; i < g->nx + 2; i++)
            g->p[AT(g, i, j)] -= mean;
}

struct poisson_result poisson_solve(struct grid *g, enum pressure_method method, double tolerance, int max_sweeps)
{
    static long total_sweeps = 0;
    struct poisson_result result = {0, 0.0};
    const double ax = 1.0 / square(g->dx), ay = 1.0 / square(g->dy);
    const double relaxation = best_relaxation(g);
    const double size = field_norm(g, g->rhs) + 1e-30;

    while (result.sweeps < max_sweeps) {
        if (method == JACOBI) {
            jacobi_sweep(g->p, g->p_new, g->rhs, g->nx, g->ny, g->stride, ax, ay);
            swap_fields(&g->p, &g->p_new);
        } else {
            for (int color = 0; color < 2; color++)
                color_sweep(g, color, relaxation);
        }
        boundary_pressure(g->p, g->nx, g->ny, g->stride);
        result.sweeps++;

        if (result.sweeps % CHECK_EVERY == 0 || result.sweeps == max_sweeps) {
            result.residual = residual(g) / size;
            if (result.residual < tolerance)
                break;
        }
    }
    remove_mean(g);
    total_sweeps += result.sweeps;
    if (verbose)
        fprintf(stderr, "pressure: %d sweeps (%ld in all), residual %.3g\n", result.sweeps, total_sweeps,
                result.residual);
    return result;
}
