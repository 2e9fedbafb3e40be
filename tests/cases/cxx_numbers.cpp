/* Numbers that algorithms of the library give: in declarations, conditions, returns and expressions.
 * RUN: port
 * EXPECT: norm/x_at reduction ported: an associative update (+: sum) is the only carried dependence
 * EXPECT: main/i parallel-after ported: parallel after localize=main/i
 * EXPECT: main/v_at reduction ported: an associative update (+: sum) is the only carried dependence
 * EXPECT: main/v_at#2 reduction ported: an associative update (max: largest) is the only carried dependence
 * EXPECT: main/v_at#3 reduction ported: an associative update (+: count) is the only carried dependence
 * EXPECT: main/v_at#4 reduction ported: an associative update (min: found) is the only carried dependence
 * VERIFY: pass
 */
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <vector>

static double norm(const std::vector<double> &x)
{
    return std::sqrt(std::inner_product(x.begin(), x.end(), x.begin(), 0.0));
}

int main()
{
    std::vector<double> v(700);
    for (int i = 0; i < 700; i++)
        v[i] = i * 37 % 701;
    const double mean = std::accumulate(v.begin(), v.end(), 0.0) / v.size();
    auto at = std::max_element(v.begin(), v.end()) - v.begin();
    if (std::any_of(v.begin(), v.end(), [mean](double x) { return x > 2 * mean; }))
        std::printf("far\n");
    bool has = std::find(v.begin(), v.end(), 99.0) != v.end();
    std::printf("%g %g %ld %d\n", norm(v), mean, (long)at, has);
    return 0;
}
