/* What stands in place of `kernel<<<grid, block>>>(arguments...)` in host programs whose launches are recorded. */
#pragma once

#include <type_traits>

#include "cuda_runtime.h"

namespace recording {

void begin(const char *kernel, dim3 grid, dim3 block);
void put(long long number);
void put(double number);
void put(const void *place);
void end();

template <class Given> void put_one(const Given &given)
{
    if constexpr (std::is_pointer_v<Given> || std::is_null_pointer_v<Given>)
        put(static_cast<const void *>(given));
    else if constexpr (std::is_floating_point_v<Given>)
        put(static_cast<double>(given));
    else
        put(static_cast<long long>(given));
}

template <class... Given> void launch(const char *kernel, dim3 grid, dim3 block, const Given &...given)
{
    begin(kernel, grid, block);
    (put_one(given), ...);
    end();
}

} // namespace recording
