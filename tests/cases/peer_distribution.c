/* DaCe 2247 (TSVC s2244): an output dependence from the first statement to the second, one iteration on. Each is
 * parallel in a loop of its own, the first one first.
 * RUN: port
 * EXPECT: distribution/i parallel-after ported: parallel after distribute=distribution/i,groups=1
 * VERIFY: pass
 */
void distribution(int n, double *restrict a, const double *restrict b, const double *restrict c, const double *restrict e)
{
    for (int i = 0; i < n - 1; i++) {
        a[i + 1] = b[i] + e[i];
        a[i] = b[i] + c[i];
    }
}
