/* Three numbers, and the box that everything lives in. */
#ifndef PARTICLES_VECTOR_H
#define PARTICLES_VECTOR_H

#include <math.h>

#define DIMENSIONS 3

/* The nearest of all periodic images. */
static inline double nearest_image(double d, double length)
{
    if (d > 0.5 * length)
        return d - length;
    if (d < -0.5 * length)
        return d + length;
    return d;
}

/* Back into [0, length). */
static inline double wrapped(double x, double length)
{
    x -= length * floor(x / length);
    return x < length ? x : 0.0;
}

static inline double dot(const double a[DIMENSIONS], const double b[DIMENSIONS])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

#endif
