#include "output.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "norms.h"

static int write_floats(FILE *file, const float *values, size_t n)
{
    return fwrite(values, sizeof *values, n, file) == n ? 0 : -1;
}

static void pack_temperature(const struct grid *g, float *out)
{
#pragma omp parallel for
    for (int j = 1; j <= g->ny; j++)
        for (int i = 1; i <= g->nx; i++)
            out[(size_t)(j - 1) * g->nx + (i - 1)] = (float)g->t[AT(g, i, j)];
}

static void pack_speed(const struct grid *g, float *out)
{
#pragma omp parallel for
    for (int j = 1; j <= g->ny; j++)
        for (int i = 1; i <= g->nx; i++) {
            double u = 0.5 * (g->u[AT(g, i, j)] + g->u[AT(g, i - 1, j)]);
            double v = 0.5 * (g->v[AT(g, i, j)] + g->v[AT(g, i, j - 1)]);
            out[(size_t)(j - 1) * g->nx + (i - 1)] = (float)sqrt(u * u + v * v);
        }
}

static void pack_dye(const struct grid *g, float *out)
{
    float *next = out;

    for (int j = 1; j <= g->ny; j++)
        for (int i = 1; i <= g->nx; i++)
            *next++ = g->dye[AT(g, i, j)];
}

int snapshot_write(const struct grid *g, const char *path)
{
    size_t n = (size_t)g->nx * g->ny;
    float *values = malloc(n * sizeof *values);
    FILE *file = fopen(path, "wb");
    int shape[2] = {g->nx, g->ny};
    int bad = values == NULL || file == NULL;

    if (!bad) {
        bad |= fwrite(shape, sizeof shape[0], 2, file) != 2;
        pack_temperature(g, values);
        bad |= write_floats(file, values, n);
        pack_speed(g, values);
        bad |= write_floats(file, values, n);
        pack_dye(g, values);
        bad |= write_floats(file, values, n);
    }
    if (file != NULL)
        bad |= fclose(file) != 0;
    free(values);
    return bad ? -1 : 0;
}

void summary_print(const struct grid *g, const struct config *c, double time)
{
    double lowest, highest;

    field_range(g, g->t, &lowest, &highest);
    printf("%s %dx%d time %.6f\n", scenario_name(c->scenario), g->nx, g->ny, time);
    printf("temperature %.6f .. %.6f mean %.6f\n", lowest, highest,
           field_sum(g, g->t) / ((double)g->nx * g->ny));
    printf("energy %.6e divergence %.1e\n", kinetic_energy(g), largest_divergence(g));
    if (c->dye)
        printf("dye %.5f\n", total_dye(g));
}
