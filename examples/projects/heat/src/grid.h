/* The staggered grid: pressure and temperature live in the middle of a cell, velocities on its faces.
 *
 *              v(i,j)
 *           +-----^-----+
 *           |           |
 *  u(i-1,j) >   p,t     > u(i,j)
 *           |   (i,j)   |
 *           +-----^-----+
 *              v(i,j-1)
 *
 * Cells 1..nx by 1..ny are the box; a frame of ghost cells around it carries the walls.
 */
#ifndef GRID_H
#define GRID_H

#include <stddef.h>

struct grid {
    int nx, ny;         /* cells of the box */
    int stride;         /* elements from one row to the next */
    double dx, dy;      /* size of a cell */
    double *u, *v;      /* velocity on the faces */
    double *us, *vs;    /* velocity before the pressure acts */
    double *p, *p_new;  /* pressure */
    double *rhs;        /* right side of the pressure equation */
    double *t, *t_new;  /* temperature */
    float *dye, *dye_new; /* a passive tracer, for pictures: single precision is enough */
};

#define AT(g, i, j) ((size_t)(j) * (g)->stride + (i))

/* Returns 0, or -1 where there is no memory. */
int grid_create(struct grid *g, int nx, int ny, double width, double height);
void grid_destroy(struct grid *g);

/* Number of elements of a field, ghosts included. */
size_t grid_points(const struct grid *g);

/* Middle of cell (i, j). */
double grid_x(const struct grid *g, int i);
double grid_y(const struct grid *g, int j);

void fill(double *field, size_t n, double value);
void swap_fields(double **a, double **b);
void swap_dye(float **a, float **b);

#endif
