// The part that all peers in CUDA C++ share: parameters, inputs, timing and the protocol.
//
//   PROGRAM name=value …
//
// prints `ready` once the inputs are on the device. Then each line `REPS CHECK` on standard input is
// answered by one line of JSON: `device`, the seconds of each repetition between two events; `wall`, the
// seconds of each repetition on the host's clock, including the wait for its end; and, if CHECK is 1,
// `check`, the numbers by which results are compared (those of `check` in the NESL file).

#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <cuda_runtime.h>

inline void must(cudaError_t code, const char *what, int line) {
  if (code != cudaSuccess) {
    std::fprintf(stderr, "line %d: %s: %s\n", line, what, cudaGetErrorString(code));
    std::exit(1);
  }
}

#define MUST(call) must((call), #call, __LINE__)

// The parameter of a name, as given on the command line.
inline int64_t parameter(int argc, char **argv, const char *name, int64_t otherwise = 0) {
  const size_t length = std::strlen(name);
  for (int at = 1; at < argc; ++at) {
    if (std::strncmp(argv[at], name, length) == 0 && argv[at][length] == '=') {
      return std::strtoll(argv[at] + length + 1, nullptr, 10);
    }
  }
  return otherwise;
}

// An array on the device.
template <class T> struct Array {
  T *data = nullptr;
  int64_t length = 0;

  explicit Array(int64_t length) : length(length) {
    MUST(cudaMalloc(&data, std::max<size_t>(length, 1) * sizeof(T)));
  }
  Array(const Array &) = delete;
  Array &operator=(const Array &) = delete;

  T at(int64_t index) const {
    T value;
    MUST(cudaMemcpy(&value, data + index, sizeof(T), cudaMemcpyDeviceToHost));
    return value;
  }

  std::vector<T> host() const {
    std::vector<T> copy(length);
    MUST(cudaMemcpy(copy.data(), data, length * sizeof(T), cudaMemcpyDeviceToHost));
    return copy;
  }
};

// The same pseudo-random numbers as `mix` and `unit` in bench/nesl/data.nesl.
__host__ __device__ inline int64_t mix(int64_t i) {
  const int64_t p = 2147483647;
  const int64_t h = (i * 48271 + 11) % p;
  return (h * h % p * h + 12345) % p;
}

__host__ __device__ inline double unit(int64_t i) { return double(mix(i)) / 2147483647.0; }

template <class T, class F> __global__ void fill_kernel(T *out, int64_t length, F element) {
  const int64_t at = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (at < length) {
    out[at] = element(at);
  }
}

// Sets every element to the value of a function of its index.
template <class T, class F> void fill(Array<T> &out, F element) {
  const int threads = 256;
  const int64_t blocks = (out.length + threads - 1) / threads;
  if (blocks > 0) {
    fill_kernel<<<unsigned(blocks), threads>>>(out.data, out.length, element);
    MUST(cudaGetLastError());
  }
}

template <class T> std::vector<double> check_floats(const Array<T> &array) {
  double sum = 0;
  const std::vector<T> copy = array.host();
  for (T x : copy) {
    sum += double(x);
  }
  return {sum, double(copy[copy.size() / 2]), double(copy.back())};
}

inline void print_list(const char *name, const std::vector<double> &values, const char *end) {
  std::printf("\"%s\": [", name);
  for (size_t at = 0; at < values.size(); ++at) {
    std::printf("%s%.17g", at == 0 ? "" : ", ", values[at]);
  }
  std::printf("]%s", end);
}

// Answers requests until standard input ends. `run` enqueues the program on the default stream; `check`
// returns the checksums of its last result.
template <class Run, class Check> int serve(Run run, Check check) {
  using Clock = std::chrono::steady_clock;
  cudaEvent_t begin, end;
  MUST(cudaEventCreate(&begin));
  MUST(cudaEventCreate(&end));
  MUST(cudaDeviceSynchronize());
  std::printf("ready\n");
  std::fflush(stdout);
  int reps = 0, wants_check = 0;
  while (std::scanf("%d %d", &reps, &wants_check) == 2) {
    std::vector<double> device, wall;
    for (int rep = 0; rep < reps; ++rep) {
      const auto began = Clock::now();
      MUST(cudaEventRecord(begin));
      run();
      MUST(cudaEventRecord(end));
      MUST(cudaEventSynchronize(end));
      wall.push_back(std::chrono::duration<double>(Clock::now() - began).count());
      MUST(cudaGetLastError());
      float milliseconds = 0;
      MUST(cudaEventElapsedTime(&milliseconds, begin, end));
      device.push_back(1e-3 * milliseconds);
    }
    std::printf("{");
    print_list("device", device, ", ");
    print_list("wall", wall, "");
    if (wants_check) {
      std::printf(", ");
      print_list("check", check(), "");
    }
    std::printf("}\n");
    std::fflush(stdout);
  }
  return 0;
}
