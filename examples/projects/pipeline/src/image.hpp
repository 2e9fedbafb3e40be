// A picture: rows of pixels of one type, one after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace pix {

// What a pixel type means: the number that stands for white, and how a real number becomes a pixel.
template <typename T>
struct PixelTraits;

template <>
struct PixelTraits<float> {
    static constexpr float white = 1.0f;
    static float from(float value) { return value; }
};

template <>
struct PixelTraits<std::uint8_t> {
    static constexpr float white = 255.0f;
    static std::uint8_t from(float value)
    {
        if (value <= 0.0f)
            return 0;
        if (value >= 255.0f)
            return 255;
        return static_cast<std::uint8_t>(value + 0.5f);
    }
};

template <typename T>
class Image {
public:
    using value_type = T;

    Image() = default;
    Image(int width, int height, T fill = T())
        : width_(width), height_(height), data_(static_cast<std::size_t>(width) * height, fill)
    {
        if (width < 0 || height < 0)
            throw std::invalid_argument("image: negative size");
    }

    int width() const { return width_; }
    int height() const { return height_; }
    std::size_t size() const { return data_.size(); }
    bool empty() const { return data_.empty(); }

    T& operator()(int x, int y) { return data_[index(x, y)]; }
    const T& operator()(int x, int y) const { return data_[index(x, y)]; }

    // The edge goes on for ever.
    T clamped(int x, int y) const
    {
        x = x < 0 ? 0 : x >= width_ ? width_ - 1 : x;
        y = y < 0 ? 0 : y >= height_ ? height_ - 1 : y;
        return data_[index(x, y)];
    }

    std::vector<T>& pixels() { return data_; }
    const std::vector<T>& pixels() const { return data_; }

    void scale(float factor)
    {
        for (std::size_t k = 0; k < data_.size(); k++)
            data_[k] = PixelTraits<T>::from(static_cast<float>(data_[k]) * factor);
    }

    void invert()
    {
        const float white = PixelTraits<T>::white;
#pragma omp parallel for
        for (std::size_t k = 0; k < data_.size(); k++)
            data_[k] = PixelTraits<T>::from(white - static_cast<float>(data_[k]));
    }

private:
    std::size_t index(int x, int y) const { return static_cast<std::size_t>(y) * width_ + x; }

    int width_ = 0;
    int height_ = 0;
    std::vector<T> data_;
};

struct Rgb {
    float r = 0.0f, g = 0.0f, b = 0.0f;
};

using Gray = Image<float>;
using Gray8 = Image<std::uint8_t>;
using Color = Image<Rgb>;

// A pixel type for another; white stays white.
template <typename To, typename From>
Image<To> convert(const Image<From>& in)
{
    Image<To> out(in.width(), in.height());
    const std::vector<From>& from = in.pixels();
    std::vector<To>& to = out.pixels();
    const float ratio = PixelTraits<To>::white / PixelTraits<From>::white;

#pragma omp parallel for
    for (std::size_t k = 0; k < from.size(); k++)
        to[k] = PixelTraits<To>::from(static_cast<float>(from[k]) * ratio);
    return out;
}

}  // namespace pix
