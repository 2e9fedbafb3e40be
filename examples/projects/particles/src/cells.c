#include "cells.h"

#include <stdlib.h>
#include <string.h>

static inline double square(double x)
{
    return x * x;
}

int cells_create(struct cells *c, const struct system *s, double reach)
{
    c->total = 1;
    for (int d = 0; d < DIMENSIONS; d++) {
        c->along[d] = (int)(s->box[d] / reach);
        if (c->along[d] < 1)
            c->along[d] = 1;
        c->total *= c->along[d];
    }
    c->home = malloc((size_t)s->n * sizeof *c->home);
    c->order = malloc((size_t)s->n * sizeof *c->order);
    c->count = malloc((size_t)c->total * sizeof *c->count);
    c->start = malloc(((size_t)c->total + 1) * sizeof *c->start);
    if (!c->home || !c->order || !c->count || !c->start) {
        cells_destroy(c);
        return -1;
    }
    return 0;
}

void cells_destroy(struct cells *c)
{
    free(c->home);
    free(c->order);
    free(c->count);
    free(c->start);
    memset(c, 0, sizeof *c);
}

static int cell_of(const struct cells *c, const double r[DIMENSIONS], const double box[DIMENSIONS])
{
    int at[DIMENSIONS];

    for (int d = 0; d < DIMENSIONS; d++) {
        at[d] = (int)(r[d] / box[d] * c->along[d]);
        if (at[d] >= c->along[d])
            at[d] = c->along[d] - 1;
    }
    return (at[0] * c->along[1] + at[1]) * c->along[2] + at[2];
}

/* A counting sort by cell. */
void cells_sort(struct cells *c, const struct system *s)
{
    int i;

    memset(c->count, 0, (size_t)c->total * sizeof *c->count);
#pragma omp parallel for
    for (i = 0; i < s->n; i++) {
        c->home[i] = cell_of(c, s->particles[i].r, s->box);
#pragma omp atomic
        c->count[c->home[i]]++;
    }

    c->start[0] = 0;
    for (int k = 0; k < c->total; k++)
        c->start[k + 1] = c->start[k] + c->count[k];

    /* one after the other, so that the order inside a cell is always the same */
    memset(c->count, 0, (size_t)c->total * sizeof *c->count);
    for (i = 0; i < s->n; i++) {
        int cell = c->home[i];
        c->order[c->start[cell] + c->count[cell]++] = i;
    }
}

int neighbours_create(struct neighbours *nb, const struct system *s, double reach, int most)
{
    nb->reach = reach;
    nb->most = most;
    nb->builds = 0;
    nb->count = calloc((size_t)s->n, sizeof *nb->count);
    nb->list = malloc((size_t)s->n * sizeof *nb->list);
    nb->storage = malloc((size_t)s->n * most * sizeof *nb->storage);
    nb->built_at = malloc((size_t)s->n * DIMENSIONS * sizeof *nb->built_at);
    if (!nb->count || !nb->list || !nb->storage || !nb->built_at) {
        neighbours_destroy(nb);
        return -1;
    }
    for (int i = 0; i < s->n; i++)
        nb->list[i] = nb->storage + (size_t)i * most;
    return 0;
}

void neighbours_destroy(struct neighbours *nb)
{
    free(nb->count);
    free(nb->list);
    free(nb->storage);
    free(nb->built_at);
    memset(nb, 0, sizeof *nb);
}

static double distance2(const struct particle *a, const struct particle *b, const double box[DIMENSIONS])
{
    double sum = 0.0;

    for (int d = 0; d < DIMENSIONS; d++)
        sum += square(nearest_image(a->r[d] - b->r[d], box[d]));
    return sum;
}

/* Cells before and after along one direction, each cell once also where there are fewer than three. */
static int span_of(int cells, int *first)
{
    *first = cells >= 3 ? -1 : 0;
    return cells >= 3 ? 3 : cells;
}

int neighbours_build(struct neighbours *nb, const struct cells *c, const struct system *s)
{
    int first[DIMENSIONS], spans[DIMENSIONS], overflow = 0;
    const double reach2 = square(nb->reach);
    const struct particle *p = s->particles;

    for (int d = 0; d < DIMENSIONS; d++)
        spans[d] = span_of(c->along[d], &first[d]);

#pragma omp parallel for schedule(dynamic, 32) reduction(+ : overflow)
    for (int i = 0; i < s->n; i++) {
        const int home = c->home[i];
        const int x = home / (c->along[1] * c->along[2]);
        const int y = home / c->along[2] % c->along[1];
        const int z = home % c->along[2];
        int found = 0;

        for (int a = 0; a < spans[0]; a++)
            for (int b = 0; b < spans[1]; b++)
                for (int e = 0; e < spans[2]; e++) {
                    const int nx = (x + first[0] + a + c->along[0]) % c->along[0];
                    const int ny = (y + first[1] + b + c->along[1]) % c->along[1];
                    const int nz = (z + first[2] + e + c->along[2]) % c->along[2];
                    const int cell = (nx * c->along[1] + ny) * c->along[2] + nz;

                    for (int k = c->start[cell]; k < c->start[cell + 1]; k++) {
                        const int j = c->order[k];
                        if (j == i || distance2(&p[i], &p[j], s->box) >= reach2)
                            continue;
                        if (found < nb->most)
                            nb->list[i][found++] = j;
                        else
                            overflow++;
                    }
                }
        nb->count[i] = found;
        for (int d = 0; d < DIMENSIONS; d++)
            nb->built_at[i * DIMENSIONS + d] = p[i].r[d];
    }
    nb->builds++;
    return overflow;
}

int neighbours_stale(const struct neighbours *nb, const struct system *s, double skin)
{
    double furthest = 0.0;

#pragma omp parallel for reduction(max : furthest)
    for (int i = 0; i < s->n; i++) {
        double moved = 0.0;
        for (int d = 0; d < DIMENSIONS; d++)
            moved += square(nearest_image(s->particles[i].r[d] - nb->built_at[i * DIMENSIONS + d], s->box[d]));
        if (moved > furthest)
            furthest = moved;
    }
    return furthest > square(0.5 * skin);
}
