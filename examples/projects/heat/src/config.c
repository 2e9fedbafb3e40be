#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

double upwind_share = 0.0;
int verbose = 0;

static const struct {
    const char *name;
    enum scenario value;
} scenarios[] = {
    {"decay", DECAY},
    {"slab", SLAB},
    {"lid", LID},
    {"cavity", CAVITY},
};

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

const char *scenario_name(enum scenario s)
{
    for (int k = 0; k < COUNT(scenarios); k++)
        if (scenarios[k].value == s)
            return scenarios[k].name;
    return "?";
}

static void usage(const char *program)
{
    fprintf(stderr,
            "usage: %s [--case decay|slab|lid|cavity] [--nx N] [--ny N] [--steps N] [--report K]\n"
            "       [--method jacobi|redblack] [--cfl X] [--re X] [--ra X] [--pr X] [--upwind X]\n"
            "       [--tolerance X] [--sweeps N] [--dye] [--snapshot FILE] [--verbose]\n",
            program);
}

static int whole(const char *text, int least, int *value)
{
    char *end;
    long v = strtol(text, &end, 10);
    if (*text == '\0' || *end != '\0' || v < least || v > 1000000000)
        return -1;
    *value = (int)v;
    return 0;
}

static int real(const char *text, double *value)
{
    char *end;
    double v = strtod(text, &end);
    if (*text == '\0' || *end != '\0')
        return -1;
    *value = v;
    return 0;
}

static void defaults(struct config *c)
{
    memset(c, 0, sizeof *c);
    c->scenario = CAVITY;
    c->method = JACOBI;
    c->nx = c->ny = 24;
    c->steps = 50;
    c->report = 10;
    c->cfl = 0.5;
    c->reynolds = 100.0;
    c->rayleigh = 1e3;
    c->prandtl = 0.71;
    c->tolerance = 1e-4;
    c->max_sweeps = 200;
}

static int set_case(struct config *c, const char *text)
{
    for (int k = 0; k < COUNT(scenarios); k++)
        if (strcmp(text, scenarios[k].name) == 0) {
            c->scenario = scenarios[k].value;
            return 0;
        }
    return -1;
}

static int set_method(struct config *c, const char *text)
{
    if (strcmp(text, "jacobi") == 0)
        c->method = JACOBI;
    else if (strcmp(text, "redblack") == 0)
        c->method = RED_BLACK;
    else
        return -1;
    return 0;
}

static int set_value(struct config *c, const char *option, const char *text)
{
    if (strcmp(option, "--case") == 0)
        return set_case(c, text);
    if (strcmp(option, "--method") == 0)
        return set_method(c, text);
    if (strcmp(option, "--nx") == 0)
        return whole(text, 2, &c->nx);
    if (strcmp(option, "--ny") == 0)
        return whole(text, 2, &c->ny);
    if (strcmp(option, "--steps") == 0)
        return whole(text, 0, &c->steps);
    if (strcmp(option, "--report") == 0)
        return whole(text, 0, &c->report);
    if (strcmp(option, "--sweeps") == 0)
        return whole(text, 1, &c->max_sweeps);
    if (strcmp(option, "--cfl") == 0)
        return real(text, &c->cfl);
    if (strcmp(option, "--re") == 0)
        return real(text, &c->reynolds);
    if (strcmp(option, "--ra") == 0)
        return real(text, &c->rayleigh);
    if (strcmp(option, "--pr") == 0)
        return real(text, &c->prandtl);
    if (strcmp(option, "--upwind") == 0)
        return real(text, &upwind_share);
    if (strcmp(option, "--tolerance") == 0)
        return real(text, &c->tolerance);
    if (strcmp(option, "--snapshot") == 0) {
        c->snapshot = text;
        return 0;
    }
    return -1;
}

int config_read(struct config *c, int argc, char **argv)
{
    int k = 1;

    defaults(c);
    while (k < argc) {
        if (strcmp(argv[k], "--dye") == 0) {
            c->dye = 1;
            k++;
        } else if (strcmp(argv[k], "--verbose") == 0) {
            verbose = 1;
            k++;
        } else if (k + 1 < argc && set_value(c, argv[k], argv[k + 1]) == 0) {
            k += 2;
        } else {
            fprintf(stderr, "%s: cannot read '%s'\n", argv[0], argv[k]);
            usage(argv[0]);
            return -1;
        }
    }
    return 0;
}
