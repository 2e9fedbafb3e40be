// pipeline: from a color picture to a clean gray one and its edges. See README.md.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>

#include "files.hpp"
#include "filter.hpp"
#include "tone.hpp"

namespace {

struct Options {
    std::string input;
    std::string output;
    int width = 48;
    int height = 32;
    int rounds = 4;
    float sigma = 1.2f;
    float exponent = 0.8f;
};

bool read_options(Options& o, int argc, char** argv)
{
    for (int k = 1; k + 1 < argc; k += 2) {
        const std::string name = argv[k];
        const char* text = argv[k + 1];

        if (name == "--input")
            o.input = text;
        else if (name == "--output")
            o.output = text;
        else if (name == "--width")
            o.width = std::atoi(text);
        else if (name == "--height")
            o.height = std::atoi(text);
        else if (name == "--rounds")
            o.rounds = std::atoi(text);
        else if (name == "--sigma")
            o.sigma = static_cast<float>(std::atof(text));
        else if (name == "--gamma")
            o.exponent = static_cast<float>(std::atof(text));
        else
            return false;
    }
    return argc % 2 == 1 && o.width > 0 && o.height > 0 && o.sigma > 0.0f;
}

void report(const char* stage, const pix::Gray& image)
{
    const pix::Statistics s = pix::statistics(image);
    std::printf("%-9s %dx%d mean %.6f deviation %.6f from %.6f to %.6f\n", stage, image.width(), image.height(),
                s.mean, s.deviation, static_cast<double>(s.darkest), static_cast<double>(s.lightest));
}

int run(const Options& o)
{
    const pix::Color color = o.input.empty() ? pix::landscape(o.width, o.height) : pix::read_ppm(o.input);

    pix::Gray gray = pix::to_gray(color);
    report("gray", gray);
    pix::gamma(gray, o.exponent);
    report("gamma", gray);

    const pix::Gray clean = pix::smooth(gray, o.rounds, 0.1f);
    report("smooth", clean);
    const pix::Gray sharp = pix::sharpen(clean, o.sigma, 0.7f);
    report("sharp", sharp);

    pix::Gray8 bytes = pix::convert<std::uint8_t>(sharp);
    bytes = pix::equalize(bytes);
    pix::Gray flat = pix::convert<float>(bytes);
    report("equal", flat);

    const pix::Gray lines = pix::edges(flat);
    report("edges", lines);
    const pix::Gray small = pix::resample(lines, (flat.width() + 1) / 2, (flat.height() + 1) / 2);
    report("small", small);

    pix::Gray8 drawing = pix::threshold(pix::convert<std::uint8_t>(lines), static_cast<std::uint8_t>(128));
    drawing.invert();
    const pix::Histogram counts = pix::histogram(drawing);
    std::printf("drawing   black %ld white %ld\n", counts.front(), counts.back());
    if (!o.output.empty())
        pix::write_pgm(o.output, drawing);
    return 0;
}

}  // namespace

int main(int argc, char** argv)
{
    Options options;

    if (!read_options(options, argc, argv)) {
        std::fprintf(stderr,
                     "usage: %s [--input FILE.ppm] [--output FILE.pgm] [--width N] [--height N] [--rounds N]\n"
                     "       [--sigma X] [--gamma X]\n",
                     argv[0]);
        return 2;
    }
    try {
        return run(options);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
        return 1;
    }
}
