/* Vectors of vectors: a nest over all rows is one kernel, however long each is. Where rows may change in the loop, or a
 * row is used as a whole, it stays as it was.
 * RUN: port
 * EXPECT: multiply/i parallel-after ported: parallel after vector-rows=multiply/i, localize=multiply/i, row-starts=multiply/i
 * EXPECT: multiply/i/j parallel-after ported: parallel after vector-rows=multiply/i, localize=multiply/i, row-starts=multiply/i
 * EXPECT: multiply/i/j/k reduction ported: an associative update (+: sum) is the only carried dependence
 * EXPECT: Graph::Graph/u unanalyzable host: a construct that is not modelled: a call of std::vector::push_back
 * EXPECT: Graph::Graph/u/k unanalyzable host: a construct that is not modelled: a call of std::vector::push_back
 * EXPECT: Graph::spread/u parallel-after ported: parallel after vector-rows=Graph::spread/u, localize=Graph::spread/u, row-starts=Graph::spread/u
 * EXPECT: Graph::spread/u/v_at reduction ported: an associative update (+: sum) is the only carried dependence
 * EXPECT: rotate/for sequential host: may carry an anti dependence on a_data, under a condition that depends on data
 * EXPECT: rotate/for/j parallel-after ported: parallel after localize=rotate/for, localize=rotate/i/j
 * EXPECT: main/i parallel-after ported: parallel after vector-rows=main/i, row-starts=main/i
 * EXPECT: main/i/j parallel-after ported: parallel after vector-rows=main/i, row-starts=main/i
 * EXPECT: main/t sequential host: carries a flow dependence on u
 * EXPECT: main/t/i parallel-after ported: parallel after vector-rows=main/t/i, row-starts=main/t/i
 * EXPECT: main/t/i/j parallel-after ported: parallel after vector-rows=main/t/i, row-starts=main/t/i
 * EXPECT: main/row_at reduction ported: an associative update (+: sum) is the only carried dependence
 * EXPECT: main/row_at/x_at reduction ported: an associative update (+: sum) is the only carried dependence
 * EXPECT: main/i#2 reduction ported: an associative update (+: sum) is the only carried dependence
 * VERIFY: pass
 */
#include <cstdio>
#include <utility>
#include <vector>

using Matrix = std::vector<std::vector<double>>;

static void multiply(const Matrix &a, const Matrix &b, Matrix &c)
{
    for (std::size_t i = 0; i < a.size(); i++)
        for (std::size_t j = 0; j < b[0].size(); j++) {
            double sum = 0.0;
            for (std::size_t k = 0; k < b.size(); k++)
                sum += a[i][k] * b[k][j];
            c[i][j] = sum;
        }
}

class Graph {
public:
    explicit Graph(int nodes) : next(nodes)
    {
        for (int u = 0; u < nodes; u++)
            for (int k = 0; k < u % 4; k++)
                next[u].push_back((u * 5 + k) % nodes);
    }
    void spread(const std::vector<double> &from, std::vector<double> &to) const
    {
        for (std::size_t u = 0; u < next.size(); u++) {
            double sum = 0.0;
            for (int v : next[u])
                sum += from[v];
            to[u] = sum / (next[u].size() + 1);
        }
    }

private:
    std::vector<std::vector<int>> next;
};

static void rotate(Matrix &a)
{
    for (std::size_t i = 1; i < a.size(); i++) {
        std::swap(a[i], a[i - 1]);
        for (std::size_t j = 0; j < a[i].size(); j++)
            a[i][j] += 1.0;
    }
}

int main()
{
    const int n = 24, m = 18;
    Matrix u(n, std::vector<double>(m)), v(n, std::vector<double>(m)), w(m, std::vector<double>(m, 0.5));
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            u[i][j] = v[i][j] = i * m - j;
    for (int t = 0; t < 8; t++) {
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < m - 1; j++)
                v[i][j] = 0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]);
        u.swap(v);
    }
    multiply(u, w, v);
    rotate(v);
    std::vector<double> from(n, 1.0), to(n);
    const Graph graph(n);
    graph.spread(from, to);
    double sum = 0.0;
    for (const auto &row : v)
        for (double x : row)
            sum += x;
    for (int i = 0; i < n; i++)
        sum += to[i];
    std::printf("%.9g\n", sum);
}
