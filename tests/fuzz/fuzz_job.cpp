// libFuzzer: any text as a job file, and behind a NUL what --set says. A job that is accepted is
// accepted again as it is recorded.
#include <cstdlib>
#include <string>

#include "engine/job/job.h"
#include "engine/run/md_stage.h"
#include "engine/settings/settings_parse.h"
#include "engine/settings/settings_schema.h"
#include "forces/harmonic_trap.h"
#include "integrators/bussi.h"
#include "integrators/fire.h"
#include "integrators/velocity_verlet.h"
#include "io/sources.h"
#include "io/thermo.h"
#include "io/trajectory.h"

using namespace perrin;

// The schema of jobs names it; the program has it from its plug-ins' loader.
const char* perrin::engine_version() { return "fuzz"; }

namespace {

/// Settings as the program registers them; nothing is made of them here.
template <class Component, class Settings>
void add(Registry& registry, const char* type) {
  registry.add<Component, Settings>(
      type, "", [](const Settings&, Setup&) { return std::unique_ptr<Component>(); });
}

const Registry& registry() {
  static Registry all;
  static const bool filled = [] {
    add<Source, LatticeSettings>(all, "lattice");
    add<Source, RandomSettings>(all, "random");
    add<Source, ChainsSettings>(all, "chains");
    add<Source, FileSettings>(all, "file");
    add<Observer, TrajectorySettings>(all, "trajectory");
    add<Observer, ThermoSettings>(all, "thermo");
    add<Stage, MdSettings>(all, "md");
    add<Integrator, VelocityVerletSettings>(all, "velocity_verlet");
    add<Integrator, BussiSettings>(all, "bussi");
    add<Integrator, FireSettings>(all, "fire");
    add<Force, HarmonicTrapKeys>(all, "harmonic_trap");
    return true;
  }();
  (void)filled;
  return all;
}

bool parse(const Json& job, JobSettings& settings) {
  bool good = true;
  SettingsParser parser(registry(), [&](const std::string&, const std::string&) { good = false; });
  parser.parse(job, "", settings);
  return good;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string all(reinterpret_cast<const char*>(data), size);
  const std::size_t end = std::min(all.find('\0'), all.size());
  try {
    JsonFile file = JsonFile::parse(all.substr(0, end), "job.json");
    if (end < all.size()) file.set(all.substr(end + 1));
    JobSettings settings, again;
    if (!parse(file.value(), settings)) return 0;
    const Json recorded = record(settings);
    if (!parse(JsonFile::parse(recorded.dump(2), "record").value(), again)) std::abort();
    if (record(again) != recorded) std::abort();
  } catch (const UserError&) {
  }
  return 0;
}
