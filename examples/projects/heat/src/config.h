/* What a run is told: the case, its numbers, and what it prints. */
#ifndef CONFIG_H
#define CONFIG_H

enum scenario {
    DECAY,  /* a sine of temperature that dies away, walls at zero, fluid at rest */
    SLAB,   /* conduction between a hot and a cold wall */
    LID,    /* a box whose lid moves */
    CAVITY  /* hot on the left, cold on the right: natural convection */
};

enum pressure_method { JACOBI, RED_BLACK };

struct config {
    enum scenario scenario;
    enum pressure_method method;
    int nx, ny;
    int steps;
    int report;         /* a line every so many steps; 0: none */
    double cfl;         /* share of the largest stable time step */
    double reynolds;    /* LID */
    double rayleigh;    /* CAVITY */
    double prandtl;     /* CAVITY */
    double tolerance;   /* of the pressure equation, relative */
    int max_sweeps;     /* of the pressure equation, for one step */
    int dye;            /* carry the tracer along */
    const char *snapshot; /* file for the last fields, or NULL */
};

/* How much of the convection is taken from upwind: 0 central, 1 donor cell. */
extern double upwind_share;

/* Chatter on standard error. */
extern int verbose;

/* Returns 0, or -1 after a message where an option is wrong. */
int config_read(struct config *c, int argc, char **argv);

const char *scenario_name(enum scenario s);

#endif
