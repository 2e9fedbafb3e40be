/* Assertions that are on, in loops and in what they call, are tested in the kernels; those of loops whose order would
 * change, or whose values are needed before the test, keep the loop as it is.
 * RUN: port --all
 * EXPECT: fill/i parallel ported: no carried dependence (proven)
 * EXPECT: forces/i parallel ported: no carried dependence (proven)
 * EXPECT: forces/i/k reduction ported: an associative update (+: f) is the only carried dependence
 * EXPECT: energy/i reduction ported: an associative update (+: e) is the only carried dependence
 * EXPECT: running/i sequential host: a running value (+: s) is the only carried dependence, and an assertion stands in the loop of a running value
 * EXPECT: find/i unanalyzable host: the loop may be left early by return
 * EXPECT: counted/i sequential host: carries a flow dependence on k
 * EXPECT: diagonal/i sequential host: carries a flow dependence on g
 * EXPECT: diagonal/i/j parallel ported: no carried dependence (proven)
 * EXPECT: main/i unanalyzable host: printf writes output
 * VERIFY: pass
 */
#include <assert.h>
#include <stdio.h>

#define N 900

static double x[N], f[N], sums[N], g[30][30];
static int cell[N];

static double pair(const double *x, int i, int j)
{
    assert(j >= 0 && j < N);
    return x[i] - x[j];
}

static void fill(void)
{
    for (int i = 0; i < N; i++) {
        x[i] = 0.5 * i;
        cell[i] = i * 7 % N;
    }
}

static void forces(void)
{
    for (int i = 0; i < N; i++) {
        assert(cell[i] >= 0);
        double r = pair(x, i, cell[i]);
        f[i] = 0;
        for (int k = 0; k < 4; k++) {
            assert(r * r < 1e9);
            f[i] += r * k;
        }
    }
}

static double energy(void)
{
    double e = 0;
    for (int i = 0; i < N; i++) {
        assert(f[i] < 1e9);
        e += f[i] * f[i];
    }
    return e;
}

static void running(void)
{
    double s = 0;
    for (int i = 0; i < N; i++) {
        assert(cell[i] < N);
        s += x[cell[i]];
        sums[i] = s;
    }
}

static int find(double key)
{
    for (int i = 0; i < N; i++) {
        assert(x[i] < 100);
        if (x[i] == key)
            return i;
    }
    return -1;
}

static int counted(void)
{
    int k = 0;
    for (int i = 0; i < N; i++) {
        assert(k++ < N);
        sums[i] += 1;
    }
    return k;
}

static void diagonal(void)
{
    for (int i = 1; i < 30; i++)
        for (int j = 0; j < 29; j++) {
            assert(g[i][j] > -1);
            g[i][j] = g[i - 1][j + 1] + 1;
        }
}

int main(void)
{
    fill();
    forces();
    running();
    diagonal();
    printf("%g %d %d %g\n", energy(), find(20.0), counted(), g[29][3]);
    for (int i = 0; i < N; i += 100)
        printf("%g %g\n", f[i], sums[i]);
    return 0;
}
