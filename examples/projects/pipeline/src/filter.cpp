#include "filter.hpp"

#include <cmath>
#include <numeric>
#include <utility>

namespace pix {

std::vector<float> bell(float sigma)
{
    const int reach = static_cast<int>(std::ceil(3.0f * sigma));
    std::vector<float> weights(2 * reach + 1);
    float sum = 0.0f;

    for (int k = -reach; k <= reach; k++) {
        weights[k + reach] = std::exp(-0.5f * static_cast<float>(k * k) / (sigma * sigma));
        sum += weights[k + reach];
    }
    for (float& weight : weights)
        weight /= sum;
    return weights;
}

void Blur::rows(const Gray& in, Gray& out) const
{
    const int width = in.width();

#pragma omp parallel for
    for (int y = 0; y < in.height(); y++)
        for (int x = 0; x < width; x++) {
            float sum = 0.0f;
            for (int k = -reach_; k <= reach_; k++)
                sum += weights_[k + reach_] * in.clamped(x + k, y);
            out(x, y) = sum;
        }
}

void Blur::columns(const Gray& in, Gray& out) const
{
#pragma omp parallel for collapse(2) schedule(static)
    for (int y = 0; y < in.height(); y++)
        for (int x = 0; x < in.width(); x++) {
            float sum = 0.0f;
            for (int k = -reach_; k <= reach_; k++)
                sum += weights_[k + reach_] * in.clamped(x, y + k);
            out(x, y) = sum;
        }
}

Gray Blur::operator()(const Gray& in) const
{
    Gray half(in.width(), in.height()), out(in.width(), in.height());

    rows(in, half);
    columns(half, out);
    return out;
}

Gray sharpen(const Gray& in, float sigma, float amount)
{
    const Gray soft = Blur(sigma)(in);
    Gray out(in.width(), in.height());
    const auto mix = [amount](float sharp, float blurred) { return sharp + amount * (sharp - blurred); };

#pragma omp parallel for
    for (int y = 0; y < in.height(); y++)
        for (int x = 0; x < in.width(); x++)
            out(x, y) = mix(in(x, y), soft(x, y));
    return out;
}

Gray edges(const Gray& in)
{
    static const Kernel<3> across = {{-1, 0, 1, -2, 0, 2, -1, 0, 1}};
    static const Kernel<3> down = {{-1, -2, -1, 0, 0, 0, 1, 2, 1}};
    const Gray gx = convolve(in, across), gy = convolve(in, down);
    Gray out(in.width(), in.height());
    const std::size_t n = out.size();

#pragma omp parallel for
    for (std::size_t k = 0; k < n; k++)
        out.pixels()[k] = std::sqrt(gx.pixels()[k] * gx.pixels()[k] + gy.pixels()[k] * gy.pixels()[k]);
    return out;
}

Gray resample(const Gray& in, int width, int height)
{
    Gray out(width, height);
    const float sx = static_cast<float>(in.width()) / static_cast<float>(width);
    const float sy = static_cast<float>(in.height()) / static_cast<float>(height);

#pragma omp parallel for schedule(dynamic, 4)
    for (int y = 0; y < height; y++) {
        const float fy = (static_cast<float>(y) + 0.5f) * sy - 0.5f;
        const int y0 = static_cast<int>(std::floor(fy));
        const float wy = fy - static_cast<float>(y0);

        for (int x = 0; x < width; x++) {
            const float fx = (static_cast<float>(x) + 0.5f) * sx - 0.5f;
            const int x0 = static_cast<int>(std::floor(fx));
            const float wx = fx - static_cast<float>(x0);
            const float top = (1.0f - wx) * in.clamped(x0, y0) + wx * in.clamped(x0 + 1, y0);
            const float bottom = (1.0f - wx) * in.clamped(x0, y0 + 1) + wx * in.clamped(x0 + 1, y0 + 1);

            out(x, y) = (1.0f - wy) * top + wy * bottom;
        }
    }
    return out;
}

namespace {

float nearby(const float* p, long step, float limit, float& weight)
{
    const float other = p[step];
    if (std::fabs(other - p[0]) >= limit)
        return 0.0f;
    weight += 1.0f;
    return other;
}

}  // namespace

Gray smooth(const Gray& in, int rounds, float limit)
{
    Gray now = in, next = in;
    const int width = in.width(), height = in.height();

    for (int round = 0; round < rounds; round++) {
        const float* from = now.pixels().data();
        float* to = next.pixels().data();

#pragma omp parallel for collapse(2)
        for (int y = 1; y < height - 1; y++)
            for (int x = 1; x < width - 1; x++) {
                const float* p = from + static_cast<long>(y) * width + x;
                float weight = 1.0f;
                float sum = p[0];

                sum += nearby(p, 1, limit, weight);
                sum += nearby(p, -1, limit, weight);
                sum += nearby(p, width, limit, weight);
                sum += nearby(p, -width, limit, weight);
                to[static_cast<long>(y) * width + x] = sum / weight;
            }
        std::swap(now, next);
    }
    return now;
}

}  // namespace pix
