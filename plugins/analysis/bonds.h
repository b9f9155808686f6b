// Observer "bonds": how many bonds there are, were made and broken, and what they hold together.
#pragma once

#include "engine/components/observer.h"
#include "engine/settings/settings.h"
#include "io/observable_file.h"
#include "output.h"

namespace perrin {
class Registry;
}

namespace perrin::analysis {

struct BondsSettings {
  std::int64_t stride = 1000;
  std::string file = "bonds.h5";
  std::int32_t sizes = 100;
};
template <class D>
void describe(D& d, BondsSettings& s) {
  d.optional("stride", s.stride, Positive{}, "output interval (steps)");
  d.optional("file", s.file, Any{}, "HDF5 file, relative to the output directory");
  d.optional(
      "sizes", s.sizes, Between{1, 1000000},
      "number of sizes in the distribution, from 1; the last one includes all larger molecules");
}

/// Columns, of each row's step: bonds, formed and broken, by bond type: there now, and made and
/// broken by dynamic_bonds since the job began; conversion: bonds of the particles whose types have
/// a valence / their valences (0 without any); molecules: particles that bonds hold together, a
/// single one too; largest, particles in the largest one; mean_size, particles / molecules;
/// weight_mean_size, the mean over particles of the size of their molecule; distribution: number of
/// molecules of 1, 2, … particles, the last element with all larger ones.
class Bonds final : public Observer {
 public:
  Bonds(const BondsSettings& settings, Setup& setup);
  std::int64_t stride() const override { return settings_.stride; }
  void begin(const Observation& seen, bool resumed) override;
  void observe(const Observation& seen) override;
  void end(const Observation& seen) override;
  void state(Archive& archive) override;

 private:
  double conversion(const Observation& seen) const;

  BondsSettings settings_;
  std::vector<std::string> names_;
  std::vector<std::uint32_t> type_;  // of each particle, by id
  io::ObservableFile file_;
};

void register_bonds(Registry& registry);

}  // namespace perrin::analysis
