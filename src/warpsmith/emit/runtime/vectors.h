/* Vectors of C++ that stand one behind the other, as rows: where the elements of each are, and how many. Only text that
   knows their type can ask them. */
#pragma once

#if defined __cplusplus && !defined WS_VECTOR_ROWS
#define WS_VECTOR_ROWS
#include <stddef.h>

/* Arrays of the run time for the vectors at an address; to be called when sizes in such an array have changed. */
extern "C" void **ws_list_rows(const void *vectors, size_t count);
extern "C" size_t *ws_list_sizes(const void *vectors, size_t count);
extern "C" void ws_list_resized(const size_t *sizes, size_t count);

template <class Vector> auto ws_vector_rows(Vector *list, size_t count) -> decltype(list->data()) *
{
    const auto rows = (decltype(list->data()) *)ws_list_rows(list, count);
    for (size_t i = 0; i < count; i++)
        rows[i] = list[i].data();
    return rows;
}

template <class Vector> const size_t *ws_vector_sizes(const Vector *list, size_t count)
{
    size_t *sizes = ws_list_sizes(list, count);
    bool same = true;
    for (size_t i = 0; i < count; i++)
        if (sizes[i] != list[i].size()) {
            sizes[i] = list[i].size();
            same = false;
        }
    if (!same)
        ws_list_resized(sizes, count);
    return sizes;
}
#endif
