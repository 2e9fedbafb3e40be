/* Calls of at: tested once before the loop, and where the test fails the loop throws where it did.
 * RUN: port --all
 * EXPECT: axpy/i parallel-after ported: parallel after localize=axpy/i
 * EXPECT: halve/i parallel-after ported: parallel after localize=halve/i
 * EXPECT: spread/i parallel-after ported: parallel after localize=spread/i
 * EXPECT: spread/i/j parallel-after ported: parallel after localize=spread/i
 * EXPECT: gather/i unanalyzable host: std::vector::at may throw
 * EXPECT: stages/i parallel ported: no carried dependence (proven)
 * EXPECT: stages/i#2 parallel-after ported: parallel after localize=stages/i#2
 * EXPECT: stages/i#3 parallel ported: no carried dependence (proven)
 * EXPECT: squares/i parallel-after ported: parallel after localize=squares/i
 * EXPECT: attempt/value_at scan host: 'data()' is a pointer inside a struct: copy it to a local pointer before the loop
 * EXPECT: attempt/value_at#2 scan host: 'data()' is a pointer inside a struct: copy it to a local pointer before the loop
 * EXPECT: main/i parallel-after ported: parallel after localize=main/i
 * VERIFY: pass
 */
#include <array>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <stdexcept>
#include <vector>

using vector = std::vector<double>;

static void axpy(vector &y, const vector &x, double a, int n)
{
    for (int i = 0; i < n; i++)
        y.at(i) += a * x.at(i);
}

static void halve(vector &y)
{
    for (std::size_t i = 0; i < y.size(); i++)
        y.at(i) *= 0.5;
}

static void spread(vector &y, const vector &x, int n, int m)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            y.at(i * m + j) = x.at(j) + i;
}

static void gather(vector &y, const std::vector<int> &from, int n)
{
    for (int i = 0; i < n; i++)
        y.at(from[i]) += 1;
}

static void stages(vector &y, vector &x, int n, int k, int m)
{
    for (int i = 0; i < n; i++)
        x[i] = x[i] * 3 + i;
    y.at(k) = 1;
    for (int i = 0; i < m; i++)
        y.at(i) = y.at(i) * 2 + 1;
    for (int i = 0; i < n; i++)
        x[i] = x[i] + 1;
}

static void squares(std::array<double, 64> &t, int n)
{
    for (int i = 0; i < n; i++)
        t.at(i) = i * i;
}

static void attempt(const vector &x, const vector &y, const std::function<void()> &function)
{
    try {
        function();
    } catch (const std::out_of_range &) {
        std::printf("thrown ");
    }
    double s = 0;
    for (double value : x)
        s = s * 0.9 + value;
    for (double value : y)
        s = s * 0.9 + value;
    std::printf("%.10g\n", s);
}

int main()
{
    vector x(60, 1.5), y(50);
    std::vector<int> from(60);
    std::array<double, 64> t{};
    for (int i = 0; i < 60; i++)
        from[i] = i * 7 % 55;
    attempt(x, y, [&] { axpy(y, x, 2, 50); });
    attempt(x, y, [&] { axpy(y, x, 2, 51); });
    attempt(x, y, [&] { halve(y); });
    attempt(x, y, [&] { spread(y, x, 5, 10); });
    attempt(x, y, [&] { spread(y, x, 6, 9); });
    attempt(x, y, [&] { gather(y, from, 60); });
    attempt(x, y, [&] { stages(y, x, 60, 4, 50); });
    attempt(x, y, [&] { stages(y, x, 60, 50, 50); });
    attempt(x, y, [&] { stages(y, x, 60, 4, 52); });
    attempt(x, y, [&] { squares(t, 64); });
    attempt(x, y, [&] { squares(t, 65); });
    std::printf("%g\n", t[63]);
    return 0;
}
