// The sum of n ints, by CUB.

#include "common.cuh"

#include <cub/device/device_reduce.cuh>

int main(int argc, char **argv) {
  const int64_t n = parameter(argc, argv, "n");
  Array<int64_t> a(n), result(1);
  fill(a, [] __device__(int64_t i) { return mix(i); });
  size_t bytes = 0;
  MUST(cub::DeviceReduce::Sum(nullptr, bytes, a.data, result.data, n));
  Array<char> scratch(bytes);
  auto run = [&] { MUST(cub::DeviceReduce::Sum(scratch.data, bytes, a.data, result.data, n)); };
  return serve(run, [&] { return std::vector<double>{double(result.at(0))}; });
}
