/* Who is near whom: the box cut into cells, and from them a list of neighbours for each particle. */
#ifndef PARTICLES_CELLS_H
#define PARTICLES_CELLS_H

#include "system.h"

struct cells {
    int along[DIMENSIONS]; /* cells in each direction */
    int total;
    int *home;  /* cell of each particle */
    int *count; /* particles of each cell */
    int *start; /* where those of a cell begin in `order`; total + 1 of them */
    int *order; /* particles, cell after cell */
};

struct neighbours {
    double reach;  /* who is nearer than this is listed */
    int most;      /* room in a row */
    int *count;    /* of each particle */
    int **list;    /* list[i][0 .. count[i] - 1]: the neighbours of i */
    int *storage;  /* all rows */
    double *built_at; /* positions when the lists were made */
    long builds;
};

int cells_create(struct cells *c, const struct system *s, double reach);
void cells_destroy(struct cells *c);
void cells_sort(struct cells *c, const struct system *s);

int neighbours_create(struct neighbours *nb, const struct system *s, double reach, int most);
void neighbours_destroy(struct neighbours *nb);
/* Returns 0, or the number of neighbours that a row had no room for. */
int neighbours_build(struct neighbours *nb, const struct cells *c, const struct system *s);
/* Has anyone moved further than half of `skin` since the lists were made? */
int neighbours_stale(const struct neighbours *nb, const struct system *s, double skin);

#endif
