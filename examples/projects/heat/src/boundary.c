#include "boundary.h"

/* The ghost's value for a wall between it and `inside`. */
static inline double mirror(double inside, double wall)
{
    return 2.0 * wall - inside;
}

void boundary_velocity(struct grid *g, const struct walls *w)
{
    const int nx = g->nx, ny = g->ny;

    /* nothing passes a wall; along it the fluid moves as the wall does */
#pragma omp parallel for
    for (int j = 0; j <= ny + 1; j++) {
        g->u[AT(g, 0, j)] = 0.0;
        g->u[AT(g, nx, j)] = 0.0;
        g->v[AT(g, 0, j)] = mirror(g->v[AT(g, 1, j)], w->left.speed);
        g->v[AT(g, nx + 1, j)] = mirror(g->v[AT(g, nx, j)], w->right.speed);
    }
#pragma omp parallel for
    for (int i = 0; i <= nx + 1; i++) {
        g->v[AT(g, i, 0)] = 0.0;
        g->v[AT(g, i, ny)] = 0.0;
        g->u[AT(g, i, 0)] = mirror(g->u[AT(g, i, 1)], w->bottom.speed);
        g->u[AT(g, i, ny + 1)] = mirror(g->u[AT(g, i, ny)], w->top.speed);
    }
}

static void wall_column(struct grid *g, int ghost, int inside, const struct wall *wall)
{
    double *t = g->t;

    switch (wall->kind) {
    case FIXED:
        for (int j = 1; j <= g->ny; j++)
            t[AT(g, ghost, j)] = mirror(t[AT(g, inside, j)], wall->temperature);
        break;
    case INSULATED:
        for (int j = 1; j <= g->ny; j++)
            t[AT(g, ghost, j)] = t[AT(g, inside, j)];
        break;
    }
}

static void wall_row(struct grid *g, int ghost, int inside, const struct wall *wall)
{
    double *to = g->t + AT(g, 0, ghost);
    const double *from = g->t + AT(g, 0, inside);

    if (wall->kind == FIXED) {
        for (int i = 1; i <= g->nx; i++)
            to[i] = mirror(from[i], wall->temperature);
    } else {
        for (int i = 1; i <= g->nx; i++)
            to[i] = from[i];
    }
}

void boundary_temperature(struct grid *g, const struct walls *w)
{
    wall_column(g, 0, 1, &w->left);
    wall_column(g, g->nx + 1, g->nx, &w->right);
    wall_row(g, 0, 1, &w->bottom);
    wall_row(g, g->ny + 1, g->ny, &w->top);
}

void boundary_pressure(double *p, int nx, int ny, int stride)
{
    int i, j;

#pragma omp parallel private(i, j)
    {
#pragma omp for nowait
        for (i = 1; i <= nx; i++) {
            p[i] = p[stride + i];
            p[(size_t)(ny + 1) * stride + i] = p[(size_t)ny * stride + i];
        }
#pragma omp for
        for (j = 1; j <= ny; j++) {
            p[(size_t)j * stride] = p[(size_t)j * stride + 1];
            p[(size_t)j * stride + nx + 1] = p[(size_t)j * stride + nx];
        }
    }
}

void boundary_dye(struct grid *g)
{
    float *dye = g->dye;
    int nx = g->nx, ny = g->ny;

    for (int i = 0; i <= nx + 1; i++) {
        dye[AT(g, i, 0)] = dye[AT(g, i, 1)];
        dye[AT(g, i, ny + 1)] = dye[AT(g, i, ny)];
    }
    for (int j = 0; j <= ny + 1; j++) {
        dye[AT(g, 0, j)] = dye[AT(g, 1, j)];
        dye[AT(g, nx + 1, j)] = dye[AT(g, nx, j)];
    }
}
