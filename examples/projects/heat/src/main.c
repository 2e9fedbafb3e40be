/* heat: incompressible flow with heat in a closed box. See README.md for the cases. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "boundary.h"
#include "config.h"
#include "grid.h"
#include "norms.h"
#include "output.h"
#include "poisson.h"
#include "solver.h"

#define PI 3.14159265358979323846

/* The numbers of a case: equations without dimensions, box of size 1. */
static void set_up(const struct config *c, struct fluid *f, struct walls *w)
{
    const struct wall at_rest = {INSULATED, 0.0, 0.0};

    f->viscosity = f->diffusivity = 1.0;
    f->buoyancy = 0.0;
    w->left = w->right = w->bottom = w->top = at_rest;
    switch (c->scenario) {
    case DECAY:
        w->left.kind = w->right.kind = w->bottom.kind = w->top.kind = FIXED;
        break;
    case SLAB:
        w->left.kind = w->right.kind = FIXED;
        w->left.temperature = 1.0;
        break;
    case LID:
        f->viscosity = 1.0 / c->reynolds;
        f->diffusivity = f->viscosity;
        w->top.speed = 1.0;
        break;
    case CAVITY:
        f->viscosity = c->prandtl;
        f->buoyancy = c->rayleigh * c->prandtl;
        w->left.kind = w->right.kind = FIXED;
        w->left.temperature = 0.5;
        w->right.temperature = -0.5;
        break;
    }
}

static void initial_fields(struct grid *g, const struct config *c)
{
    for (int j = 0; j <= g->ny + 1; j++)
        for (int i = 0; i <= g->nx + 1; i++) {
            double x = grid_x(g, i), y = grid_y(g, j);

            if (c->scenario == DECAY)
                g->t[AT(g, i, j)] = sin(PI * x) * sin(PI * y);
            g->dye[AT(g, i, j)] = x > 0.25 && x < 0.75 && y > 0.25 && y < 0.75 ? 1.0f : 0.0f;
        }
}

/* The sine of DECAY at `time`, as the difference equation has it: each mode keeps its shape. */
static double decay_error(const struct grid *g, double time)
{
    double worst = 0.0;
    double amplitude = exp(-2.0 * PI * PI * time);

    for (int j = 1; j <= g->ny; j++)
        for (int i = 1; i <= g->nx; i++) {
            double exact = amplitude * sin(PI * grid_x(g, i)) * sin(PI * grid_y(g, j));
            worst = fmax(worst, fabs(g->t[AT(g, i, j)] - exact));
        }
    return worst;
}

/* How far SLAB is from the straight line between its walls. */
static double slab_error(const struct grid *g)
{
    double worst = 0.0;

    for (int j = 1; j <= g->ny; j++)
        for (int i = 1; i <= g->nx; i++)
            worst = fmax(worst, fabs(g->t[AT(g, i, j)] - (1.0 - grid_x(g, i))));
    return worst;
}

/* Velocity u along the vertical line through the middle: its smallest value is in every table of LID. */
static double slowest_on_middle_line(const struct grid *g)
{
    double slowest = 0.0;
    int i = g->nx / 2;

    for (int j = 1; j <= g->ny; j++)
        if (g->u[AT(g, i, j)] < slowest)
            slowest = g->u[AT(g, i, j)];
    return slowest;
}

static void result_print(const struct grid *g, const struct config *c, const struct fluid *f, double time)
{
    switch (c->scenario) {
    case DECAY:
        printf("error %.6e\n", decay_error(g, time));
        break;
    case SLAB:
        printf("error %.6e\n", slab_error(g));
        break;
    case LID:
        printf("slowest %.6f\n", slowest_on_middle_line(g));
        break;
    case CAVITY:
        printf("nusselt %.6f\n", nusselt(g, f->diffusivity, 1.0));
        break;
    }
}

int main(int argc, char **argv)
{
    struct config c;
    struct grid g;
    struct fluid f;
    struct walls w;
    double time = 0.0;
    int moving;

    if (config_read(&c, argc, argv) != 0)
        return 2;
    if (grid_create(&g, c.nx, c.ny, 1.0, 1.0) != 0) {
        fprintf(stderr, "%s: no memory\n", argv[0]);
        return 1;
    }
    set_up(&c, &f, &w);
    initial_fields(&g, &c);
    moving = c.scenario == LID || c.scenario == CAVITY;

    for (int step = 1; step <= c.steps; step++) {
        double dt;

        boundary_velocity(&g, &w);
        boundary_temperature(&g, &w);
        dt = solver_time_step(&g, &f, c.cfl);
        if (moving) {
            solver_predict(&g, &f, dt);
            poisson_solve(&g, c.method, c.tolerance, c.max_sweeps);
            solver_project(&g, dt);
            boundary_velocity(&g, &w);
        }
        solver_temperature(&g, &f, dt, moving);
        if (c.dye) {
            boundary_dye(&g);
            solver_dye(&g, (float)dt);
        }
        time += dt;
        if (c.report > 0 && step % c.report == 0)
            printf("step %d time %.6f middle %.8f\n", step, time, g.t[AT(&g, (g.nx + 1) / 2, (g.ny + 1) / 2)]);
    }
    boundary_velocity(&g, &w);
    boundary_temperature(&g, &w);

    summary_print(&g, &c, time);
    result_print(&g, &c, &f, time);
    if (c.snapshot != NULL && snapshot_write(&g, c.snapshot) != 0) {
        fprintf(stderr, "%s: cannot write %s\n", argv[0], c.snapshot);
        grid_destroy(&g);
        return 1;
    }
    grid_destroy(&g);
    return 0;
}
