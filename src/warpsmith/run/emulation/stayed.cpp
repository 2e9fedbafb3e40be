/* Blocks that kernels wrote and of which no copy was made: what they hold when something is copied to them, when they are
   freed, or when the program ends.

   The original leaves some of that in host memory: there the candidate has left out a copy, or the program does not need
   it (compare/left.py). WARPSMITH_EMULATION_STAYED names the file. A record is a size in bytes, a number of 64 bits, and
   the bytes, as in capture/ws_left.c. Where there is too much the file ends. */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "emulator.h"

namespace ws {
namespace {
constexpr size_t most_bytes = 48u << 20;

int stayed_file() {
    static const char *const path = getenv("WARPSMITH_EMULATION_STAYED");
    static const int file = path && *path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
    return file;
}

bool is_written(const Region &region) {
    for (size_t cell = 0; region.cells && cell << region.shift < region.size; ++cell)
        if (region.cells[cell].write.stamp) return true;
    return false;
}

bool put(const void *data, size_t bytes) {
    const char *at = static_cast<const char *>(data);
    while (bytes > 0) {
        const ssize_t done = write(stayed_file(), at, bytes);
        if (done <= 0) return false;
        at += done;
        bytes -= (size_t)done;
    }
    return true;
}
} // namespace

void note_stays(Region &region) {
    static size_t left = most_bytes;
    if (stayed_file() < 0 || region.space != Space::global || region.copied || region.size > left) return;
    if (!is_written(region)) return;
    const uint64_t size = region.size;
    left -= region.size;
    region.copied = true;
    open_memory();
    if (!put(&size, sizeof size) || !put((const void *)region.base, region.size)) left = 0;
    close_memory();
}

void note_all_that_stays() { each_region(note_stays); }

} // namespace ws
