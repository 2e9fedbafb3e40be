// Each stage against what is known of it.
#include <cmath>
#include <cstdio>
#include <fstream>
#include <numeric>
#include <string>

#include "../src/files.hpp"
#include "../src/filter.hpp"
#include "../src/tone.hpp"

using namespace pix;

static int failures = 0;

static void near(const char* what, double value, double expected, double tolerance)
{
    if (std::fabs(value - expected) <= tolerance)
        return;
    std::printf("FAILED %s: %.9g, expected %.9g within %g\n", what, value, expected, tolerance);
    failures++;
}

static Gray ramp(int width, int height)
{
    Gray image(width, height);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            image(x, y) = 0.01f * static_cast<float>(x) + 0.02f * static_cast<float>(y);
    return image;
}

static void tones()
{
    Color white(5, 4, Rgb{1.0f, 1.0f, 1.0f});
    near("white is white", to_gray(white)(2, 2), 1.0, 1e-6);

    Gray half(6, 5, 0.25f);
    gamma(half, 0.5f);
    near("root", half(3, 3), 0.5, 1e-6);
    stretch(half, 0.25f, 0.75f);
    near("stretched", half(0, 0), 0.5, 1e-6);
    half.scale(0.5f);
    half.invert();
    near("inverted", half(5, 4), 0.75, 1e-6);

    const Statistics s = statistics(ramp(11, 7));
    near("mean", s.mean, 0.01 * 5 + 0.02 * 3, 1e-6);
    near("deviation", s.deviation, std::sqrt(1e-4 * 10 + 4e-4 * 4), 1e-6);
    near("lightest", s.lightest, 0.22, 1e-6);
    near("difference", difference(ramp(7, 7), Gray(7, 7)), std::sqrt(1e-4 * 13 + 4e-4 * 13 + 4e-4 * 9), 1e-6);
}

static void histograms()
{
    Gray8 image(16, 16);
    for (int k = 0; k < 256; k++)
        image.pixels()[k] = static_cast<std::uint8_t>(k / 4);
    const Histogram counts = histogram(image);
    near("of one level", static_cast<double>(counts[63]), 4, 0);
    near("of all", static_cast<double>(std::accumulate(counts.begin(), counts.end(), 0L)), 256, 0);
    const Gray8 flat = equalize(image);
    near("darkest", flat(0, 0), 0, 0);
    near("lightest", flat(15, 15), 255, 0);
    near("middle", flat(0, 8), 255.0 * 128 / 252, 1);
    near("black and white", static_cast<double>(histogram(threshold(flat, std::uint8_t(100)))[255]), 156, 1);
    near("there and back", difference(convert<float>(flat), convert<float>(convert<std::uint8_t>(convert<float>(flat)))),
         0, 1e-6);
}

static void filters()
{
    const std::vector<float> weights = bell(1.5f);
    near("bell, sum", std::accumulate(weights.begin(), weights.end(), 0.0), 1.0, 1e-6);
    near("bell, sides", weights.front(), weights.back(), 0);

    const Gray even(17, 13, 0.3f);
    near("blur of nothing", difference(Blur(1.5f)(even), even), 0, 1e-6);
    near("sharpening of nothing", difference(sharpen(even, 1.0f, 2.0f), even), 0, 1e-6);
    near("no edges", statistics(edges(even)).lightest, 0, 1e-6);
    near("smooth", difference(smooth(even, 5, 0.1f), even), 0, 1e-6);

    const Gray slope = ramp(20, 15);
    near("edge of a ramp", edges(slope)(10, 7), 8 * std::sqrt(1e-4 + 4e-4), 1e-5);
    near("blur of a ramp", Blur(1.0f)(slope)(10, 7), slope(10, 7), 1e-6);

    Gray dot(9, 9);
    dot(4, 4) = 1.0f;
    const Gray spread = Blur(0.8f)(dot);
    near("blur keeps light", statistics(spread).mean * 81, 1.0, 1e-5);
    near("blur is round", spread(3, 4), spread(4, 5), 1e-7);

    const Kernel<5> shift = {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}};
    near("moved by two", convolve(dot, shift)(2, 4), 1.0, 0);
    Gray8 bytes(6, 6, 7);
    const Kernel<3> box = {{1, 1, 1, 1, 1, 1, 1, 1, 1}};
    near("sum of nine", convolve(bytes, box)(0, 0), 63, 0);

    near("half the size", resample(slope, 10, 15)(4, 7), slope(8, 7) + 0.005, 1e-6);
    near("same size", difference(resample(slope, 20, 15), slope), 0, 1e-6);

    // an edge stays where smoothing is told to keep it
    Gray step(12, 12, 0.0f);
    for (int y = 0; y < 12; y++)
        for (int x = 6; x < 12; x++)
            step(x, y) = 1.0f;
    near("edge kept", difference(smooth(step, 6, 0.5f), step), 0, 1e-6);
}

static void files(const std::string& scratch)
{
    const std::string path = scratch + "/two.ppm";
    {
        std::ofstream out(path, std::ios::binary);
        out << "P6\n# two pixels\n2 1\n255\n";
        const char bytes[6] = {char(255), 0, 0, 0, char(255), 0};
        out.write(bytes, 6);
    }
    const Color image = read_ppm(path);
    near("red", image(0, 0).r, 1.0, 0);
    near("green", image(1, 0).g, 1.0, 0);
    bool refused = false;
    try {
        read_ppm(scratch + "/none.ppm");
    } catch (const std::runtime_error&) {
        refused = true;
    }
    near("no such file", refused, 1, 0);
}

int main(int argc, char** argv)
{
    tones();
    histograms();
    filters();
    if (argc > 1)
        files(argv[1]);
    std::printf("pipeline: %s\n", failures == 0 ? "ok" : "FAILED");
    return failures == 0 ? 0 : 1;
}
