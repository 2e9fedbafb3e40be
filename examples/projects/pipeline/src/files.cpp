#include "files.hpp"

#include <cmath>
#include <fstream>
#include <limits>
#include <stdexcept>

namespace pix {

static int header_number(std::istream& in)
{
    int value = 0;

    while (in >> std::ws && in.peek() == '#')
        in.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
    if (!(in >> value) || value <= 0 || value > 65535)
        throw std::runtime_error("ppm: bad header");
    return value;
}

Color read_ppm(const std::string& path)
{
    std::ifstream in(path, std::ios::binary);
    char magic[2] = {0, 0};

    if (!in.read(magic, 2) || magic[0] != 'P' || magic[1] != '6')
        throw std::runtime_error(path + ": not a P6 file");
    const int width = header_number(in);
    const int height = header_number(in);
    const float white = static_cast<float>(header_number(in));
    in.get();

    Color image(width, height);
    std::vector<unsigned char> bytes(image.size() * 3);
    if (!in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size())))
        throw std::runtime_error(path + ": ends too early");
    for (std::size_t k = 0; k < image.size(); k++) {
        image.pixels()[k].r = bytes[3 * k] / white;
        image.pixels()[k].g = bytes[3 * k + 1] / white;
        image.pixels()[k].b = bytes[3 * k + 2] / white;
    }
    return image;
}

void write_pgm(const std::string& path, const Gray8& image)
{
    std::ofstream out(path, std::ios::binary);

    out << "P5\n" << image.width() << " " << image.height() << "\n255\n";
    out.write(reinterpret_cast<const char*>(image.pixels().data()), static_cast<std::streamsize>(image.size()));
    if (!out)
        throw std::runtime_error(path + ": cannot be written");
}

Color landscape(int width, int height)
{
    Color image(width, height);
    unsigned int state = 12345u;

    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            const float fx = static_cast<float>(x) / static_cast<float>(width);
            const float fy = static_cast<float>(y) / static_cast<float>(height);
            const float hill = 0.55f + 0.12f * std::sin(9.0f * fx) + 0.05f * std::cos(31.0f * fx);
            state = state * 1664525u + 1013904223u;
            const float noise = 0.04f * (static_cast<float>(state >> 8) / 16777216.0f - 0.5f);
            Rgb& pixel = image(x, y);

            if (fy < hill) {
                pixel.r = 0.35f + 0.3f * fy + noise;
                pixel.g = 0.5f + 0.25f * fy + noise;
                pixel.b = 0.8f + noise;
            } else {
                pixel.r = 0.15f + 0.1f * fx + noise;
                pixel.g = 0.4f - 0.2f * (fy - hill) + noise;
                pixel.b = 0.1f + noise;
            }
        }
    return image;
}

}  // namespace pix
