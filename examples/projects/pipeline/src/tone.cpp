#include "tone.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace pix {

Gray to_gray(const Color& in)
{
    Gray out(in.width(), in.height());
    const auto luminance = [](const Rgb& c) { return 0.2126f * c.r + 0.7152f * c.g + 0.0722f * c.b; };
    const auto& from = in.pixels();
    auto& to = out.pixels();

#pragma omp parallel for
    for (std::size_t k = 0; k < from.size(); k++)
        to[k] = luminance(from[k]);
    return out;
}

void gamma(Gray& image, float exponent)
{
    std::vector<float>& pixels = image.pixels();
    const long n = static_cast<long>(pixels.size());

#pragma omp parallel for
    for (long k = 0; k < n; k++)
        pixels[k] = std::pow(std::max(pixels[k], 0.0f), exponent);
}

Histogram histogram(const Gray8& in)
{
    Histogram counts{};

    for (std::uint8_t pixel : in.pixels())
        counts[pixel]++;
    return counts;
}

Gray8 equalize(const Gray8& in)
{
    const Histogram counts = histogram(in);
    std::array<std::uint8_t, levels> table{};
    Gray8 out(in.width(), in.height());
    long below = 0, least = 0;
    const long total = static_cast<long>(in.size());

    for (int level = 0; level < levels; level++) {
        if (least == 0)
            least = counts[level];
        below += counts[level];
        if (total > least)
            table[level] = PixelTraits<std::uint8_t>::from(255.0f * static_cast<float>(below - least) /
                                                           static_cast<float>(total - least));
    }

    const std::vector<std::uint8_t>& from = in.pixels();
    std::vector<std::uint8_t>& to = out.pixels();
#pragma omp parallel for
    for (std::size_t k = 0; k < from.size(); k++)
        to[k] = table[from[k]];
    return out;
}

Statistics statistics(const Gray& in)
{
    Statistics s;
    if (in.empty())
        return s;

    const std::vector<float>& pixels = in.pixels();
    const double n = static_cast<double>(pixels.size());
    double sum = 0.0, squares = 0.0;
    float darkest = pixels[0], lightest = pixels[0];

#pragma omp parallel for reduction(+ : sum) reduction(min : darkest) reduction(max : lightest)
    for (std::size_t k = 0; k < pixels.size(); k++) {
        sum += pixels[k];
        darkest = std::min(darkest, pixels[k]);
        lightest = std::max(lightest, pixels[k]);
    }
    s.mean = sum / n;

#pragma omp parallel for reduction(+ : squares)
    for (std::size_t k = 0; k < pixels.size(); k++) {
        const double d = pixels[k] - s.mean;
        squares += d * d;
    }
    s.deviation = std::sqrt(squares / n);
    s.darkest = darkest;
    s.lightest = lightest;
    return s;
}

double difference(const Gray& a, const Gray& b)
{
    if (a.width() != b.width() || a.height() != b.height())
        throw std::invalid_argument("difference: sizes differ");

    double sum = 0.0;
#pragma omp parallel for collapse(2) reduction(+ : sum)
    for (int y = 0; y < a.height(); y++)
        for (int x = 0; x < a.width(); x++) {
            const double d = a(x, y) - b(x, y);
            sum += d * d;
        }
    return a.empty() ? 0.0 : std::sqrt(sum / static_cast<double>(a.size()));
}

}  // namespace pix
