/* Methods, members without `this->`, small functions in place of their calls, std::max, a private number.
 * RUN: port
 * EXPECT: Solver::init/i parallel ported: no carried dependence (proven)
 * EXPECT: Solver::init/i/j parallel ported: no carried dependence (proven)
 * EXPECT: Solver::step/i parallel-after ported: parallel after localize=Solver::step/i
 * EXPECT: Solver::step/i/j parallel-after ported: parallel after localize=Solver::step/i
 * EXPECT: Solver::largest/i reduction ported: an associative update (max: m) is the only carried dependence
 * EXPECT: Solver::largest/i/j reduction ported: an associative update (max: m) is the only carried dependence
 * EXPECT: main/t unanalyzable host: solver.step() may touch any part of what its arguments lead to
 * VERIFY: pass
 */
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

struct Grid {
    Grid(int nx, int ny) : nx_(nx), ny_(ny), data_(nx * ny, 0.0) {}
    double &operator()(int i, int j) { return data_[i * ny_ + j]; }
    const double &operator()(int i, int j) const { return data_[i * ny_ + j]; }
    int nx() const { return nx_; }
    int ny() const { return ny_; }
    int nx_, ny_;
    std::vector<double> data_;
};

class Solver {
public:
    explicit Solver(int n) : now(n, n), next(n, n), rate(0.1) {}
    void init();
    void step();
    double largest() const;

private:
    Grid now, next;
    double rate;
};

void Solver::init()
{
    for (int i = 0; i < now.nx(); i++)
        for (int j = 0; j < now.ny(); j++)
            now(i, j) = 0.25 * i + (j > 3 ? 1.0 : 0.0);
}

void Solver::step()
{
    for (int i = 1; i < now.nx() - 1; i++)
        for (int j = 1; j < now.ny() - 1; j++)
            next(i, j) = now(i, j) + rate * (now(i + 1, j) + now(i - 1, j) + now(i, j + 1) + now(i, j - 1) - 4 * now(i, j));
    std::swap(now.data_, next.data_);
}

double Solver::largest() const
{
    double m = 0;
    for (int i = 0; i < now.nx(); i++)
        for (int j = 0; j < now.ny(); j++)
            m = std::max(m, std::fabs(now(i, j)));
    return m;
}

int main()
{
    Solver solver(40);
    solver.init();
    for (int t = 0; t < 10; t++)
        solver.step();
    std::printf("%.10g\n", solver.largest());
}
