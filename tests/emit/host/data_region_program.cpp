#include <cstddef>
#include <utility>
#include <vector>

/* Data are held from inside a home, that of what is declared for the loop, to the end of the function behind it. */
class Field {
public:
    Field(std::size_t nx, std::size_t ny) : nx_(nx), ny_(ny), data_(nx * ny) {}
    float &at(std::size_t i, std::size_t j) { return data_[i * nx_ + j]; }
    float at(std::size_t i, std::size_t j) const { return data_[i * nx_ + j]; }
    std::size_t nx() const { return nx_; }
    std::size_t ny() const { return ny_; }

private:
    std::size_t nx_, ny_;
    std::vector<float> data_;
};

void blur(const Field &in, Field &out)
{
    for (std::size_t i = 1; i + 1 < in.ny(); ++i)
        for (std::size_t j = 1; j + 1 < in.nx(); ++j) {
            float s = 0;
            for (int a = -1; a <= 1; ++a)
                for (int b = -1; b <= 1; ++b)
                    s += in.at(i + a, j + b);
            out.at(i, j) = s;
        }
}

int main()
{
    Field a(20, 30), b(20, 30);
    for (std::size_t i = 0; i < a.ny(); i++)
        for (std::size_t j = 0; j < a.nx(); j++)
            a.at(i, j) = float((i + j) % 11);
    for (int s = 0; s < 4; s++) {
        blur(a, b);
        std::swap(a, b);
    }
    return int(a.at(3, 4)) & 1;
}
