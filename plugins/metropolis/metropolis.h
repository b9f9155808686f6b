// Stage "metropolis": Monte Carlo sampling of atoms and rigid molecules; see
// docs/guide/metropolis.md.
#pragma once

#include "engine/components/registry.h"
#include "engine/components/stage.h"
#include "input_files.h"
#include "io/observable_file.h"
#include "output.h"
#include "rdf.h"
#include "sampler.h"
#include "settings.h"

namespace perrin::metropolis {

class MetropolisStage : public Stage {
 public:
  MetropolisStage(const MetropolisSettings& settings, Setup& setup);
  bool needs_system() const override { return false; }
  /// Replicas are distributed, and the domains of a checkerboard.
  bool shares_work() const override {
    return shares_domains_ || settings_.replicas > 1 || settings_.temperatures.size() > 1;
  }
  void begin(Run& run, bool resumed) override;
  bool run(Run& run) override;
  void state(Archive& archive) override;

  /// After the maker succeeded.
  Sampler& sampler() { return *sampler_; }
  const Rdf& rdf() const { return rdf_; }

 private:
  void check(Setup& setup) const;
  void make_files(Setup& setup, const Prepared& prepared);
  void open_files();
  void observe(Run& run, bool end);
  std::int64_t to_next_look() const;
  void begin_averages_anew(Run& run);
  void write_rdf();
  void write_csv() const;
  void write_final_state();
  void report(Run& run);
  void report_thesis(Run& run);
  std::int64_t stride() const { return settings_.stride.value_or(settings_.files ? 1 : 10); }
  std::int64_t total() const { return settings_.equilibration + cycles_; }

  MetropolisSettings settings_;
  std::int64_t cycles_ = 0;  // after equilibration
  std::unique_ptr<Sampler> sampler_;
  Rdf rdf_, rdf_row_;  // of the whole run; since the last row
  std::unique_ptr<io::ObservableFile> rows_, rdf_rows_;
  std::unique_ptr<SitesFile> frames_;
  std::filesystem::path csv_;
  InputFiles final_;  // names; empty: not written
  std::string energy_unit_;
  bool shares_domains_ = false, resumed_ = false, overwrite_ = false;
  bool other_averages_ = false;  // those restored are of other settings
  bool warned_of_range_ = false;
  // Of the rows after equilibration: sums over rows, by temperature.
  std::vector<double> energy_sum_, energy_sum2_;
  std::int64_t energy_rows_ = 0;
  std::int64_t began_at_ = 0;  // the cycle at which run() was called
  double seconds_ = 0;         // since then
};

void register_components(Registry& registry);

}  // namespace perrin::metropolis
