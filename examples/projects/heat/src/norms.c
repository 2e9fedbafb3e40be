#include "norms.h"

#include <math.h>

/* Not that of the solver: this one halves, for energies. */
static inline double square(double x)
{
    return 0.5 * x * x;
}

double field_sum(const struct grid *g, const double *field)
{
    double sum = 0.0;
    int i, j;

#pragma omp parallel for private(i) reduction(+ : sum)
    for (j = 1; j <= g->ny; j++)
        for (i = 1; i <= g->nx; i++)
            sum += field[AT(g, i, j)];
    return sum;
}

double field_norm(const struct grid *g, const double *field)
{
    double sum = 0.0;

#pragma omp parallel for collapse(2) reduction(+ : sum)
    for (int j = 1; j <= g->ny; j++)
        for (int i = 1; i <= g->nx; i++)
            sum += field[AT(g, i, j)] * field[AT(g, i, j)];
    return sqrt(sum / ((double)g->nx * g->ny));
}

void field_range(const struct grid *g, const double *field, double *lowest, double *highest)
{
    double low = field[AT(g, 1, 1)], high = low;

#pragma omp parallel for reduction(min : low) reduction(max : high)
    for (int j = 1; j <= g->ny; j++)
        for (int i = 1; i <= g->nx; i++) {
            double value = field[AT(g, i, j)];
            if (value < low)
                low = value;
            if (value > high)
                high = value;
        }
    *lowest = low;
    *highest = high;
}

double kinetic_energy(const struct grid *g)
{
    double energy = 0.0;

#pragma omp parallel for collapse(2) reduction(+ : energy)
    for (int j = 1; j <= g->ny; j++)
        for (int i = 1; i <= g->nx; i++) {
            double u = 0.5 * (g->u[AT(g, i, j)] + g->u[AT(g, i - 1, j)]);
            double v = 0.5 * (g->v[AT(g, i, j)] + g->v[AT(g, i, j - 1)]);
            energy += (square(u) + square(v)) * g->dx * g->dy;
        }
    return energy;
}

double largest_divergence(const struct grid *g)
{
    double largest = 0.0;

#pragma omp parallel for reduction(max : largest)
    for (int j = 1; j <= g->ny; j++)
        for (int i = 1; i <= g->nx; i++) {
            double d = (g->u[AT(g, i, j)] - g->u[AT(g, i - 1, j)]) / g->dx +
                       (g->v[AT(g, i, j)] - g->v[AT(g, i, j - 1)]) / g->dy;
            if (fabs(d) > largest)
                largest = fabs(d);
        }
    return largest;
}

double total_dye(const struct grid *g)
{
    double sum = 0.0;

#pragma omp parallel for reduction(+ : sum)
    for (int j = 1; j <= g->ny; j++)
        for (int i = 1; i <= g->nx; i++)
            sum += g->dye[AT(g, i, j)];
    return sum * g->dx * g->dy;
}

double nusselt(const struct grid *g, double diffusivity, double difference)
{
    double heat = 0.0;

    for (int j = 1; j <= g->ny; j++) {
        double slope = (g->t[AT(g, 0, j)] - g->t[AT(g, 1, j)]) / g->dx;
        heat += diffusivity * slope * g->dy;
    }
    return heat / (diffusivity * difference / (g->nx * g->dx) * (g->ny * g->dy));
}
