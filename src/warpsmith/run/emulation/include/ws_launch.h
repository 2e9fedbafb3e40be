/* Launches and registered variables: what the text rewriting of `k<<<grid, block>>>(a)` turns into. C++ only.

   k<<<g, b, s>>>(a, n)   becomes   ::ws::launch(g, b, s).of("k", [=](auto... x) { k(x...); })(a, n)

   Arguments are evaluated once and copied, as a real launch does; every thread calls the lambda with the copies. What the
   host calls is inlined, so that the call of the emulation stands on the user's line. */
#ifndef WARPSMITH_WS_LAUNCH_H
#define WARPSMITH_WS_LAUNCH_H

#include <tuple>
#include <type_traits>
#include <utility>

#include "ws_api.h"

#define WS_PLAIN __attribute__((no_sanitize("thread")))

extern "C" {
struct ws_launch_t {
    const char *name;
    unsigned int grid[3];
    unsigned int block[3];
    size_t shared;
    int cooperative;
    cudaStream_t stream;
    const void *arguments;
    size_t arguments_bytes, parameters;
    void (*thread)(const void *arguments);
    void (*discard)(const void *arguments);
};
cudaError_t ws_launch(const ws_launch_t *launch);
void ws_register(const void *address, size_t bytes, const char *name, int kind);
}

namespace ws {

template <class Kernel, class... Arguments> struct Packed {
    Kernel kernel;
    std::tuple<Arguments...> arguments;

    template <size_t... I> WS_PLAIN static void call(const Packed *self, std::index_sequence<I...>) {
        Packed *packed = const_cast<Packed *>(self);
        packed->kernel(std::get<I>(packed->arguments)...);
    }
    WS_PLAIN static void thread(const void *self) {
        call(static_cast<const Packed *>(self), std::index_sequence_for<Arguments...>{});
    }
    static void discard(const void *self) { delete static_cast<const Packed *>(self); }
};

template <class Kernel> struct Bound {
    ws_launch_t launch;
    Kernel kernel;

    template <class... Arguments> __forceinline__ cudaError_t operator()(Arguments &&...arguments) {
        using Pack = Packed<Kernel, std::decay_t<Arguments>...>;
        launch.arguments =
            new Pack{kernel, std::tuple<std::decay_t<Arguments>...>(std::forward<Arguments>(arguments)...)};
        launch.arguments_bytes = sizeof(Pack);
        launch.parameters = (sizeof(std::decay_t<Arguments>) + ... + 0);
        launch.thread = &Pack::thread;
        launch.discard = &Pack::discard;
        return ws_launch(&launch);
    }
};

struct Shape {
    ws_launch_t launch;
    template <class Kernel> __forceinline__ Bound<Kernel> of(const char *name, Kernel kernel) {
        launch.name = name;
        return Bound<Kernel>{launch, kernel};
    }
};

inline Shape launch(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = 0) {
    return Shape{{"", {grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, shared, 0, stream, nullptr, 0, 0, nullptr,
                  nullptr}};
}

/* cudaLaunchKernel and its cooperative form, with the kernel's own parameter types. */
template <class... P, size_t... I>
__forceinline__ cudaError_t launch_pointers(void (*kernel)(P...), Shape shape, void **a, std::index_sequence<I...>) {
    (void)a;
    return shape.of("kernel", [=](auto... x) { kernel(x...); })(*static_cast<std::decay_t<P> *>(a[I])...);
}

struct Registered {
    template <class T> Registered(const T &variable, const char *name, int kind) {
        ws_register(&reinterpret_cast<const char &>(variable), sizeof(T), name, kind);
    }
};
enum { device_variable = 0, constant_variable = 1, managed_variable = 2 };

} // namespace ws

template <class... P>
__forceinline__ cudaError_t cudaLaunchKernel(void (*kernel)(P...), dim3 grid, dim3 block, void **arguments,
                                             size_t shared = 0, cudaStream_t stream = 0) {
    return ws::launch_pointers(kernel, ws::launch(grid, block, shared, stream), arguments,
                               std::index_sequence_for<P...>{});
}
template <class... P>
__forceinline__ cudaError_t cudaLaunchCooperativeKernel(void (*kernel)(P...), dim3 grid, dim3 block, void **arguments,
                                                        size_t shared = 0, cudaStream_t stream = 0) {
    ws::Shape shape = ws::launch(grid, block, shared, stream);
    shape.launch.cooperative = 1;
    return ws::launch_pointers(kernel, shape, arguments, std::index_sequence_for<P...>{});
}

template <class T>
__forceinline__ cudaError_t cudaMemcpyToSymbol(const T &symbol, const void *from, size_t bytes, size_t offset = 0,
                                               cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
    return ws_memcpy_to_symbol(&reinterpret_cast<const char &>(symbol), from, bytes, offset, kind, 0, 0);
}
template <class T>
__forceinline__ cudaError_t cudaMemcpyToSymbolAsync(const T &symbol, const void *from, size_t bytes, size_t offset,
                                                    cudaMemcpyKind kind, cudaStream_t stream = 0) {
    return ws_memcpy_to_symbol(&reinterpret_cast<const char &>(symbol), from, bytes, offset, kind, 1, stream);
}
template <class T>
__forceinline__ cudaError_t cudaMemcpyFromSymbol(void *to, const T &symbol, size_t bytes, size_t offset = 0,
                                                 cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
    return ws_memcpy_from_symbol(to, &reinterpret_cast<const char &>(symbol), bytes, offset, kind, 0, 0);
}
template <class T>
__forceinline__ cudaError_t cudaMemcpyFromSymbolAsync(void *to, const T &symbol, size_t bytes, size_t offset,
                                                      cudaMemcpyKind kind, cudaStream_t stream = 0) {
    return ws_memcpy_from_symbol(to, &reinterpret_cast<const char &>(symbol), bytes, offset, kind, 1, stream);
}
template <class T> cudaError_t cudaGetSymbolAddress(void **pointer, const T &symbol) {
    return ws_symbol_address(pointer, &reinterpret_cast<const char &>(symbol));
}
template <class P, class T> cudaError_t cudaGetSymbolAddress(P **pointer, const T &symbol) {
    return ws_symbol_address((void **)pointer, &reinterpret_cast<const char &>(symbol));
}
template <class P> cudaError_t cudaHostGetDevicePointer(P **device, void *host, unsigned int flags) {
    return cudaHostGetDevicePointer((void **)device, host, flags);
}
template <class T> cudaError_t cudaGetSymbolSize(size_t *bytes, const T &symbol) {
    return ws_symbol_size(bytes, &reinterpret_cast<const char &>(symbol));
}
template <class F> cudaError_t cudaFuncSetCacheConfig(F, cudaFuncCache) { return cudaSuccess; }
template <class F> cudaError_t cudaFuncSetSharedMemConfig(F, cudaSharedMemConfig) { return cudaSuccess; }
template <class F> cudaError_t cudaFuncSetAttribute(F, cudaFuncAttribute attribute, int value) {
    return ws_function_attribute(attribute, value);
}
template <class F> cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, F) {
    return ws_function_attributes(attributes);
}
template <class F>
cudaError_t cudaOccupancyMaxPotentialBlockSize(int *min_grid, int *block, F, size_t = 0, int limit = 0) {
    return ws_occupancy(min_grid, block, limit);
}
template <class F> cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, F, int threads, size_t) {
    return ws_active_blocks(blocks, threads);
}

#endif
