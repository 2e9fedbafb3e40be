#include "measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

static inline double square(double x)
{
    return x * x;
}

double kinetic_energy(const struct system *s)
{
    double sum = 0.0;

#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < s->n; i++) {
        const struct particle *p = s->particles + i;
        sum += 0.5 * s->species[p->type].mass * dot(p->v, p->v);
    }
    return sum;
}

double temperature(const struct system *s)
{
    return 2.0 * kinetic_energy(s) / (DIMENSIONS * (s->n - 1));
}

double pressure(const struct system *s)
{
    double volume = s->box[0] * s->box[1] * s->box[2];
    return (s->n * temperature(s) + s->virial / DIMENSIONS) / volume;
}

void total_momentum(const struct system *s, double momentum[DIMENSIONS])
{
    double px = 0.0, py = 0.0, pz = 0.0;

#pragma omp parallel for reduction(+ : px, py, pz)
    for (int i = 0; i < s->n; i++) {
        const double mass = s->species[s->particles[i].type].mass;
        px += mass * s->particles[i].v[0];
        py += mass * s->particles[i].v[1];
        pz += mass * s->particles[i].v[2];
    }
    momentum[0] = px;
    momentum[1] = py;
    momentum[2] = pz;
}

static inline double unwrapped(const struct system *s, int i, int d)
{
    return s->particles[i].r[d] + s->particles[i].image[d] * s->box[d];
}

void positions_unwrapped(const struct system *s, double *out)
{
#pragma omp parallel for collapse(2)
    for (int i = 0; i < s->n; i++)
        for (int d = 0; d < DIMENSIONS; d++)
            out[DIMENSIONS * i + d] = unwrapped(s, i, d);
}

double mean_square_displacement(const struct system *s, const double *start)
{
    double sum = 0.0;

#pragma omp parallel for collapse(2) reduction(+ : sum)
    for (int i = 0; i < s->n; i++)
        for (int d = 0; d < DIMENSIONS; d++)
            sum += square(unwrapped(s, i, d) - start[DIMENSIONS * i + d]);
    return sum / s->n;
}

int histogram_create(struct histogram *h, int bins, double width)
{
    h->bins = bins;
    h->width = width;
    h->samples = 0;
    h->count = calloc((size_t)bins, sizeof *h->count);
    return h->count == NULL ? -1 : 0;
}

void histogram_destroy(struct histogram *h)
{
    free(h->count);
    memset(h, 0, sizeof *h);
}

/* Each thread counts for itself; the counts are added at the end. */
void histogram_pairs(struct histogram *h, const struct system *s)
{
#pragma omp parallel
    {
        long *mine = calloc((size_t)h->bins, sizeof *mine);

#pragma omp for schedule(dynamic, 8)
        for (int i = 0; i < s->n; i++)
            for (int j = i + 1; j < s->n; j++) {
                const struct particle *a = &s->particles[i], *b = &s->particles[j];
                double r2 = 0.0;
                int bin;

                for (int d = 0; d < DIMENSIONS; d++)
                    r2 += square(nearest_image(a->r[d] - b->r[d], s->box[d]));
                bin = (int)(sqrt(r2) / h->width);
                if (mine != NULL && bin < h->bins)
                    mine[bin] += 2;
            }
#pragma omp critical
        for (int k = 0; mine != NULL && k < h->bins; k++)
            h->count[k] += mine[k];
        free(mine);
    }
    h->samples++;
}

void histogram_speeds(struct histogram *h, const struct system *s)
{
#pragma omp parallel for
    for (int i = 0; i < s->n; i++) {
        const double *v = s->particles[i].v;
        int bin = (int)(sqrt(dot(v, v)) / h->width);

        if (bin >= h->bins)
            bin = h->bins - 1;
#pragma omp atomic
        h->count[bin]++;
    }
    h->samples++;
}

double radial_distribution(const struct histogram *h, const struct system *s, int bin)
{
    double inner = bin * h->width, outer = inner + h->width;
    double shell = 4.0 / 3.0 * pi * (outer * outer * outer - inner * inner * inner);
    double density = s->n / (s->box[0] * s->box[1] * s->box[2]);

    return h->count[bin] / (h->samples * s->n * density * shell);
}

int density_create(struct density_map *m, int nx, int ny)
{
    m->nx = nx;
    m->ny = ny;
    m->cell = malloc((size_t)nx * sizeof *m->cell);
    if (m->cell == NULL)
        return -1;
    for (int x = 0; x < nx; x++) {
        m->cell[x] = calloc((size_t)ny, sizeof **m->cell);
        if (m->cell[x] == NULL) {
            m->nx = x;
            density_destroy(m);
            return -1;
        }
    }
    return 0;
}

void density_destroy(struct density_map *m)
{
    for (int x = 0; x < m->nx; x++)
        free(m->cell[x]);
    free(m->cell);
    m->cell = NULL;
}

void density_add(struct density_map *m, const struct system *s)
{
    double **cell = m->cell;

#pragma omp parallel for
    for (int i = 0; i < s->n; i++) {
        int x = (int)(s->particles[i].r[0] / s->box[0] * m->nx);
        int y = (int)(s->particles[i].r[1] / s->box[1] * m->ny);

        if (x >= m->nx)
            x = m->nx - 1;
        if (y >= m->ny)
            y = m->ny - 1;
#pragma omp atomic
        cell[x][y] += 1.0;
    }
}

double density_total(const struct density_map *m)
{
    double sum = 0.0;

#pragma omp parallel for reduction(+ : sum)
    for (int x = 0; x < m->nx; x++)
        for (int y = 0; y < m->ny; y++)
            sum += m->cell[x][y];
    return sum;
}
