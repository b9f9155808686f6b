// Cubic splines of tabulated energies, uniform in their argument, on the device.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/base/real.h"
#include "engine/components/setup.h"
#include "engine/device/buffer.h"
#include "forces/table_file.h"

namespace perrin {

template <class T>
struct SplineValue {
  T slope, energy;
};

/// As kernels and the host see it. Below the first point the energy goes on in a straight line: the
/// force is that of the first point.
///
/// Uniform in r, not r²: steps in r² are widest in r where potentials are steepest; a square root
/// costs less than the points that would take.
struct SplineView {
  const Real4 *host = nullptr, *device = nullptr;  // E = x + t (y + t (z + t w)), t from 0 to 1
  Real start = 0, inverse_width = 0, last = 0;     // last: the number of the last interval

  /// At x, which is not beyond the last point.
  template <class T>
  PERRIN_HD SplineValue<T> evaluate(T x) const {
    const T u = (x - T(start)) * T(inverse_width);
    const T above = u > T(0) ? u : T(0);
    const T bounded = above < T(last) ? above : T(last);
    const auto i = std::int32_t(bounded);
#ifdef __CUDA_ARCH__
    const Real4 c = device[i];
#else
    // Number by number, and by signed indices: GCC then gathers whole vectors.
    const Real* numbers = reinterpret_cast<const Real*>(host);
    const std::int32_t k = 4 * i;
    const Real4 c{numbers[k], numbers[k + 1], numbers[k + 2], numbers[k + 3]};
#endif
    const T t = above - T(i), beyond = u - above;
    const T slope = T(c.y) + t * (T(2) * T(c.z) + T(3) * T(c.w) * t);
    const T energy = T(c.x) + t * (T(c.y) + t * (T(c.z) + t * T(c.w))) + beyond * T(c.y);
    return {slope * T(inverse_width), energy};
  }
};

class Spline {
 public:
  /// Through the points. With slopes each interval has energy and slope at both ends from the
  /// file: error h⁴/384 times the fourth derivative. Without, slopes are those of the spline with
  /// continuous second derivative whose ends have the slopes of polynomials through six points.
  /// Points that are not equidistant are brought to the least distance among them first.
  Spline(const Device& device, const TableRows& rows, bool periodic);

  SplineView view() const;
  double start() const { return start_; }
  double end() const { return start_ + width_ * double(host_.size()); }
  /// A hash of the points, for checkpoints.
  std::string fingerprint() const;

 private:
  double start_ = 0, width_ = 0;
  std::vector<Real4> host_;
  Buffer<Real4> device_;
};

/// What a job says of a table.
struct TableSettings {
  std::string file, keyword;
  std::shared_ptr<const Spline> spline;  // of the file, once it is read

  /// Reads the file, relative to the job. False after an error, which is reported below `key`.
  bool load(Setup& setup, const std::string& key, TableKind kind);
};

template <class D>
void describe(D& d, TableSettings& s) {
  d.required("file", s.file, Any{}, "text file of the table, relative to the job file");
  d.optional("keyword", s.keyword, Any{},
             "section of a file in LAMMPS's format, if it has several");
}

}  // namespace perrin
