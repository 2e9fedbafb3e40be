// What a pixel's neighbourhood makes of it: blur, sharpen, edges, resampling.
#pragma once

#include <array>
#include <vector>

#include "image.hpp"

namespace pix {

// A small square of weights, row after row.
template <int N>
struct Kernel {
    static_assert(N % 2 == 1, "a kernel has a middle");
    std::array<float, N * N> weight;

    float at(int dx, int dy) const { return weight[(dy + N / 2) * N + dx + N / 2]; }
};

template <typename T, int N>
Image<T> convolve(const Image<T>& in, const Kernel<N>& kernel)
{
    constexpr int reach = N / 2;
    Image<T> out(in.width(), in.height());

#pragma omp parallel for
    for (int y = 0; y < in.height(); y++)
        for (int x = 0; x < in.width(); x++) {
            float sum = 0.0f;

            for (int dy = -reach; dy <= reach; dy++)
                for (int dx = -reach; dx <= reach; dx++)
                    sum += kernel.at(dx, dy) * static_cast<float>(in.clamped(x + dx, y + dy));
            out(x, y) = PixelTraits<T>::from(sum);
        }
    return out;
}

// Weights of a bell of width `sigma`, from -3 sigma to 3 sigma; their sum is 1.
std::vector<float> bell(float sigma);

// The same weights along the rows, then along the columns.
class Blur {
public:
    explicit Blur(float sigma) : weights_(bell(sigma)), reach_(static_cast<int>(weights_.size()) / 2) {}

    Gray operator()(const Gray& in) const;

private:
    void rows(const Gray& in, Gray& out) const;
    void columns(const Gray& in, Gray& out) const;

    std::vector<float> weights_;
    int reach_;
};

// in + amount (in - blurred in)
Gray sharpen(const Gray& in, float sigma, float amount);

// Length of the gradient, by Sobel's kernels.
Gray edges(const Gray& in);

// To another size: a mean of the four pixels around.
Gray resample(const Gray& in, int width, int height);

// Several times: each pixel becomes the mean of its four neighbours and itself where they differ by less than `limit`.
Gray smooth(const Gray& in, int rounds, float limit);

}  // namespace pix
