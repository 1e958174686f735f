// n ints in ascending order, by CUB's radix sort of all 64 bits.

#include "common.cuh"

#include <cub/device/device_radix_sort.cuh>

int main(int argc, char **argv) {
  const int64_t n = parameter(argc, argv, "n");
  Array<int64_t> a(n), out(n);
  fill(a, [] __device__(int64_t i) { return mix(i); });
  size_t bytes = 0;
  MUST(cub::DeviceRadixSort::SortKeys(nullptr, bytes, a.data, out.data, n));
  Array<char> scratch(bytes);
  auto run = [&] {
    MUST(cub::DeviceRadixSort::SortKeys(scratch.data, bytes, a.data, out.data, n));
  };
  return serve(run, [&] {
    const std::vector<int64_t> sorted = out.host();
    double weighted = 0;
    for (int64_t at = 0; at < n; ++at) {
      weighted += double(sorted[at]) * double(at % 7 + 1);
    }
    return std::vector<double>{double(sorted[0]), double(sorted[n / 2]), double(sorted[n - 1]),
                               weighted};
  });
}
