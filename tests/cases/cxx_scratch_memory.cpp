/* Memory of each iteration by new and malloc, and near misses.
 * RUN: port --all
 * EXPECT: smooth/i parallel-after ported: parallel after hoist-allocation=smooth/i,variable=row
 * EXPECT: smooth/i/j parallel ported: no carried dependence (proven)
 * EXPECT: smooth/i/j#2 reduction ported: an associative update (+: sum) is the only carried dependence
 * EXPECT: pairs/i parallel-after ported: parallel after localize=pairs/i, hoist-allocation=pairs/i,variable=pair
 * EXPECT: pairs/i/j parallel ported: no carried dependence (proven)
 * EXPECT: pairs/i/j#2 reduction ported: an associative update (+: sum) is the only carried dependence
 * EXPECT: zeros/i parallel-after ported: parallel after hoist-allocation=zeros/i,variable=seen
 * EXPECT: zeros/i/j reduction ported: an associative update (+: seen) is the only carried dependence
 * EXPECT: handed_on/i unanalyzable host: delete[] frees memory
 * EXPECT: main/i parallel-after ported: parallel after localize=main/i
 * EXPECT: main/i#2 reduction ported: an associative update (+: s) is the only carried dependence
 * VERIFY: pass
 */
#include <cstdio>
#include <cstdlib>
#include <vector>

static void smooth(int n, int m, const double *a, double *r)
{
    for (int i = 0; i < n; i++) {
        double *row = new double[m];
        for (int j = 0; j < m; j++)
            row[j] = a[i * m + j] * 2;
        double sum = 0;
        for (int j = 1; j < m; j++)
            sum += row[j] * row[j - 1];
        r[i] = sum;
        delete[] row;
    }
}

struct Pair {
    double left;
    int right;
};

static void pairs(int n, int m, const std::vector<double> &a, std::vector<double> &r)
{
    for (int i = 0; i < n; i++) {
        Pair *pair = (Pair *)std::malloc(sizeof(Pair) * m);
        for (int j = 0; j < m; j++) {
            pair[j].left = a[i * m + j];
            pair[j].right = j - i;
        }
        double sum = 0;
        for (int j = 0; j < m; j++)
            sum += pair[m - 1 - j].left * pair[j].right;
        r[i] += sum;
        std::free(pair);
    }
}

/* zeros */
static void zeros(int n, int m, const double *a, double *r)
{
    for (int i = 0; i < n; i++) {
        int *seen = new int[7]();
        for (int j = 0; j < m; j++)
            seen[(int)a[i * m + j] % 7] += 1;
        r[i] += seen[3] - seen[6];
        delete[] seen;
    }
}

/* the next iteration reads what this one wrote */
static void handed_on(int n, const double *a, double *r)
{
    double *last = new double[2];
    last[0] = 1;
    for (int i = 0; i < n; i++) {
        double *now = new double[2];
        now[0] = a[i] * 0.5 + last[0] * 0.25;
        r[i] += now[0];
        delete[] last;
        last = now;
    }
    delete[] last;
}

int main()
{
    int n = 70, m = 12;
    std::vector<double> a(n * m), r(n);
    for (int i = 0; i < n * m; i++)
        a[i] = i * 31 % 101;
    smooth(n, m, a.data(), r.data());
    pairs(n, m, a, r);
    zeros(n, m, a.data(), r.data());
    handed_on(n, a.data(), r.data());
    double s = 0;
    for (int i = 0; i < n; i++)
        s += r[i];
    std::printf("%.10g\n", s);
}
