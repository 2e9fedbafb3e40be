/* A class with private pixels, used from outside: what small bodies of several statements do, captured copies, claims.
 * RUN: port
 * EXPECT: blur/y parallel ported: taken from #pragma omp parallel for in line 40, which could not be proved
 * EXPECT: blur/y/x parallel-after ported: parallel after localize=blur/y
 * EXPECT: blur/y/x/k reduction ported: an associative update (+: sum) is the only carried dependence
 * EXPECT: mix/k parallel-after ported: parallel after localize=mix/k
 * EXPECT: main/y parallel-after ported: parallel after localize=main/y
 * EXPECT: main/y/x parallel-after ported: parallel after localize=main/y
 * EXPECT: main/p_at reduction ported: an associative update (+: sum) is the only carried dependence
 * VERIFY: pass
 */
#include <cstdio>
#include <vector>

namespace pix {

class Image {
public:
    Image(int width, int height) : width_(width), height_(height), data_(width * height) {}
    int width() const { return width_; }
    int height() const { return height_; }
    float &operator()(int x, int y) { return data_[y * width_ + x]; }
    float clamped(int x, int y) const
    {
        x = x < 0 ? 0 : x >= width_ ? width_ - 1 : x;
        if (y < 0)
            return data_[x];
        y = y >= height_ ? height_ - 1 : y;
        return data_[y * width_ + x];
    }
    std::vector<float> &pixels() { return data_; }

private:
    int width_, height_;
    std::vector<float> data_;
};

void blur(const Image &in, Image &out)
{
#pragma omp parallel for
    for (int y = 0; y < in.height(); y++)
        for (int x = 0; x < in.width(); x++) {
            float sum = 0.0f;
            for (int k = -2; k <= 2; k++)
                sum += in.clamped(x + k, y - k);
            out(x, y) = sum;
        }
}

void mix(Image &a, Image &b, float amount)
{
    const auto between = [amount](float one, float other) { return one + amount * (other - one); };
    std::vector<float> &first = a.pixels(), &second = b.pixels();
    for (std::size_t k = 0; k < first.size(); k++)
        first[k] = between(first[k], second[k]);
}

}  // namespace pix

int main()
{
    pix::Image a(33, 21), b(33, 21);
    for (int y = 0; y < 21; y++)
        for (int x = 0; x < 33; x++)
            a(x, y) = (x * 7 + y * 5) % 11;
    pix::blur(a, b);
    pix::mix(b, a, 0.25f);
    double sum = 0;
    for (float p : b.pixels())
        sum += p;
    std::printf("%.9g %.9g\n", sum, b(32, 20));
}
