/* Enumerations and their names reach a kernel, which C++ makes of numbers only where it is told to.
 * RUN: port
 * EXPECT: fill/i parallel ported: no carried dependence (proven)
 * VERIFY: pass
 */
#include <stdio.h>
#include <stdlib.h>

enum kind { FLAT, STEEP };
typedef enum kind kind_t;

struct config {
    kind_t kind;
    int n;
};

void fill(const struct config *c, double *restrict x, int n)
{
    const kind_t declared = c->kind;
    enum kind tagged = c->kind;
    size_t offset = n;

    for (int i = 0; i < n; i++)
        x[i] = declared == STEEP && tagged == STEEP ? 2.0 * i + offset : i;
}

int main(void)
{
    struct config c = {STEEP, 100};
    double *x = malloc(c.n * sizeof *x);

    fill(&c, x, c.n);
    printf("%g %g\n", x[0], x[99]);
    free(x);
    return 0;
}
