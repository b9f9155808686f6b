#include "neutron_slab.h"

#include <fmt/format.h>

#include <algorithm>

#include "distributed_transport.h"
#include "engine/run/run.h"
#include "engine/system/changed_since.h"

namespace neutron {

NeutronSlab::NeutronSlab(const NeutronSlabSettings& settings, perrin::Setup& setup)
    : settings_(settings), device_(setup.device()), seed_(setup.seed()) {
  const NeutronSlabSettings& s = settings_;
  if (s.source)
    problem_ = problem_of(s, setup);
  else
    layers_ = layers_of(s, setup);
  if (layers_.empty() && !problem_) return;  // reported
  const bool weighted = s.estimator == "weighted";
  TransportSettings t;
  Cells cells;
  if (problem_) {
    t.problem = problem_;
    cells = Cells::even(problem_->thickness, s.depth_bins);
    batch_ = batch_of(s, 1 + problem_->collisions / 10, t.largest_batch(), setup);
  } else {
    t.slab = Slab::of(layers_, s.roulette);
    cells = Cells::of(layers_, s.depth_bins);
    t.edges = cells.edge;
    const double h = optical_thickness(layers_);
    batch_ = batch_of(s, 1 + h / 10, largest_batch(h, weighted), setup);
  }
  std::filesystem::path path;
  if (!s.file.empty()) path = setup.output_file(s.file, "file");
  file_ = std::make_unique<ResultsFile>(
      path, s.depth_bins, s.angle_bins,
      problem_ ? problem_->thickness : geometric_thickness(layers_),
      problem_ ? std::optional(problem_->energy_edges()) : std::nullopt, setup);
  if (s.target_error == 0 && s.target != NeutronSlabSettings{}.target)
    setup.warn("target", "has no effect without \"target_error\"");
  if (s.roulette > 0 && s.estimator != "weighted")
    setup.error("roulette", "is for the estimator weighted, got " + s.estimator);
  if (s.streams > 0 && is_keyed(s.generator))
    setup.error("streams", "is for generators with a state, got " + s.generator);
  if (s.generator == "mt19937" && device_.is_cuda()) {
    setup.error("generator", "mt19937 runs only on the CPU, got the device " + device_.name());
    return;
  }
  if (!setup.validating()) {
    t.angles = s.angle_bins;
    t.weighted = weighted;
    t.persistent = s.kernel == "persistent";
    t.generator = s.generator;
    t.seed = setup.seed(perrin::Purpose::neutron);
    t.streams = s.streams;
    transport_ = make_transport(device_, t);
    // Those with a state deal out their streams.
    if (is_keyed(s.generator)) transport_ = distributed(std::move(transport_));
  }
  results_ =
      Results(std::move(cells), s.depth_bins, s.angle_bins, weighted, problem_ ? s.energy_bins : 0);
}

// A resumed file is opened once state() has said how long it was.
void NeutronSlab::begin(perrin::Run&, bool resumed) {
  resumed_ = resumed;
  if (!resumed) file_->open(false);
}

bool NeutronSlab::finished() const {
  if (results_.histories() >= settings_.histories) return true;
  return settings_.target_error > 0 && results_.histories() > 0 &&
         results_.by_name(settings_.target).relative() <= settings_.target_error;
}

bool NeutronSlab::run(perrin::Run& run) {
  file_->open(resumed_);
  run.start_progress("histories", results_.histories(), settings_.histories);
  while (!finished()) {
    if (run.stop_requested()) {
      run.progress(results_.histories());
      return false;
    }
    const std::int64_t done = results_.histories();
    const std::int64_t n = std::min(batch_, settings_.histories - done);
    results_.add(transport_->run(std::uint64_t(done), n), n);
    if (settings_.stride > 0 && (done + n) / settings_.stride > done / settings_.stride)
      file_->append(results_);
    run.observe();
    run.progress(results_.histories());
  }
  run.finish_progress(results_.histories());
  file_->append(results_);
  file_->flush();
  print_table(run);
  return true;
}

void NeutronSlab::print_table(perrin::Run& run) const {
  run.print(
      fmt::format("{:<14} {:>14} {:>12} {:>12}", "per neutron", "mean", "std. error", "relative"));
  std::vector<const char*> names{"transmission", "reflection", "absorption", "collisions"};
  if (problem_) names.push_back("slowed_down");
  for (const char* name : names) {
    const Estimate e = results_.by_name(name);
    run.print(
        fmt::format("{:<14} {:>14.8g} {:>12.2g} {:>12.2g}", name, e.mean, e.error, e.relative()));
  }
  if (settings_.estimator == "weighted")
    run.print(fmt::format("{:<14} {:>14.8g}", "  simulated", results_.simulated_collisions()));
  if (settings_.target_error > 0 &&
      results_.by_name(settings_.target).relative() > settings_.target_error)
    run.print(
        fmt::format("the target, a relative error of {:g} in the {}, was not reached with {} "
                    "histories",
                    settings_.target_error, settings_.target, results_.histories()));
}

// What the sums are of, and what the states of generators are the states of.
void NeutronSlab::check_settings(perrin::Archive& archive) const {
  const NeutronSlabSettings& s = settings_;
  const auto refuse_other = [&](const char* key, const auto& now) {
    auto before = now;
    if (perrin::changed_since(archive, key, now, &before))
      throw perrin::UserError(
          fmt::format("neutron_slab: {}: the checkpoint's results are for {}, a resumed run cannot "
                      "change to {}; start a new run",
                      key, before, now));
  };
  std::vector<double> layers;
  for (const Layer& layer : layers_)
    layers.insert(layers.end(), {layer.thickness, layer.total, layer.scattering});
  if (perrin::changed_since(archive, "layers", layers))
    throw perrin::UserError(
        "neutron_slab: the checkpoint's results are for another slab (thickness, cross-sections or "
        "layers); start a new run");
  if (problem_ && perrin::changed_since(archive, "energies", problem_->fingerprint()))
    throw perrin::UserError(
        "neutron_slab: the checkpoint's results are for other cross-sections, nuclei, faces, bins "
        "of the energy, or for another source; start a new run");
  refuse_other("estimator", s.estimator);
  refuse_other("depth_bins", s.depth_bins);
  refuse_other("angle_bins", s.angle_bins);
  // A keyed generator begins anew with every history: another may go on.
  refuse_other("generator", is_keyed(s.generator) ? std::string("keyed") : s.generator);
  refuse_other("seed", is_keyed(s.generator) ? std::uint64_t(0) : seed_);
}

void NeutronSlab::state(perrin::Archive& archive) {
  {
    const perrin::Archive::Scope scope(archive, "settings");
    check_settings(archive);
  }
  results_.state(archive);
  file_->state(archive);
  const perrin::Archive::Scope scope(archive, "generator");
  transport_->state(archive);
}

namespace {

/// The settings with an example for help, which is of no use to who includes them.
struct WithExample : NeutronSlabSettings {};
void describe(perrin::Fields& d, WithExample& s) {
  describe(d, static_cast<NeutronSlabSettings&>(s));
  d.example("{\"thickness\": 10, \"total\": 1.1, \"scattering\": 0.9, \"histories\": 100000}");
}

}  // namespace

void register_components(perrin::Registry& registry) {
  registry.add<perrin::Stage, WithExample>(
      "neutron_slab", "neutron transport through a slab, by Monte Carlo; needs no system",
      [](const NeutronSlabSettings& s, perrin::Setup& setup) {
        return std::make_unique<NeutronSlab>(s, setup);
      });
}

}  // namespace neutron
