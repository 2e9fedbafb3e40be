// Light and dark: gray from color, gamma, contrast, histograms, statistics.
#pragma once

#include <array>
#include <cstdint>

#include "image.hpp"

namespace pix {

struct Statistics {
    double mean = 0.0;
    double deviation = 0.0;
    float darkest = 0.0f;
    float lightest = 0.0f;
};

constexpr int levels = 256;
using Histogram = std::array<long, levels>;

// Rec. 709.
Gray to_gray(const Color& in);

void gamma(Gray& image, float exponent);

// Between `low` and `high`, linearly to black and white.
template <typename T>
void stretch(Image<T>& image, float low, float high)
{
    const float gain = PixelTraits<T>::white / (high - low);

    for (T& pixel : image.pixels())
        pixel = PixelTraits<T>::from((static_cast<float>(pixel) - low) * gain);
}

// Black below, white from the threshold on.
template <typename T>
Image<T> threshold(const Image<T>& in, T limit)
{
    Image<T> out(in.width(), in.height());
    const T white = static_cast<T>(PixelTraits<T>::white);

#pragma omp parallel for
    for (int y = 0; y < in.height(); y++)
        for (int x = 0; x < in.width(); x++)
            out(x, y) = in(x, y) < limit ? T(0) : white;
    return out;
}

Histogram histogram(const Gray8& in);
// Every level of gray equally often, as far as that goes.
Gray8 equalize(const Gray8& in);

Statistics statistics(const Gray& in);
// Root of the mean square of the difference.
double difference(const Gray& a, const Gray& b);

}  // namespace pix
