/* Whether two pieces of memory have no byte in common, each from its first byte to the one past its last. */
#pragma once

static inline int ws_apart(const void *first, const void *past, const void *other, const void *other_past)
{
    return (unsigned long long)past <= (unsigned long long)other ||
           (unsigned long long)other_past <= (unsigned long long)first;
}
