// The sums of n segments of 1 to 127 floats, by CUB.

#include "common.cuh"

#include <cub/device/device_segmented_reduce.cuh>

// The position in the flat array is known to its segment alone, so a thread fills a whole segment.
__global__ void fill_segments(const int64_t *starts, double *entries, int64_t segments) {
  const int64_t segment = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (segment < segments) {
    for (int64_t at = starts[segment]; at < starts[segment + 1]; ++at) {
      entries[at] = unit(segment + at - starts[segment]);
    }
  }
}

int main(int argc, char **argv) {
  const int64_t n = parameter(argc, argv, "n");
  std::vector<int64_t> host(n + 1, 0);
  for (int64_t segment = 0; segment < n; ++segment) {
    host[segment + 1] = host[segment] + 1 + mix(segment) % 127;
  }
  Array<int64_t> starts(n + 1);
  MUST(cudaMemcpy(starts.data, host.data(), host.size() * sizeof(int64_t), cudaMemcpyHostToDevice));
  Array<double> entries(host.back()), out(n);
  fill_segments<<<unsigned((n + 255) / 256), 256>>>(starts.data, entries.data, n);
  MUST(cudaGetLastError());
  size_t bytes = 0;
  MUST(cub::DeviceSegmentedReduce::Sum(nullptr, bytes, entries.data, out.data, n, starts.data,
                                       starts.data + 1));
  Array<char> scratch(bytes);
  auto run = [&] {
    MUST(cub::DeviceSegmentedReduce::Sum(scratch.data, bytes, entries.data, out.data, n,
                                         starts.data, starts.data + 1));
  };
  return serve(run, [&] { return check_floats(out); });
}
