/* What the programs of this folder share: data sets, element type, bounds, arrays, output.
 *
 * Each program is a whole: it allocates, initializes, runs the region between `#pragma scop` and `#pragma endscop`,
 * and prints what came out. Options, all of them -D macros:
 *
 *   MINI_DATASET (the default), SMALL_DATASET, MEDIUM_DATASET, LARGE_DATASET, EXTRALARGE_DATASET
 *   N=37 and the like       one size by hand, the others stay
 *   DATA_TYPE_IS_INT, DATA_TYPE_IS_FLOAT, DATA_TYPE_IS_DOUBLE      another element type than the program's own
 *   SUITE_FIXED_BOUNDS      loop bounds are the constants, not the function's parameters
 *   SUITE_FIXED_ARRAYS      array extents are the constants, not the function's parameters
 *   SUITE_DUMP              print every element
 */
#ifndef SUITE_H
#define SUITE_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#pragma GCC diagnostic ignored "-Wunknown-pragmas"

#if defined(EXTRALARGE_DATASET)
#define SUITE_PICK(mini, small, medium, large, extralarge) extralarge
#elif defined(LARGE_DATASET)
#define SUITE_PICK(mini, small, medium, large, extralarge) large
#elif defined(MEDIUM_DATASET)
#define SUITE_PICK(mini, small, medium, large, extralarge) medium
#elif defined(SMALL_DATASET)
#define SUITE_PICK(mini, small, medium, large, extralarge) small
#else
#define SUITE_PICK(mini, small, medium, large, extralarge) mini
#endif

#if !defined(DATA_TYPE_IS_INT) && !defined(DATA_TYPE_IS_FLOAT) && !defined(DATA_TYPE_IS_DOUBLE)
#if defined(SUITE_DEFAULT_INT)
#define DATA_TYPE_IS_INT
#elif defined(SUITE_DEFAULT_FLOAT)
#define DATA_TYPE_IS_FLOAT
#else
#define DATA_TYPE_IS_DOUBLE
#endif
#endif

#if defined(DATA_TYPE_IS_INT)
#define DATA_TYPE int
#define SCALAR(x) x
#elif defined(DATA_TYPE_IS_FLOAT)
#define DATA_TYPE float
#define SCALAR(x) x##f
#define SQRT(x) sqrtf(x)
#define EXP(x) expf(x)
#else
#define DATA_TYPE double
#define SCALAR(x) x
#define SQRT(x) sqrt(x)
#define EXP(x) exp(x)
#endif

#ifdef SUITE_FIXED_BOUNDS
#define SUITE_BOUND(constant, parameter) constant
#pragma GCC diagnostic ignored "-Wunused-parameter"
#else
#define SUITE_BOUND(constant, parameter) parameter
#endif

#ifdef SUITE_FIXED_ARRAYS
#define SUITE_EXTENT(constant, parameter) constant
#else
#define SUITE_EXTENT(constant, parameter) parameter
#endif

/* A parameter's declarator: DATA_TYPE SUITE_2D(A, N, M, n, m) is DATA_TYPE A[n][m] or A[N][M]. */
#define SUITE_1D(name, D1, d1) name[SUITE_EXTENT(D1, d1)]
#define SUITE_2D(name, D1, D2, d1, d2) name[SUITE_EXTENT(D1, d1)][SUITE_EXTENT(D2, d2)]
#define SUITE_3D(name, D1, D2, D3, d1, d2, d3) \
    name[SUITE_EXTENT(D1, d1)][SUITE_EXTENT(D2, d2)][SUITE_EXTENT(D3, d3)]

/* A whole array on the heap; SUITE_ARRAY(A) is what a function takes. */
#define SUITE_NEW_1D(name, type, D1, d1) type(*name)[SUITE_EXTENT(D1, d1)] = malloc(sizeof *name)
#define SUITE_NEW_2D(name, type, D1, D2, d1, d2) \
    type(*name)[SUITE_EXTENT(D1, d1)][SUITE_EXTENT(D2, d2)] = malloc(sizeof *name)
#define SUITE_NEW_3D(name, type, D1, D2, D3, d1, d2, d3) \
    type(*name)[SUITE_EXTENT(D1, d1)][SUITE_EXTENT(D2, d2)][SUITE_EXTENT(D3, d3)] = malloc(sizeof *name)
#define SUITE_ARRAY(name) (*name)

/* What is printed of one array: a weighted sum of all elements, and those whose number is a power of two. */
#ifdef SUITE_DUMP
#define SUITE_SHOWN(number) 1
#define SUITE_FORMAT "\n%.17g"
#else
#define SUITE_SHOWN(number) (((number) & ((number)-1)) == 0)
#define SUITE_FORMAT " %.6g"
#endif

typedef struct {
    double sum;
    long count;
} Digest;

static Digest digest_begin(const char *name)
{
    Digest digest = {0.0, 0};
    printf("%s:", name);
    return digest;
}

static void digest_put(Digest *digest, double value)
{
    if (SUITE_SHOWN(digest->count))
        printf(SUITE_FORMAT, value);
    digest->sum += value * (double)(digest->count % 7 + 1);
    digest->count++;
}

static void digest_end(const Digest *digest)
{
    printf("\nsum %.9g of %ld\n", digest->sum, digest->count);
}

#endif
