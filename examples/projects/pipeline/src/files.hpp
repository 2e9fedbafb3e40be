// Pictures in files: PPM (P6) and PGM (P5), eight bits; and test pictures without a file.
#pragma once

#include <string>

#include "image.hpp"

namespace pix {

// Raises std::runtime_error where the file is none.
Color read_ppm(const std::string& path);
void write_pgm(const std::string& path, const Gray8& image);

// A sky over hills, with some noise: always the same.
Color landscape(int width, int height);

}  // namespace pix
