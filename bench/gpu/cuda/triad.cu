// a + 3 b, element by element: two elements a thread by 16-byte loads and stores.

#include "common.cuh"

__global__ void triad(const double2 *a, const double2 *b, double2 *out, int64_t pairs) {
  const int64_t at = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (at < pairs) {
    const double2 x = a[at], y = b[at];
    out[at] = make_double2(x.x + 3.0 * y.x, x.y + 3.0 * y.y);
  }
}

__global__ void last_of_odd(const double *a, const double *b, double *out, int64_t n) {
  out[n - 1] = a[n - 1] + 3.0 * b[n - 1];
}

int main(int argc, char **argv) {
  const int64_t n = parameter(argc, argv, "n");
  Array<double> a(n), b(n), out(n);
  fill(a, [] __device__(int64_t i) { return unit(i); });
  fill(b, [n] __device__(int64_t i) { return unit(i + n); });
  const int threads = 256;
  const int64_t pairs = n / 2;
  auto run = [&] {
    if (pairs > 0) {
      triad<<<unsigned((pairs + threads - 1) / threads), threads>>>(
          reinterpret_cast<const double2 *>(a.data), reinterpret_cast<const double2 *>(b.data),
          reinterpret_cast<double2 *>(out.data), pairs);
    }
    if (n % 2 == 1) {
      last_of_odd<<<1, 1>>>(a.data, b.data, out.data, n);
    }
  };
  return serve(run, [&] { return check_floats(out); });
}
