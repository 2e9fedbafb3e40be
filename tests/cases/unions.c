/* Numbers in unions: what a loop reads of one is a variable before it, what writes one leaves the counters of loops alone.
 * RUN: port --all
 * EXPECT: fill/i parallel ported: no carried dependence (proven)
 * EXPECT: as_often/i parallel ported: no carried dependence (proven)
 * EXPECT: behind/i reduction ported: an associative update (+: s) is the only carried dependence
 * EXPECT: cells/i unanalyzable host: a construct that is not modelled: a union member
 * EXPECT: other_member/for unanalyzable host: not a counted loop: its bound u.i may be written by u.f in line 66
 * EXPECT: through_pointer/i sequential host: carries an output dependence on p
 * VERIFY: pass
 */
#include <stdio.h>
#include <stdlib.h>

union word {
    int i;
    float f;
};
typedef struct {
    int kind;
    union {
        int n;
        double d;
    } v;
} cell;

static void fill(int n, float *a, float x)
{
    union word u;
    u.f = x;
    for (int i = 0; i < n; i++)
        a[i] = u.f * i;
}

static void as_often(float *a)
{
    union word u;
    u.i = 700;
    for (int i = 0; i < u.i; i++)
        a[i] += 1;
}

static float behind(int n, const float *a, const cell *c)
{
    float s = 0;
    for (int i = 0; i < n; i++)
        s += a[i] * (float)c->v.d;
    return s;
}

/* a kernel would need the union */
static void cells(int n, cell *c)
{
    for (int i = 0; i < n; i++) {
        c[i].kind = i % 2;
        c[i].v.d = i;
    }
}

/* the other member changes with it */
static void other_member(float *a)
{
    union word u;
    u.i = 3;
    for (int i = 0; i < u.i; i++) {
        a[i] = i;
        u.f = 0;
    }
}

static void through_pointer(int n, float *a)
{
    union word u;
    int *p = &u.i;
    u.f = 1;
    for (int i = 0; i < n; i++) {
        a[i] = u.f;
        *p = i;
    }
}

int main(void)
{
    int n = 1000;
    float *a = malloc(n * sizeof *a);
    cell *c = malloc(n * sizeof *c);
    if (!a || !c)
        return 1;
    fill(n, a, 0.5f);
    as_often(a);
    printf("%g %g\n", a[699], a[n - 1]);
    cells(n, c);
    printf("%g\n", behind(n, a, c + 1));
    through_pointer(n, a);
    other_member(a);
    printf("%g %g %g\n", a[0], a[1], c[n - 1].v.d);
    free(a);
    free(c);
    return 0;
}
