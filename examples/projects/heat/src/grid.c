#include "grid.h"

#include <stdlib.h>

size_t grid_points(const struct grid *g)
{
    return (size_t)g->stride * (size_t)(g->ny + 2);
}

void fill(double *field, size_t n, double value)
{
#pragma omp parallel for
    for (size_t k = 0; k < n; k++)
        field[k] = value;
}

static double *new_field(size_t n)
{
    double *field = malloc(n * sizeof *field);
    if (field != NULL)
        fill(field, n, 0.0);
    return field;
}

int grid_create(struct grid *g, int nx, int ny, double width, double height)
{
    size_t n;

    g->nx = nx;
    g->ny = ny;
    g->stride = nx + 2;
    g->dx = width / nx;
    g->dy = height / ny;

    n = grid_points(g);
    g->u = new_field(n);
    g->v = new_field(n);
    g->us = new_field(n);
    g->vs = new_field(n);
    g->p = new_field(n);
    g->p_new = new_field(n);
    g->rhs = new_field(n);
    g->t = new_field(n);
    g->t_new = new_field(n);
    g->dye = calloc(n, sizeof(float));
    g->dye_new = calloc(n, sizeof(float));

    if (!g->u || !g->v || !g->us || !g->vs || !g->p || !g->p_new || !g->rhs || !g->t || !g->t_new || !g->dye ||
        !g->dye_new) {
        grid_destroy(g);
        return -1;
    }
    return 0;
}

void grid_destroy(struct grid *g)
{
    free(g->u);
    free(g->v);
    free(g->us);
    free(g->vs);
    free(g->p);
    free(g->p_new);
    free(g->rhs);
    free(g->t);
    free(g->t_new);
    free(g->dye);
    free(g->dye_new);
    g->u = g->v = g->us = g->vs = g->p = g->p_new = g->rhs = g->t = g->t_new = NULL;
    g->dye = g->dye_new = NULL;
}

double grid_x(const struct grid *g, int i)
{
    return (i - 0.5) * g->dx;
}

double grid_y(const struct grid *g, int j)
{
    return (j - 0.5) * g->dy;
}

void swap_fields(double **a, double **b)
{
    double *keep = *a;
    *a = *b;
    *b = keep;
}

void swap_dye(float **a, float **b)
{
    float *keep = *a;
    *a = *b;
    *b = keep;
}
