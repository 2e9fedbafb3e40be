/* Other values in what kernels wrote: a comparison that does not notice them says nothing.

   The shadow memory knows what was written, and when. A number grows by a quarter and one, an integer by one: far more
   than rounding, and never back to what it was, however often it is copied and changed again. NaN and infinity stay.
   A program that only asks whether a number is zero, or positive, sees nothing of that: there numbers change their sign.

       for a capture     what kernels wrote since the captures of another region, changed, seen, changed back
       for a run         WARPSMITH_EMULATION_DISTURB names a kernel, or all (*): what each launch wrote stays changed;
                         where that begins with a minus sign, the sign changes

   Limit: for a run the type of an element is guessed from the size of the accesses and from the values. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <string>
#include <vector>

#include "emulator.h"

namespace ws {
namespace {
enum Kind { bytes_kind = 0, signed_kind = 1, unsigned_kind = 2, float_kind = 3 };

struct Saved {
    Address at;
    std::vector<unsigned char> bytes;
};

uint32_t since = 1;      /* the first stamp of the launches that the next captures are about */
bool captured = false;   /* whether there were captures since the last launch */
Saved saved;
uint64_t budget = (uint64_t)4 << 30; /* cells that runs with changed values may look at in all */

bool negates = false;

template <class T> void raise(unsigned char *at) {
    T value;
    memcpy(&value, at, sizeof value);
    value = value * (T)1.25 + (value < 0 ? (T)-1 : (T)1);
    if (negates) value = -value;
    memcpy(at, &value, sizeof value);
}

void change(unsigned char *at, int kind, size_t size) {
    if (negates && kind != float_kind)
        for (size_t i = 0; i < size; ++i) at[i] = (unsigned char)~at[i];
    if (kind == float_kind && size == 4) raise<float>(at);
    else if (kind == float_kind && size == 8) raise<double>(at);
    else if (kind == float_kind && size == sizeof(long double)) raise<long double>(at);
    else if (kind == float_kind && size == 2) *at ^= 0xff;
    else if (kind == bytes_kind)
        for (size_t i = 0; i < size; ++i) ++at[i];
    else
        for (size_t i = 0; i < size && ++at[i] == 0; ++i) {}
}

bool written(const Region &region, size_t offset, size_t bytes, uint32_t from) {
    const size_t end = (offset + bytes - 1) >> region.shift;
    for (size_t cell = offset >> region.shift; cell <= end; ++cell)
        if (region.cells[cell].write.stamp >= from) return true;
    return false;
}

/* Change the elements of `size` bytes that were written since `from`; return how many. */
size_t change_written(Region &region, int kind, size_t size, uint32_t from) {
    size_t changed = 0;
    for (size_t offset = 0; offset + size <= region.size; offset += size)
        if (written(region, offset, size, from)) {
            change((unsigned char *)region.base + offset, kind, size);
            ++changed;
        }
    return changed;
}

/* Whether a word would be a floating-point number of a usual size; zero may be any. */
bool looks_real(const unsigned char *at, size_t size) {
    double value = 0;
    if (size == 8) memcpy(&value, at, 8);
    if (size == 4) {
        float small;
        memcpy(&small, at, 4);
        value = small;
    }
    return value != value || (fabs(value) > 1e-25 && fabs(value) < 1e25);
}

/* A region of real numbers is one in which more words that are not zero look like one than do not. Where all are zero
   they may be either: the run that changes the sign takes them for real, since as an integer zero has no other sign, and
   a real number that grows by an integer's one is still next to nothing. */
int guessed_kind(const Region &region, size_t size) {
    long long real = 0, others = 0;
    if (size != 4 && size != 8) return unsigned_kind;
    const unsigned char zero[8] = {};
    for (size_t offset = 0; offset + size <= region.size && offset < (1u << 16); offset += size) {
        const unsigned char *at = (const unsigned char *)region.base + offset;
        if (written(region, offset, size, device.own_first) && memcmp(at, zero, size) != 0) {
            real += looks_real(at, size) ? 1 : -1;
            ++others;
        }
    }
    return real > 0 || (others == 0 && negates) ? float_kind : unsigned_kind;
}

const char *wanted() {
    static const char *const name = getenv("WARPSMITH_EMULATION_DISTURB");
    negates = name && *name == '-';
    return negates ? name + 1 : name;
}

void disturb_region(Region &region) {
    if (!region.cells || region.space == Space::constant || region.space == Space::arguments) return;
    const size_t size = (size_t)1 << region.shift, count = region.size >> region.shift;
    if (count > budget) return;
    budget -= count;
    change_written(region, guessed_kind(region, size), size, device.own_first);
}
} // namespace

/* A launch after captures belongs to what is captured next. */
void note_launch() {
    if (captured) since = device.own_first;
    captured = false;
}

/* At the end of a launch, while its memory is open. */
void disturb_launch() {
    if (!wanted() || device.failed != cudaSuccess) return;
    if (strcmp(wanted(), "*") == 0 || strcmp(wanted(), device.launch->name) == 0) each_region(disturb_region);
}

} // namespace ws

extern "C" int ws_emulation_disturb(const void *pointer, int kind, int element_size) {
    using namespace ws;
    const std::lock_guard<std::recursive_mutex> hold(device_lock());
    Region *region = pointer ? region_at(pointer) : nullptr;
    captured = true;
    if (!region || region->guard == Guard::freed || !region->cells || element_size <= 0) return 0;
    open_memory();
    const unsigned char *bytes = (const unsigned char *)region->base;
    saved.at = region->base;
    saved.bytes.assign(bytes, bytes + region->size);
    const size_t changed = change_written(*region, kind, (size_t)element_size, since);
    close_memory();
    return changed > 0;
}

extern "C" void ws_emulation_settle(void) {
    using namespace ws;
    const std::lock_guard<std::recursive_mutex> hold(device_lock());
    open_memory();
    memcpy((void *)saved.at, saved.bytes.data(), saved.bytes.size());
    close_memory();
}
