// The exclusive prefix sums of n numbers, by CUB: of ints, or of floats with floats=1.

#include "common.cuh"

#include <cub/device/device_scan.cuh>

template <class T> int scan(int64_t n, Array<T> &a) {
  Array<T> out(n);
  size_t bytes = 0;
  MUST(cub::DeviceScan::ExclusiveSum(nullptr, bytes, a.data, out.data, n));
  Array<char> scratch(bytes);
  auto run = [&] {
    MUST(cub::DeviceScan::ExclusiveSum(scratch.data, bytes, a.data, out.data, n));
  };
  return serve(run, [&] {
    return std::vector<double>{double(out.at(1)), double(out.at(n / 2)), double(out.at(n - 1))};
  });
}

int main(int argc, char **argv) {
  const int64_t n = parameter(argc, argv, "n");
  if (parameter(argc, argv, "floats") == 1) {
    Array<double> a(n);
    fill(a, [] __device__(int64_t i) { return unit(i); });
    return scan(n, a);
  }
  Array<int64_t> a(n);
  fill(a, [] __device__(int64_t i) { return mix(i); });
  return scan(n, a);
}
