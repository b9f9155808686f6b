// Stage "neutron_slab": neutrons enter a slab, scatter, and are absorbed or leave: of one speed
// along the normal, or with energies from a source. After Nekrasov, Potashnikov, Boyarchenkov,
// Kupryazhkin (Ural Federal University, 2016); see docs/guide/neutron-slab.md.
#pragma once

#include <memory>

#include "engine/components/registry.h"
#include "engine/components/stage.h"
#include "results_file.h"
#include "settings.h"

namespace neutron {

class NeutronSlab : public perrin::Stage {
 public:
  NeutronSlab(const NeutronSlabSettings& settings, perrin::Setup& setup);
  bool needs_system() const override { return false; }
  bool shares_work() const override { return true; }
  void begin(perrin::Run& run, bool resumed) override;
  bool run(perrin::Run& run) override;
  void state(perrin::Archive& archive) override;

  const Results& results() const { return results_; }

 private:
  bool finished() const;
  void check_settings(perrin::Archive& archive) const;
  void print_table(perrin::Run& run) const;

  NeutronSlabSettings settings_;
  std::vector<Layer> layers_;                     // one speed
  std::shared_ptr<const EnergyProblem> problem_;  // with energies
  perrin::Device device_;
  std::uint64_t seed_;
  bool resumed_ = false;
  std::int64_t batch_ = 0;
  std::unique_ptr<Transport> transport_;
  Results results_;
  std::unique_ptr<ResultsFile> file_;
};

void register_components(perrin::Registry& registry);

}  // namespace neutron
