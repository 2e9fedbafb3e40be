#include "integrate.h"

#include "measure.h"

void half_kick(struct system *s, double dt)
{
#pragma omp parallel for
    for (int i = 0; i < s->n; i++) {
        struct particle *p = &s->particles[i];
        const double scale = 0.5 * dt / s->species[p->type].mass;

        for (int d = 0; d < DIMENSIONS; d++)
            p->v[d] += scale * p->f[d];
    }
}

void drift(struct system *s, double dt)
{
    struct particle *p = s->particles;

#pragma omp parallel for
    for (int i = 0; i < s->n; i++)
        for (int d = 0; d < DIMENSIONS; d++) {
            double x = p[i].r[d] + dt * p[i].v[d];

            if (x >= s->box[d])
                p[i].image[d]++;
            else if (x < 0.0)
                p[i].image[d]--;
            p[i].r[d] = wrapped(x, s->box[d]);
        }
}

void thermostat(struct system *s, double target, double dt, double time)
{
    double now = temperature(s);
    double scale = sqrt(1.0 + dt / time * (target / now - 1.0));

#pragma omp parallel for
    for (int i = 0; i < s->n; i++)
        for (int d = 0; d < DIMENSIONS; d++)
            s->particles[i].v[d] *= scale;
}
