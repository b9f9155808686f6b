// Observer "orientational_order": how far the axes of particles agree, and how long they last.
#pragma once

#include <optional>
#include <vector>

#include "engine/components/observer.h"
#include "engine/settings/settings.h"
#include "engine/system/group.h"
#include "io/observable_file.h"
#include "output.h"

namespace perrin {
class Registry;
}

namespace perrin::analysis {

struct OrientationalOrderSettings {
  std::int64_t stride = 1000;
  std::string group = "all", file = "orientational_order.h5";
};
template <class D>
void describe(D& d, OrientationalOrderSettings& s) {
  d.optional("stride", s.stride, Positive{}, "output interval (steps)");
  d.optional("group", s.group, Any{}, "particles whose axes are looked at");
  d.optional("file", s.file, Any{}, "HDF5 file, relative to the output directory");
}

/// Of the axes u (x of the frame of each particle), in d dimensions. Columns: nematic_order, the
/// largest eigenvalue of the mean of (d u⊗u - 1)/(d - 1); director, its eigenvector; polar_order,
/// |<u>|; autocorrelation, <u(t)·u(0)> since the observer was first called.
class OrientationalOrder final : public Observer {
 public:
  OrientationalOrder(const OrientationalOrderSettings& settings, Setup& setup);
  std::int64_t stride() const override { return settings_.stride; }
  void begin(const Observation& seen, bool resumed) override;
  void observe(const Observation& seen) override;
  void end(const Observation& seen) override;
  void state(Archive& archive) override;

 private:
  OrientationalOrderSettings settings_;
  io::ObservableFile file_;
  std::vector<std::uint32_t> members_;    // ids
  std::vector<Vec3<double>> first_axes_;  // of these, when first called
};

/// The largest eigenvalue of a symmetric matrix xx yy zz xy xz yz whose trace is 0, and its unit
/// eigenvector.
struct LargestEigenvalue {
  double value;
  Vec3<double> vector;
};
LargestEigenvalue largest_eigenvalue(const std::array<double, 6>& m);

void register_orientational_order(Registry& registry);

}  // namespace perrin::analysis
