/* Polygeist 165, Pluto 19: a struct is copied whole, a variable is declared in the body.
 * RUN: port
 * EXPECT: move/i parallel ported: no carried dependence (proven)
 * VERIFY: pass
 */
typedef struct {
    double x, y;
    int cell;
} point;

void move(int n, point *restrict to, const point *restrict from, double step)
{
    for (int i = 0; i < n; i++) {
        point moved = from[i];
        moved.x += step;
        moved.cell = i;
        to[i] = moved;
    }
}
