/* References, std::vector and std::array, range-for, a template of one instance and one of two, a namespace, a lambda.
 * RUN: port
 * EXPECT: axpy<double>/i parallel-after ported: parallel after localize=axpy<double>/i
 * EXPECT: sum<double>/value_at reduction ported: an associative update (+: total) is the only carried dependence
 * EXPECT: scale/i parallel ported: no carried dependence (if what is touched of by and of table does not overlap)
 * EXPECT: main/i parallel-after ported: parallel after localize=main/i
 * EXPECT: main/i#2 parallel ported: no carried dependence (proven)
 * EXPECT: main/value_at parallel-after ported: parallel after localize=main/value_at
 * VERIFY: pass
 */
#include <array>
#include <cstddef>
#include <cstdio>
#include <vector>

namespace blas {
template <typename T>
void axpy(T a, const std::vector<T> &x, std::vector<T> &y)
{
    for (std::size_t i = 0; i < y.size(); ++i)
        y[i] += a * x[i];
}

template <typename T>
T sum(const std::vector<T> &x)
{
    T total = 0;
    for (const auto &value : x)
        total += value;
    return total;
}
}

namespace {
void scale(double &by, std::array<double, 64> &table)
{
    for (int i = 0; i < 64; i++)
        table[i] *= by;
}
}

int main()
{
    const int n = 500;
    std::vector<double> x(n, 1.0), y(n);
    std::vector<float> z(n, 2.0f);
    std::array<double, 64> table;
    auto start = [&](int i) { return static_cast<double>(i) * 0.5; };
    for (int i = 0; i < n; i++)
        y[i] = start(i);
    for (int i = 0; i < 64; i++)
        table[i] = i;
    for (auto &value : x)
        value *= 3;
    blas::axpy(2.0, x, y);
    double by = 1.5;
    scale(by, table);
    y.resize(n / 2);
    std::printf("%g %g %g\n", blas::sum(y), static_cast<double>(blas::sum(z)), table[7]);
}
