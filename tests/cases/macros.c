/* Bounds, subscripts and declarations written as macros.
 * RUN: port
 * EXPECT: smooth/i parallel ported: no carried dependence (proven)
 * EXPECT: smooth/i/j parallel ported: no carried dependence (proven)
 * VERIFY: pass
 */
#define SIZE 40
#define LAST (SIZE - 1)
#define AT(i, j) ((i) * SIZE + (j))
#define MATRIX(name) double name[SIZE * SIZE]

static MATRIX(u);
static MATRIX(v);

void smooth(void)
{
    for (int i = 1; i < LAST; i++)
        for (int j = 1; j < LAST; j++)
            v[AT(i, j)] = 0.25 * (u[AT(i - 1, j)] + u[AT(i + 1, j)] + u[AT(i, j - 1)] + u[AT(i, j + 1)]);
}
