/* Classes in kernels: of a namespace, of a template, with rows of std::array, scoped enumerators, a static member; a loop
 * that ends one before its vector does. */
#include <array>
#include <cstddef>
#include <cstdio>
#include <vector>

namespace geo {
enum class kind : unsigned char { air = 2, rock };
template <class T>
struct vec {
    T x, y;
    T dot(const vec &other) const { return x * other.x + y * other.y; }
};
struct base {
    int id;
};
struct cell : base {
    vec<double> at;
    kind what;
    std::array<float, 3> mix;
};
struct scale {
    static constexpr int width = 4;
};
}

using row = std::array<double, 3>;
struct sample {
    row values;
    int count;
};

void move(std::vector<geo::cell> &cells, const std::vector<geo::vec<double>> &by)
{
    for (std::size_t i = 0; i + 1 < cells.size(); i++) {
        geo::vec<double> d{0, 0};
        for (std::size_t k = 0; k < by.size(); k++) {
            d.x += by[k].x;
            d.y += by[k].y;
        }
        cells[i].at.x += d.dot(d) * geo::scale::width;
        switch (cells[i].what) {
        case geo::kind::air:
            cells[i].mix[1] += 1;
            break;
        case geo::kind::rock:
            cells[i].id++;
            break;
        }
    }
}

void spread(std::vector<row> &rows, const std::vector<sample> &from)
{
    const int n = static_cast<int>(from.size());
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 3; k++)
            rows[i][k] = from[i].values[2 - k] * from[i].count;
}

int main()
{
    std::vector<geo::cell> cells(40);
    std::vector<geo::vec<double>> by(5);
    std::vector<row> rows(30);
    std::vector<sample> from(30);
    for (int k = 0; k < 5; k++)
        by[k].x = by[k].y = 0.25 * k;
    for (int i = 0; i < 40; i++) {
        cells[i].id = i;
        cells[i].at.x = cells[i].at.y = i;
        cells[i].what = i % 3 == 0 ? geo::kind::air : geo::kind::rock;
        cells[i].mix[0] = cells[i].mix[1] = cells[i].mix[2] = 0;
    }
    for (int i = 0; i < 30; i++) {
        for (int k = 0; k < 3; k++)
            from[i].values[k] = i + k;
        from[i].count = i % 4;
    }
    move(cells, by);
    spread(rows, from);
    std::printf("%g %g %d %g\n", cells[7].at.x, cells[6].mix[1], cells[5].id, rows[7][2]);
}
