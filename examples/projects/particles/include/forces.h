/* What all neighbours do to each particle. */
#ifndef PARTICLES_FORCES_H
#define PARTICLES_FORCES_H

#include "cells.h"
#include "potential.h"
#include "system.h"

/* Sets the forces, the potential energy and the virial of `s`. */
void forces_compute(struct system *s, const struct neighbours *nb, const struct potential *u);

/* The same from all pairs, for the tests. */
void forces_all_pairs(struct system *s, const struct potential *u);

#endif
