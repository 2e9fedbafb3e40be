/* Numbers that sum up a field. */
#ifndef NORMS_H
#define NORMS_H

#include "grid.h"

double field_sum(const struct grid *g, const double *field);
/* Root of the mean square. */
double field_norm(const struct grid *g, const double *field);
void field_range(const struct grid *g, const double *field, double *lowest, double *highest);

double kinetic_energy(const struct grid *g);
double largest_divergence(const struct grid *g);
double total_dye(const struct grid *g);

/* Heat through the left wall over what conduction alone would carry between walls `difference` apart. */
double nusselt(const struct grid *g, double diffusivity, double difference);

#endif
