// Sums over particles in bins whose bits do not depend on the order in which particles come: made
// of integers, in units of a power of two that follow from the largest term of the sample.
#pragma once

#include <cmath>
#include <vector>

#include "engine/device/parallel.h"
#include "engine/domain/reduction.h"
#include "engine/system/archive.h"

namespace perrin::analysis {

/// What one particle adds, and to which bin; -1: it does not count.
template <int Q>
struct Terms {
  std::int64_t bin = -1;
  double value[Q] = {};
};

namespace detail {

/// Magnitudes; += takes the larger ones.
template <int Q>
struct Largest {
  double value[Q] = {};
  PERRIN_HD Largest& operator+=(const Largest& b) {
    for (int q = 0; q < Q; ++q) value[q] = b.value[q] > value[q] ? b.value[q] : value[q];
    return *this;
  }
  /// The unit of an integer sum: a power of two of which n times the largest is below 2^62.
  PERRIN_HD double unit(int q, std::int64_t n) const {
    return value[q] > 0 ? std::ldexp(1.0, std::ilogb(value[q]) + std::ilogb(double(n)) + 2 - 62)
                        : 1.0;
  }
};

template <int Q, class F>
struct FindLargest {
  F terms;
  PERRIN_HD Largest<Q> operator()(std::int64_t i) const {
    const Terms<Q> t = terms(i);
    Largest<Q> largest;
    for (int q = 0; q < Q && t.bin >= 0; ++q) largest.value[q] = std::abs(t.value[q]);
    return largest;
  }
};

template <int Q, class F>
struct AddTerms {
  F terms;
  std::int64_t n, bins;
  const Largest<Q>* largest;
  std::int64_t* sample;  // [quantity · bins + bin]
  PERRIN_HD void operator()(std::int64_t i) const {
    const Terms<Q> t = terms(i);
    if (t.bin < 0) return;
    for (int q = 0; q < Q; ++q) {
      std::int64_t* const place = sample + q * bins + t.bin;
      const std::int64_t whole = std::int64_t(t.value[q] / largest->unit(q, n));
#ifdef __CUDA_ARCH__
      atomicAdd(reinterpret_cast<unsigned long long*>(place),
                static_cast<unsigned long long>(whole));
#else
      __atomic_fetch_add(place, whole, __ATOMIC_RELAXED);
#endif
    }
  }
};

template <int Q>
struct Fold {
  const Largest<Q>* largest;
  std::int64_t n, bins;
  std::int64_t* sample;
  double* sum;
  PERRIN_HD void operator()(std::int64_t k) const {
    sum[k] += largest->unit(int(k / bins), n) * double(sample[k]);
    sample[k] = 0;
  }
};

}  // namespace detail

template <int Q>
class BinnedSums {
 public:
  BinnedSums(const Device& device, std::int64_t bins)
      : bins_(bins),
        sample_(device, Q * bins),
        sum_(device, Q * bins),
        largest_(device, 1),
        scratch_(device, sum_chunks) {}

  /// Adds terms(i) of 0 ≤ i < n. Device work only. A term is rounded to 2^-61 n of the largest.
  template <class F>
  void add(const Device& device, const char* name, std::int64_t n, const F& terms) {
    using namespace detail;
    sum<Largest<Q>>(device, name, n, FindLargest<Q, F>{terms}, scratch_, largest_.data());
    for_each(device, name, n, AddTerms<Q, F>{terms, n, bins_, largest_.data(), sample_.data()});
    for_each(device, name, sum_.size(),
             Fold<Q>{largest_.data(), n, bins_, sample_.data(), sum_.data()});
  }
  /// [quantity · bins + bin]; and begins anew.
  std::vector<double> take() {
    auto sums = sum_.to_host();
    sum_.zero();
    return sums;
  }
  void state(Archive& archive) { archive("sum", sum_); }

 private:
  std::int64_t bins_;
  Buffer<std::int64_t> sample_;  // each quantity in a unit of its own
  Buffer<double> sum_;
  Buffer<detail::Largest<Q>> largest_, scratch_;
};

}  // namespace perrin::analysis
