"""The time model against times that others recorded: the tuning spaces of benchmark_hub.

python -m benchmarks.tuning_spaces HUB (fitting | held-out | all) [--sample N] [--space NAME] [--detail FILE]

HUB is a checkout of github.com/AutoTuningAssociation/benchmark_hub. Nothing of it is in this tree: kernels and times
are read there. Of each kernel on each NVIDIA device a sample of the configurations that ran is drawn (by a seed that is
the kernel's name), each is predicted in process from the kernel's source with its defines, block, grid and arguments,
and the order is compared with that of the recorded times.

    tau       Kendall's tau-b between predicted and recorded times
    regret    recorded time of the configuration that the model likes best / best recorded time of the sample - 1;
              where the model likes several as much, the mean over these
    random    mean recorded time of the sample / best - 1: what a random choice is expected to lose; `median` the same
              of the median
    off       median of max(predicted / recorded, recorded / predicted), and predicted / recorded in the geometric mean

Only configurations that are predicted count in these; how many are refused, and why, is printed beside them.

The split, made before any of these times was compared with a prediction:

    for fitting    kernels     convolution (both records of it), dedispersion
                   devices     RTX A4000, RTX 2080 Ti
    held out       devices     A100 PCIe, RTX A6000, RTX 3090, TITAN RTX, RTX 3060 Laptop, for all kernels
                   kernels     pnpoly, gemm (OpenCL), on all devices

What is for fitting was looked at to find what the model misses; of what is held out, until the last run, only whether
kernels are read and get a time. `gemm_milo` and `hotspot_milo` are not there (their records lie in a Git LFS store).

Known beforehand of the records: `convolution_milo` was recorded with a kernel that could also leave shared memory out;
the source in the hub cannot, so only records with use_shmem = 1 are taken. The times of `pnpoly` were taken by host
code and contain its copies; the model predicts the kernel alone. Grids are those of the tuning scripts (dedispersion's
leaves Kernel Tuner's default, which does not divide by the tile).

    spaces.py     kernels, their records, launches, and which are for fitting
    records.py    a record -> configurations with times, and a sample of them
    predicted.py  a configuration -> its predicted time, or why there is none
    ranking.py    pairs of times -> tau, regret, how far off
"""
