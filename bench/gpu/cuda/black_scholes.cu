// Prices of n European options by the Black-Scholes formula, one option a thread. `bits` is 32 or 64.
//
// With library=0, exp and ln are the polynomials that NESL uses (runtime/src/math), for a comparison of
// like with like; with library=1 they are CUDA's own.

#include "common.cuh"

#include <cmath>

template <class T> struct Format;

template <> struct Format<double> {
  using Bits = int64_t;
  static constexpr int stored = 52;
  static constexpr double bias = 1023, magic = 6755399441055744.0, lift = 54;
  static constexpr double least_normal = 2.2250738585072014e-308;
  static constexpr double exp_least = -746.0, exp_most = 712.0;
  static constexpr double log2_e = 1.4426950408889634;
  static constexpr double ln2_high = 0.6931471805599453, ln2_low = 2.3190468138462996e-17;
  static constexpr double ln2_short_high = 0.6931471805598903, ln2_short_low = 5.497923018708371e-14;
  static constexpr double root_half = 0.7071067811865476;
  __device__ static Bits bits(double x) { return __double_as_longlong(x); }
  __device__ static double of_bits(Bits x) { return __longlong_as_double(x); }

  __device__ static double exp_tail(double r) {
    const double c[] = {0.5, 0.16666666666666685, 0.04166666666666648, 0.008333333333315698,
                        0.0013888888888994348, 0.00019841269899722856, 2.4801587106338686e-05,
                        2.7557231497083145e-06, 2.7557455301538156e-07, 2.5113218663405695e-08,
                        2.0860842621582075e-09};
    double sum = c[10];
#pragma unroll
    for (int at = 9; at >= 0; --at) {
      sum = fma(sum, r, c[at]);
    }
    return sum;
  }

  __device__ static double ln_tail(double z) {
    const double c[] = {0.666666666666674, 0.3999999999938226, 0.28571428749528,
                        0.22222197833440932, 0.18183603499020431, 0.15313024763447428,
                        0.14806476550030362};
    double sum = c[6];
#pragma unroll
    for (int at = 5; at >= 0; --at) {
      sum = fma(sum, z, c[at]);
    }
    return sum;
  }
};

template <> struct Format<float> {
  using Bits = int32_t;
  static constexpr int stored = 23;
  static constexpr float bias = 127, magic = 12582912.0f, lift = 25;
  static constexpr float least_normal = 1.17549435e-38f;
  static constexpr float exp_least = -104.0f, exp_most = 91.0f;
  static constexpr float log2_e = 1.4426950216293335f;
  static constexpr float ln2_high = 0.6931471824645996f, ln2_low = -1.9046542121259336e-09f;
  static constexpr float ln2_short_high = 0.693145751953125f;
  static constexpr float ln2_short_low = 1.428606765330187e-06f;
  static constexpr float root_half = 0.7071067690849304f;
  __device__ static Bits bits(float x) { return __float_as_int(x); }
  __device__ static float of_bits(Bits x) { return __int_as_float(x); }

  __device__ static float exp_tail(float r) {
    const float c[] = {0.5f, 0.166666641831398f, 0.04166644811630249f, 0.008333880454301834f,
                       0.0013936595059931278f, 0.0001958599459612742f};
    float sum = c[5];
#pragma unroll
    for (int at = 4; at >= 0; --at) {
      sum = fmaf(sum, r, c[at]);
    }
    return sum;
  }

  __device__ static float ln_tail(float z) {
    return fmaf(fmaf(0.2988700568675995f, z, 0.3997693657875061f), z, 0.6666678190231323f);
  }
};

template <class T> __device__ T power_of_two(T k) {
  using F = Format<T>;
  using Bits = typename F::Bits;
  return F::of_bits(Bits(F::bits(k + (F::magic + F::bias)) << F::stored));
}

// e^x = 2^k · e^r, r = x - k · ln 2.
template <class T> __device__ T exp_polynomial(T x) {
  using F = Format<T>;
  x = F::exp_most < x ? F::exp_most : x;
  x = x < F::exp_least ? F::exp_least : x;
  const T k = fma(x, F::log2_e, F::magic) - F::magic;
  const T coarse = fma(-k, F::ln2_high, x);
  const T r = fma(-k, F::ln2_low, coarse);
  const T r_low = fma(-k, F::ln2_low, coarse - r);
  const T tail = fma(r * r, F::exp_tail(r), r_low);
  const T high = T(1) + r;
  const T low = r - (high - T(1));
  const T half = fma(k, T(0.5), F::magic) - F::magic;
  return (high + (low + tail)) * power_of_two(half) * power_of_two(k - half);
}

// ln x = k · ln 2 + ln(1 + f), 1 + f in [√½, √2).
template <class T> __device__ T ln_polynomial(T x) {
  using F = Format<T>;
  using Bits = typename F::Bits;
  const bool subnormal = x < F::least_normal;
  const T normal = subnormal ? x * T(1ull << int(F::lift)) : x;
  const Bits root_half = F::bits(F::root_half);
  const Bits moved = F::bits(normal) + (F::bits(T(1)) - root_half);
  const T binade = T(1ull << F::stored);
  const Bits biased = (moved >> F::stored) + F::bits(binade);
  const T k = F::of_bits(biased) - (binade + F::bias) - (subnormal ? F::lift : T(0));
  const Bits significand = moved & ((Bits(1) << F::stored) - 1);
  const T f = F::of_bits(significand + root_half) - T(1);
  const T s = f / (f + T(2));
  const T z = s * s, square = f * f;
  const T square_low = fma(f, f, -square);
  const T half_square = T(0.5) * square;
  T tail = s * fma(z, F::ln_tail(z), half_square);
  tail = fma(k, F::ln2_short_low, tail);
  tail = fma(T(-0.5), square_low, tail);
  const T product = k * F::ln2_short_high;
  const T high = product + f;
  const T low = f - (high - product);
  const T higher = high - half_square;
  const T lower = -half_square - (higher - high);
  const T result = higher + (lower + (low + tail));
  const T ordinary = x < T(INFINITY) ? result : x;
  const T special = x < T(0) ? T(NAN) : x - T(INFINITY);
  return T(0) < x ? ordinary : special;
}

template <class T, bool library> __device__ T exponential(T x) {
  return library ? T(exp(x)) : exp_polynomial(x);
}

template <class T, bool library> __device__ T logarithm(T x) {
  return library ? T(log(x)) : ln_polynomial(x);
}

template <class T, bool library> __device__ T normal_cdf(T d) {
  const T k = T(1) / (T(1) + T(0.2316419) * (d < T(0) ? -d : d));
  const T polynomial =
      k * (T(0.319381530) +
           k * (T(-0.356563782) +
                k * (T(1.781477937) + k * (T(-1.821255978) + k * T(1.330274429)))));
  const T tail =
      polynomial * exponential<T, library>(T(-0.5) * d * d) / sqrt(T(2) * T(3.14159265358979323846));
  return d > T(0) ? T(1) - tail : tail;
}

template <class T, bool library>
__global__ void prices(const T *spots, const T *strikes, const T *years, T *calls, T *puts,
                       int64_t n) {
  const int64_t at = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (at >= n) {
    return;
  }
  const T spot = spots[at], strike = strikes[at], time = years[at];
  const T rate = T(0.02), volatility = T(0.3);
  const T spread = volatility * sqrt(time);
  const T d1 = (logarithm<T, library>(spot / strike) +
                (rate + T(0.5) * volatility * volatility) * time) / spread;
  const T d2 = d1 - spread;
  const T discounted = strike * exponential<T, library>(-rate * time);
  const T call =
      spot * normal_cdf<T, library>(d1) - discounted * normal_cdf<T, library>(d2);
  calls[at] = call;
  puts[at] = call - spot + discounted;
}

template <class T, bool library> int options(int64_t n) {
  Array<T> spots(n), strikes(n), years(n), calls(n), puts(n);
  fill(spots, [] __device__(int64_t i) { return T(10) + T(i % 1000) / T(10); });
  fill(strikes, [] __device__(int64_t i) { return T(10) + T(i % 911) / T(9); });
  fill(years, [] __device__(int64_t i) { return T(0.25) + T(i % 41) / T(4); });
  auto run = [&] {
    prices<T, library><<<unsigned((n + 255) / 256), 256>>>(spots.data, strikes.data, years.data,
                                                          calls.data, puts.data, n);
  };
  return serve(run, [&] {
    std::vector<double> check;
    for (int64_t at : {int64_t(0), n / 2, n - 1}) {
      check.push_back(double(calls.at(at)));
      check.push_back(double(puts.at(at)));
    }
    return check;
  });
}

int main(int argc, char **argv) {
  const int64_t n = parameter(argc, argv, "n");
  const bool wide = parameter(argc, argv, "bits", 64) == 64;
  if (parameter(argc, argv, "library") == 1) {
    return wide ? options<double, true>(n) : options<float, true>(n);
  }
  return wide ? options<double, false>(n) : options<float, false>(n);
}
