/* Loops of nine iterations inside two loops of the host: a launch costs more than all of it, so they stay.
 * RUN: port
 * EXPECT: relax/y unanalyzable host: the subscript of order[c] is not affine
 * EXPECT: relax/y/x unanalyzable host: the subscript of order[c] is not affine
 * EXPECT: relax/y/x/k parallel host: 2 loops of the host would launch it, for data that no other kernel there uses
 * EXPECT: fill/i parallel ported: no carried dependence (proven)
 * VERIFY: pass
 */
struct cell {
    float speed[9];
};

void relax(int n, int m, int *restrict order, struct cell *restrict cells)
{
    for (int y = 0; y < n; y++)
        for (int x = 0; x < m; x++) {
            int c = order[y * m + x];
            order[y * m + x] = order[c];
            for (int k = 0; k < 9; k++)
                cells[c].speed[k] = 0.5f * cells[c].speed[k];
        }
}

void fill(int n, float *restrict a)
{
    for (int i = 0; i < n; i++)
        a[i] = 2.0f * a[i];
}
