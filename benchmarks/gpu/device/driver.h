/* Launches kernels on the arguments in launch_N.in, and compares what they leave with launch_N.out.

   Says of each: launch N, registers and shared memory, blocks a multiprocessor holds, and which bytes differ. */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

static void check(cudaError_t status, const char *what)
{
    if (status == cudaSuccess)
        return;
    printf("error %s: %s\n", what, cudaGetErrorString(status));
    exit(1);
}

static std::vector<char> read_file(int number, const char *suffix)
{
    std::vector<char> data;
    const std::string name = "launch_" + std::to_string(number) + suffix;
    if (FILE *file = fopen(name.c_str(), "rb")) {
        fseek(file, 0, SEEK_END);
        data.resize(size_t(ftell(file)));
        rewind(file);
        if (fread(data.data(), 1, data.size(), file) != data.size())
            data.clear();
        fclose(file);
    }
    return data;
}

static void launch(const void *kernel, int number, dim3 grid, dim3 block, size_t shared)
{
    std::vector<char> given = read_file(number, ".in");
    std::vector<void *> arguments;
    std::vector<std::pair<void *, long long>> buffers;
    std::vector<void *> places;
    places.reserve(64);
    for (size_t at = 0; at < given.size();) {
        long long head[2];
        memcpy(head, &given[at], sizeof head);
        at += sizeof head;
        if (head[0]) {
            void *memory = nullptr;
            check(cudaMalloc(&memory, size_t(head[1])), "malloc");
            check(cudaMemcpy(memory, &given[at], size_t(head[1]), cudaMemcpyHostToDevice), "copy");
            buffers.push_back({memory, head[1]});
            places.push_back(memory);
            arguments.push_back(&places.back());
        } else
            arguments.push_back(&given[at]);
        at += size_t(head[1]);
    }
    cudaFuncAttributes about;
    int blocks = 0;
    check(cudaFuncGetAttributes(&about, kernel), "attributes");
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, int(block.x * block.y * block.z), shared),
          "occupancy");
    check(cudaLaunchKernel(kernel, grid, block, arguments.data(), shared, 0), "launch");
    check(cudaDeviceSynchronize(), "kernel");
    const std::string name = "device_" + std::to_string(number) + ".out";
    FILE *file = fopen(name.c_str(), "wb");
    for (const auto &buffer : buffers) {
        std::vector<char> now(size_t(buffer.second), 0);
        check(cudaMemcpy(now.data(), buffer.first, now.size(), cudaMemcpyDeviceToHost), "copy back");
        fwrite(now.data(), 1, now.size(), file);
        cudaFree(buffer.first);
    }
    fclose(file);
    printf("launch %d registers %d shared %zu local %zu blocks %d\n", number, about.numRegs,
           about.sharedSizeBytes + shared, about.localSizeBytes, blocks);
}
