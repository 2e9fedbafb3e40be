/* A sum of the library's in a declaration, with loops behind it that need a test: no test stands inside the declaration.
 * RUN: port --all
 * EXPECT: all/b_at reduction ported: an associative update (+: sum) is the only carried dependence
 * EXPECT: all/i parallel ported: no carried dependence (if m.columns >= 20)
 * EXPECT: all/i/j parallel ported: no carried dependence (if m.columns >= 20)
 * EXPECT: all/i#2 reduction ported: an associative update (+: s) is the only carried dependence
 * EXPECT: all/i#2/j reduction ported: an associative update (+: s) is the only carried dependence
 * EXPECT: last/i parallel ported: no carried dependence (if m.columns >= 20)
 * EXPECT: last/i/j parallel ported: no carried dependence (if m.columns >= 20)
 * EXPECT: last/i#2 parallel ported: no carried dependence (proven)
 * EXPECT: last/b_at reduction ported: an associative update (+: sum) is the only carried dependence
 * EXPECT: main/i parallel-after ported: parallel after localize=main/i
 * EXPECT: main/i/j parallel-after ported: parallel after localize=main/i
 * EXPECT: main/i#2 parallel-after ported: parallel after localize=main/i#2
 * EXPECT: main/b_at reduction ported: an associative update (+: sum) is the only carried dependence
 * EXPECT: main/i#3 reduction ported: an associative update (+: s) is the only carried dependence
 * EXPECT: main/i#4 reduction ported: an associative update (+: s) is the only carried dependence
 * EXPECT: main/i#4/j reduction ported: an associative update (+: s) is the only carried dependence
 * VERIFY: pass
 */
#include <cstdio>
#include <numeric>
#include <vector>

struct Matrix {
    int rows, columns;
    std::vector<double> data;
    Matrix(int r, int c) : rows(r), columns(c), data(r * c) {}
    double &operator()(int i, int j) { return data[i * columns + j]; }
};

static double all(Matrix &m, const std::vector<double> &b)
{
    double s = std::accumulate(b.begin(), b.end(), 0.0);
    for (int i = 0; i < 30; i++)
        for (int j = 0; j < 20; j++)
            m(i, j) += s;
    for (int i = 0; i < 30; i++)
        for (int j = 0; j < 20; j++)
            s += m(i, j);
    return s;
}

static double last(Matrix &m, std::vector<double> &b)
{
    for (int i = 0; i < 30; i++)
        for (int j = 0; j < 20; j++)
            m(i, j) *= 0.5;
    for (size_t i = 0; i < b.size(); i++)
        b[i] += 2;
    const double s = std::accumulate(b.begin(), b.end(), 0.0);
    return s;
}

int main()
{
    Matrix m(30, 20);
    std::vector<double> b(900, 1.0);
    for (int i = 0; i < 30; i++)
        for (int j = 0; j < 20; j++)
            m(i, j) = i + j;
    std::vector<float> f(900, 2.0f);
    for (int i = 0; i < 900; i++)
        b[i] += i;
    b.push_back(3.0);
    double s = std::accumulate(b.begin(), b.end(), 0.0);
    for (int i = 0; i < 900; i++)
        s += f[i];
    for (int i = 0; i < 30; i++)
        for (int j = 0; j < 20; j++)
            s += m(i, j);
    printf("%.6f %.6f %.6f\n", s, all(m, b), last(m, b));
    return 0;
}
