// The dot product of two vectors of n floats, by cuBLAS; the result stays on the device until it is read.

#include "common.cuh"

#include <cublas_v2.h>

static void must_blas(cublasStatus_t status) {
  if (status != CUBLAS_STATUS_SUCCESS) {
    std::fprintf(stderr, "cuBLAS: status %d\n", int(status));
    std::exit(1);
  }
}

int main(int argc, char **argv) {
  const int64_t n = parameter(argc, argv, "n");
  Array<double> a(n), b(n), result(1);
  fill(a, [] __device__(int64_t i) { return unit(i); });
  fill(b, [n] __device__(int64_t i) { return unit(i + n); });
  cublasHandle_t handle;
  must_blas(cublasCreate(&handle));
  must_blas(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE));
  auto run = [&] {
    must_blas(cublasDdot(handle, int(n), a.data, 1, b.data, 1, result.data));
  };
  return serve(run, [&] { return std::vector<double>{result.at(0)}; });
}
