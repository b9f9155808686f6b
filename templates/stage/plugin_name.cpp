// A stage: a run of another kind, without particles. Ising's chain of spins, closed to a ring, by
// the heat bath: E = -coupling times the sum of s(i) s(i+1).
#include <cmath>

#include "engine/device/parallel.h"
#include "engine/domain/reduction.h"
#include "engine/job/plugin_api.h"
#include "engine/run/run.h"
#include "io/observable_file.h"
#include "rng/keyed.h"

using namespace perrin;

namespace plugin_name {

struct PluginNameSettings {
  std::int64_t spins = 1000, sweeps = 1000, stride = 10;
  double coupling = 1, temperature = 1;
  std::string file = "plugin_name.h5";
};
template <class D>
void describe(D& d, PluginNameSettings& s) {
  d.required("spins", s.spins, Positive{}, "number of spins, even");
  d.required("sweeps", s.sweeps, Positive{}, "number of sweeps: redraws of every spin");
  d.optional("stride", s.stride, Positive{}, "output interval (sweeps)");
  d.optional("coupling", s.coupling, Any{}, "coupling constant (energy)");
  d.required("temperature", s.temperature, Positive{}, "temperature, as k_B T (energy)");
  d.optional("file", s.file, Any{}, "HDF5 file, relative to the output directory");
}

/// Draws every second spin anew: its neighbours are the others, which wait.
struct DrawSpin {
  std::int32_t* spin;
  std::int64_t n, first;
  RunKey key;
  std::uint64_t sweep;
  double twice_coupling_over_kt;

  PERRIN_HD void operator()(std::int64_t k) const {
    const std::int64_t i = 2 * k + first;
    const int around = spin[(i + 1) % n] + spin[(i + n - 1) % n];
    const double up = 1 / (1 + std::exp(-twice_coupling_over_kt * around));
    auto random = keyed<Philox>(key, sweep, std::uint32_t(i));  // of seed, sweep and spin alone
    spin[i] = random.uniform<double>() < up ? 1 : -1;
  }
};
struct BondEnergy {
  const std::int32_t* spin;
  std::int64_t n;
  PERRIN_HD double operator()(std::int64_t i) const { return -spin[i] * spin[(i + 1) % n]; }
};

class PluginName final : public Stage {
 public:
  PluginName(const PluginNameSettings& s, Setup& setup)
      : settings_(s),
        device_(setup.device()),
        key_(plugin_purpose(12345), setup.seed(plugin_purpose(12345))),
        file_(setup.output_file(s.file, "file"), {{"energy_per_spin", {}, ""}}, setup),
        spin_(device_, s.spins) {
    if (s.spins % 2 != 0) setup.error("spins", "must be even, got " + std::to_string(s.spins));
    spin_.assign(std::vector<std::int32_t>(std::size_t(s.spins), 1));
  }

  bool needs_system() const override { return false; }
  void begin(Run&, bool resumed) override { resumed_ = resumed; }
  bool run(Run& run) override {
    file_.open(resumed_);
    run.start_progress("sweeps", done_, settings_.sweeps);
    while (done_ < settings_.sweeps) {
      if (run.stop_requested()) return false;
      sweep();
      if (++done_ % settings_.stride == 0) file_.append(done_, double(done_), {energy()});
      run.observe();  // here a checkpoint may be written
      run.progress(done_);
    }
    run.finish_progress(done_);
    file_.flush();
    return true;
  }
  void state(Archive& archive) override {
    archive("done", done_);
    archive("spin", spin_);
    file_.state(archive);
  }

 private:
  void sweep() {
    for (const std::int64_t first : {0, 1})
      for_each(device_, "spins", settings_.spins / 2,
               DrawSpin{spin_.data(), settings_.spins, first, key_, std::uint64_t(done_),
                        2 * settings_.coupling / settings_.temperature});
  }
  double energy() {
    const double bonds =
        sum<double>(device_, "energy", settings_.spins, BondEnergy{spin_.data(), settings_.spins});
    return settings_.coupling * bonds / double(settings_.spins);
  }

  PluginNameSettings settings_;
  Device device_;
  RunKey key_;
  io::ObservableFile file_;
  Buffer<std::int32_t> spin_;
  std::int64_t done_ = 0;
  bool resumed_ = false;
};

void register_components(Registry& registry) {
  registry.add<Stage, PluginNameSettings>("plugin_name", "Ising chain with heat-bath dynamics",
                                          [](const PluginNameSettings& s, Setup& setup) {
                                            return std::make_unique<PluginName>(s, setup);
                                          });
}

}  // namespace plugin_name

PERRIN_PLUGIN("plugin_name", "1.0", plugin_name::register_components)
