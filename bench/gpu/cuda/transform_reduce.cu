// The dot product of two vectors of n floats, by Thrust's fused map and reduction.

#include "common.cuh"

#include <thrust/execution_policy.h>
#include <thrust/inner_product.h>

int main(int argc, char **argv) {
  const int64_t n = parameter(argc, argv, "n");
  Array<double> a(n), b(n);
  fill(a, [] __device__(int64_t i) { return unit(i); });
  fill(b, [n] __device__(int64_t i) { return unit(i + n); });
  double result = 0;
  auto run = [&] {
    result = thrust::inner_product(thrust::device, a.data, a.data + n, b.data, 0.0);
  };
  return serve(run, [&] { return std::vector<double>{result}; });
}
