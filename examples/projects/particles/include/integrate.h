/* Velocity Verlet, and a thermostat (Berendsen). */
#ifndef PARTICLES_INTEGRATE_H
#define PARTICLES_INTEGRATE_H

#include "system.h"

void half_kick(struct system *s, double dt);
void drift(struct system *s, double dt);
/* Nudges the temperature towards `target` within about `time`. */
void thermostat(struct system *s, double target, double dt, double time);

#endif
