#include "system.h"

#include <math.h>
#include <stdlib.h>

static const struct species argon_like[] = {
    {"A", 1.0, 1.0, 1.0},
    {"B", 2.0, 0.8, 0.9},
};

static unsigned long long random_state = 88172645463325252ULL;

void random_seed(unsigned long long seed)
{
    random_state = seed * 2862933555777941757ULL + 3037000493ULL;
    if (random_state == 0)
        random_state = 1;
}

double random_uniform(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (double)(random_state >> 11) / 9007199254740992.0;
}

/* Box and Muller. */
static double random_normal(void)
{
    double u = 1.0 - random_uniform(), w = random_uniform();
    return sqrt(-2.0 * log(u)) * cos(6.283185307179586 * w);
}

static void place_on_lattice(struct system *s, int per_side)
{
    double a = s->box[0] / per_side;
    int n = 0;

    for (int x = 0; x < per_side; x++)
        for (int y = 0; y < per_side; y++)
            for (int z = 0; z < per_side; z++) {
                struct particle *p = &s->particles[n++];
                p->r[0] = (x + 0.5) * a;
                p->r[1] = (y + 0.5) * a;
                p->r[2] = (z + 0.5) * a;
            }
}

static void give_velocities(struct system *s, double temperature)
{
    double momentum[DIMENSIONS] = {0.0, 0.0, 0.0}, mass = 0.0;

    for (int i = 0; i < s->n; i++) {
        struct particle *p = &s->particles[i];
        const struct species *kind = &s->species[p->type];
        for (int d = 0; d < DIMENSIONS; d++) {
            p->v[d] = sqrt(temperature / kind->mass) * random_normal();
            momentum[d] += kind->mass * p->v[d];
        }
        mass += kind->mass;
    }
    /* the box as a whole stands still */
    for (int i = 0; i < s->n; i++)
        for (int d = 0; d < DIMENSIONS; d++)
            s->particles[i].v[d] -= momentum[d] / mass;
}

int system_create(struct system *s, int per_side, double density, double temperature, int second,
                  unsigned long long seed)
{
    s->n = per_side * per_side * per_side;
    s->types = 2;
    s->species = argon_like;
    s->potential = s->virial = 0.0;
    for (int d = 0; d < DIMENSIONS; d++)
        s->box[d] = cbrt(s->n / density);
    s->particles = calloc((size_t)s->n, sizeof *s->particles);
    if (s->particles == NULL)
        return -1;

    random_seed(seed);
    for (int i = 0; i < s->n; i++)
        s->particles[i].type = second > 0 && i % second == 0;
    place_on_lattice(s, per_side);
    give_velocities(s, temperature);
    return 0;
}

void system_destroy(struct system *s)
{
    free(s->particles);
    s->particles = NULL;
    s->n = 0;
}
