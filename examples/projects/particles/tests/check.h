#ifndef PARTICLES_CHECK_H
#define PARTICLES_CHECK_H

#include <math.h>
#include <stdio.h>

static int failures = 0;

static void near(const char *what, double value, double expected, double tolerance)
{
    if (fabs(value - expected) <= tolerance)
        return;
    printf("FAILED %s: %.12g, expected %.12g within %g\n", what, value, expected, tolerance);
    failures++;
}

static int verdict(const char *name)
{
    printf("%s: %s\n", name, failures == 0 ? "ok" : "FAILED");
    return failures == 0 ? 0 : 1;
}

#endif
