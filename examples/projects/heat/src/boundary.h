/* The four walls: ghost cells are set so that the mean of a ghost and its neighbour is the value at the wall. */
#ifndef BOUNDARY_H
#define BOUNDARY_H

#include "grid.h"

enum wall_kind {
    FIXED,    /* a given temperature */
    INSULATED /* no heat passes */
};

struct wall {
    enum wall_kind kind;
    double temperature; /* FIXED */
    double speed;       /* along the wall */
};

struct walls {
    struct wall left, right, bottom, top;
};

void boundary_velocity(struct grid *g, const struct walls *w);
void boundary_temperature(struct grid *g, const struct walls *w);
void boundary_pressure(double *p, int nx, int ny, int stride);
void boundary_dye(struct grid *g);

#endif
