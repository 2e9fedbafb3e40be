/* What a run leaves behind: lines on standard output, and a snapshot of the fields. */
#ifndef OUTPUT_H
#define OUTPUT_H

#include "config.h"
#include "grid.h"

/* The fields at the middles of the cells, in single precision: two ints nx ny, then t, speed, dye. */
int snapshot_write(const struct grid *g, const char *path);

/* A line of numbers that sum up the run. */
void summary_print(const struct grid *g, const struct config *c, double time);

#endif
