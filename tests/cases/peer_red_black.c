/* Pluto 11: the points of one color read only points of the other; the condition must survive.
 * RUN: port
 * EXPECT: red/i parallel ported: no carried dependence (proven)
 * EXPECT: red/i/j parallel ported: no carried dependence (proven)
 * EXPECT: red/i/j/k parallel ported: no carried dependence (proven)
 * VERIFY: pass
 */
void red(int n, double u[restrict n][n][n])
{
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++)
            for (int k = 1; k < n - 1; k++)
                if ((i + j + k) % 2 == 0)
                    u[i][j][k] = 0.25 * (u[i - 1][j][k] + u[i + 1][j][k] + u[i][j - 1][k] + u[i][j][k + 1]);
}
