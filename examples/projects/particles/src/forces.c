#include "forces.h"

/* Every pair is computed twice, once for each of the two: nobody writes to a neighbour. */
void forces_compute(struct system *s, const struct neighbours *nb, const struct potential *u)
{
    const double cutoff2 = u->cutoff * u->cutoff;
    const double lx = s->box[0], ly = s->box[1], lz = s->box[2];
    struct particle *p = s->particles;
    double potential = 0.0, virial = 0.0;
    int i, k, j;
    double dx, dy, dz, r2, fr;

#pragma omp parallel for private(k, j, dx, dy, dz, r2, fr) reduction(+ : potential, virial) schedule(dynamic, 16)
    for (i = 0; i < s->n; i++) {
        double fx = 0.0, fy = 0.0, fz = 0.0;

        for (k = 0; k < nb->count[i]; k++) {
            j = nb->list[i][k];
            dx = nearest_image(p[i].r[0] - p[j].r[0], lx);
            dy = nearest_image(p[i].r[1] - p[j].r[1], ly);
            dz = nearest_image(p[i].r[2] - p[j].r[2], lz);
            r2 = dx * dx + dy * dy + dz * dz;
            if (r2 < cutoff2) {
                const int row = p[i].type * u->types + p[j].type;

                fr = potential_at(u, u->force[row], r2);
                fx += fr * dx;
                fy += fr * dy;
                fz += fr * dz;
                potential += potential_at(u, u->energy[row], r2);
                virial += fr * r2;
            }
        }
        p[i].f[0] = fx;
        p[i].f[1] = fy;
        p[i].f[2] = fz;
    }
    s->potential = 0.5 * potential;
    s->virial = 0.5 * virial;
}

void forces_all_pairs(struct system *s, const struct potential *u)
{
    struct particle *p = s->particles;

    s->potential = s->virial = 0.0;
    for (int i = 0; i < s->n; i++)
        for (int d = 0; d < DIMENSIONS; d++)
            p[i].f[d] = 0.0;

    for (int i = 0; i < s->n; i++)
        for (int j = i + 1; j < s->n; j++) {
            double d[DIMENSIONS], r2, fr;
            const int row = p[i].type * u->types + p[j].type;

            for (int k = 0; k < DIMENSIONS; k++)
                d[k] = nearest_image(p[i].r[k] - p[j].r[k], s->box[k]);
            r2 = dot(d, d);
            if (r2 >= u->cutoff * u->cutoff)
                continue;
            fr = potential_at(u, u->force[row], r2);
            for (int k = 0; k < DIMENSIONS; k++) {
                p[i].f[k] += fr * d[k];
                p[j].f[k] -= fr * d[k];
            }
            s->potential += potential_at(u, u->energy[row], r2);
            s->virial += fr * r2;
        }
}
