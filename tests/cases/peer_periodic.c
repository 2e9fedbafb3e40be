/* Pluto 25: a relaxation with periodic boundaries; the wrapped neighbor is of this sweep or of the last one.
 * RUN: port
 * EXPECT: relax/i parallel-after ported: parallel after wavefront=relax/i,depth=2,factors=1:1
 * EXPECT: relax/i/j parallel-after ported: parallel after wavefront=relax/i,depth=2,factors=1:1
 * VERIFY: pass
 */
void relax(int n, double x[restrict n][n])
{
    for (int i = 1; i < n; i++)
        for (int j = 0; j < n; j++) {
            int left = j == 0 ? n - 1 : j - 1;
            x[i][j] = 0.5 * (x[i - 1][j] + x[i][left]);
        }
}
