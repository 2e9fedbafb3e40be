/* A struct of pointers with a name of its own, particles with arrays and structs inside, a list that has no numbers.
 * RUN: port
 * EXPECT: fill/i parallel-after ported: parallel after localize=fill/i
 * EXPECT: drift/i parallel ported: no carried dependence (proven)
 * EXPECT: total/for unanalyzable host: not a counted loop: it walks a linked list (p = p->next): its elements have no numbers
 * EXPECT: main/i parallel host: 'next' is a pointer inside a struct: copy it to a local pointer before the loop
 * VERIFY: pass
 */
#include <stdio.h>
#include <stdlib.h>

static struct {
    double *x;
    int n;
    double h;
} G;

struct particle {
    double pos[3];
    struct {
        double x, y;
    } speed;
    struct particle *next;
};

static void fill(void)
{
    for (int i = 0; i < G.n; i++)
        G.x[i] = i * G.h;
}

static void drift(int n, struct particle *p, double dt)
{
    for (int i = 0; i < n; i++) {
        struct particle *q = &p[i];
        q->pos[0] += dt * q->speed.x;
        q->pos[2] += dt * q->speed.y;
    }
}

static double total(struct particle *first)
{
    double sum = 0;
    for (struct particle *p = first; p; p = p->next)
        sum += p->pos[0];
    return sum;
}

int main(void)
{
    static struct particle p[30];
    G.n = 50, G.h = 0.5, G.x = calloc(50, 8);
    for (int i = 0; i < 29; i++) {
        p[i].speed.x = i;
        p[i].next = &p[i + 1];
    }
    fill();
    drift(30, p, 0.5);
    printf("%g %g\n", G.x[7], total(p));
    return 0;
}
