#include "metropolis.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>

#include "engine/components/chunk.h"
#include "engine/domain/decomposition.h"
#include "engine/run/run.h"
#include "engine/system/changed_since.h"
#include "io/new_file.h"
#include "io/text_file.h"

namespace perrin::metropolis {

MetropolisStage::MetropolisStage(const MetropolisSettings& settings, Setup& setup)
    : settings_(settings), overwrite_(setup.overwrite() || setup.resuming()) {
  check(setup);
  const auto prepared = prepare(settings, setup);
  if (!prepared) return;
  cycles_ = prepared->cycles;
  energy_unit_ = prepared->units.energy;
  make_files(setup, *prepared);
  SamplerOptions options;
  options.chain = {setup.seed(Purpose::metropolis_choice), settings.precision == "single",
                   settings.order == "random"};
  options.engine = engine_named(settings.engine);
  if (auto* own = std::get_if<CheckerboardOptions>(&options.engine)) *own = settings.checkerboard;
  options.equilibration = settings.equilibration;
  options.tune = settings.tune;
  options.volume = settings.volume;
  options.exchange = settings.exchange;
  options.recompute = settings.recompute;
  try {
    // Validation needs no GPU, and finds what the engine cannot do and cores that overlap.
    sampler_ = std::make_unique<Sampler>(setup.validating() ? Device::cpu() : setup.device(),
                                         *prepared, options);
  } catch (const OverlapError& e) {
    setup.error(settings.files ? "files" : "start", e.what());
    return;
  } catch (const UserError& e) {
    setup.error("engine", e.what());
    return;
  }
  shares_domains_ = settings.engine == "checkerboard" &&
                    active_processes(setup.device(), sampler_->system().molecules()) > 1;
  energy_sum_.resize(prepared->kT.size());
  energy_sum2_.resize(prepared->kT.size());
}

void MetropolisStage::check(Setup& setup) const {
  const MetropolisSettings& s = settings_;
  const bool checkerboard = s.engine == "checkerboard";
  if (checkerboard && s.order == "random")
    setup.error("order", "must be sequential with the engine checkerboard, got random");
  if (checkerboard && s.volume)
    setup.error("volume", "cannot be given with the engine checkerboard");
  if (checkerboard && (s.replicas > 1 || s.temperatures.size() > 1))
    setup.error("replicas", "must be 1 with the engine checkerboard");
  const CheckerboardOptions standard;
  if (!checkerboard && s.checkerboard.trials != standard.trials)
    setup.error("trials", fmt::format("is for the engine checkerboard, got {}", s.engine));
  if (!checkerboard && s.checkerboard.margin != standard.margin)
    setup.error("margin", fmt::format("is for the engine checkerboard, got {}", s.engine));
  if (s.volume && (s.replicas > 1 || s.temperatures.size() > 1))
    setup.error("volume", "cannot be given with replicas, which share the box");
  if (s.tune && s.equilibration == 0)
    setup.error("tune", "has no effect without equilibration, which is 0");
}

void MetropolisStage::make_files(Setup& setup, const Prepared& p) {
  const MetropolisSettings& s = settings_;
  const Units& units = p.units;
  std::map<std::filesystem::path, std::string> taken;
  const auto output = [&](const std::string& name, const std::string& key) {
    const auto path = setup.output_file(name, key);
    const auto [other, is_new] = taken.emplace(path, key);
    if (!is_new)
      setup.error(key, fmt::format("{} is also written by {}; every output needs a separate file",
                                   path.string(), other->second));
    return path;
  };
  const hsize_t n = p.kT.size();
  const io::Shape shape = n > 1 ? io::Shape{n} : io::Shape{};
  if (!s.file.empty()) {
    std::vector<io::ObservableColumn> columns{{"energy", shape, units.energy},
                                              {"acceptance", shape, ""},
                                              {"acceptance_since_start", shape, ""},
                                              {"translation", {}, units.length},
                                              {"rotation", {}, ""}};
    if (s.pressure) columns.push_back({"pressure", shape, units.pressure()});
    if (s.volume) columns.push_back({"volume", {}, units.volume()});
    if (s.exchange > 0) columns.push_back({"replica", shape, ""});
    columns.push_back({"energy_since_start", shape, units.energy});
    rows_ = std::make_unique<io::ObservableFile>(output(s.file, "file"), columns, setup,
                                                 counting_cycles(units));
  }
  if (s.trajectory)
    frames_ =
        std::make_unique<SitesFile>(output(s.trajectory->file, "trajectory.file"), setup, units);
  if (s.final_state) {
    final_ = {output(s.final_state->model, "final_state.model").string(),
              output(s.final_state->particles, "final_state.particles").string(),
              output(s.final_state->atoms, "final_state.atoms").string()};
    if (const std::string why = not_for_files(p.model, s.mixing, units); !why.empty())
      setup.error("final_state", why);
  }
  if (!s.rdf) return;
  const double half = std::min({p.model.box.x, p.model.box.y, p.model.box.z}) / 2;
  if (s.rdf->range > half)
    setup.error("rdf.range",
                fmt::format("must be at most half of the shortest edge ({:g}), got {:g}", half,
                            s.rdf->range));
  double range = s.rdf->range;
  if (range == 0) range = s.volume ? 0.9 * half : half;  // room for a box that shrinks
  if (s.rdf->range == 0 && s.engine == "checkerboard") {
    // All distances of a million atoms are too many.
    double cutoff = 0;
    for (const PairParameters& pair : p.model.pairs) cutoff = std::max(cutoff, pair.cutoff);
    if (cutoff > 0) range = std::min(range, 3 * cutoff);
  }
  int bins = s.rdf->bins.value_or(200);
  if (s.rdf->width) {
    const double width = *s.rdf->width, whole = std::floor(range / width * (1 + 1e-9));
    if (s.rdf->bins) setup.error("rdf.width", "cannot be given with bins");
    if (whole < 1 || whole > 100000) {
      setup.error("rdf.width",
                  fmt::format("must give 1 to 100000 bins up to {:g}, got {:g}", range, width));
      return;
    }
    bins = int(whole);
    range = bins * width;
  }
  rdf_ = rdf_row_ = Rdf(p.model, bins, range, s.rdf->own_molecule, s.rdf->divisor == "all");
  std::vector<io::ObservableColumn> columns{{"r", {hsize_t(bins)}, units.length}};
  for (const std::string& name : rdf_.names())
    columns.push_back({"g_" + name, {hsize_t(bins)}, ""});
  rdf_rows_ = std::make_unique<io::ObservableFile>(output(s.rdf->file, "rdf.file"), columns, setup,
                                                   counting_cycles(units));
  if (!s.rdf->csv.empty()) csv_ = output(s.rdf->csv, "rdf.csv");
}

// Resumed files are opened once state() has said how long they were.
void MetropolisStage::begin(Run&, bool resumed) {
  resumed_ = resumed;
  if (!resumed) open_files();
}

void MetropolisStage::open_files() {
  if (rows_) rows_->open(resumed_);
  if (rdf_rows_) rdf_rows_->open(resumed_);
  if (frames_) frames_->open(resumed_, sampler_->system());
}

void MetropolisStage::write_rdf() {
  if (!rdf_rows_ || rdf_row_.samples() == 0) return;
  std::vector<double> row;
  for (int k = 0; k < rdf_.bins(); ++k) row.push_back((k + 0.5) * rdf_.width());
  for (std::size_t pair = 0; pair < rdf_.names().size(); ++pair)
    for (const double g : rdf_row_.values(pair)) row.push_back(g);
  rdf_rows_->append(sampler_->cycle(), double(sampler_->cycle()), std::move(row));
  rdf_row_.clear();
}

void MetropolisStage::write_csv() const {
  if (csv_.empty()) return;
  io::NewFile place(csv_.string());
  io::TextFile file(place.aside());
  std::string line = "r";
  for (const std::string& name : rdf_.names()) line += ",g_" + name;
  file.put(line + "\n");
  std::vector<std::vector<double>> g;
  for (std::size_t pair = 0; pair < rdf_.names().size(); ++pair) g.push_back(rdf_.values(pair));
  for (int k = 0; k < rdf_.bins(); ++k) {
    line = fmt::format("{:.8g}", (k + 0.5) * rdf_.width());
    for (const auto& values : g) line += fmt::format(",{:.8g}", values[std::size_t(k)]);
    file.put(line + "\n");
  }
  file.close();
  place.put_in_place(overwrite_ || resumed_);
}

void MetropolisStage::write_final_state() {
  if (final_.model.empty()) return;
  sampler_->update_system();
  const System& system = sampler_->system();
  write_files(final_, system,
              {system.temperatures()[0], cycles_, sampler_->sizes(),
               settings_.final_state->origin == "centre"},
              overwrite_ || resumed_);
}

/// What is due after this cycle.
void MetropolisStage::observe(Run& run, bool end) {
  const std::int64_t cycle = sampler_->cycle();
  const bool measuring = cycle >= settings_.equilibration;
  if (cycle % stride() == 0 || end) {
    const auto energy = sampler_->energies();
    std::vector<double> row = energy;
    for (const double a : sampler_->acceptance()) row.push_back(a);
    for (const double a : sampler_->acceptance_since_start()) row.push_back(a);
    row.push_back(sampler_->sizes().translation);
    row.push_back(sampler_->sizes().rotation);
    if (settings_.pressure)
      for (const Sampler::State& s : sampler_->states()) row.push_back(s.pressure);
    if (settings_.volume) row.push_back(sampler_->system().model().volume());
    if (settings_.exchange > 0)
      for (const std::uint32_t r : sampler_->replica_of()) row.push_back(double(r));
    auto mean = sampler_->step_mean().energy;
    mean.resize(energy.size(), std::numeric_limits<double>::quiet_NaN());
    row.insert(row.end(), mean.begin(), mean.end());
    if (rows_) rows_->append(cycle, double(cycle), std::move(row));
    if (measuring && cycle > settings_.equilibration && cycle % stride() == 0) {
      for (std::size_t k = 0; k < energy.size(); ++k) {
        energy_sum_[k] += energy[k];
        energy_sum2_[k] += energy[k] * energy[k];
      }
      ++energy_rows_;
    }
  }
  if (settings_.rdf && measuring) {
    const RdfSettings& r = *settings_.rdf;
    if (cycle > settings_.equilibration && cycle % r.interval == 0) {
      sampler_->update_system();
      const Rdf::Sample sample = rdf_.sample(sampler_->system());
      rdf_.add(sample);
      rdf_row_.add(sample);
      if (rdf_.reach() < rdf_.bins() && !warned_of_range_) {
        warned_of_range_ = true;
        run.print(
            fmt::format("warning: cycle {}: rdf.range ({:.6g}) is more than half of an edge of the "
                        "box; distributions end at {:.6g} and are NaN beyond",
                        cycle, rdf_.bins() * rdf_.width(), rdf_.reach() * rdf_.width()));
      }
    }
    if (end || (r.rows > 0 && (cycle - settings_.equilibration) % r.rows == 0)) write_rdf();
  }
  if (frames_ && cycle % settings_.trajectory->interval == 0) {
    sampler_->update_system();
    frames_->append(cycle, sampler_->system());
  }
}

void MetropolisStage::begin_averages_anew(Run& run) {
  write_rdf();
  rdf_.clear();
  rdf_row_.clear();
  energy_sum_.assign(energy_sum_.size(), 0);
  energy_sum2_.assign(energy_sum2_.size(), 0);
  energy_rows_ = 0;
  sampler_->clear_step_mean();
  run.print(
      fmt::format("averages are reset at cycle {}, since the settings of the resumed run differ",
                  sampler_->cycle()));
  other_averages_ = false;
}

/// Cycles to the next at which something is to be written, counted or changed.
std::int64_t MetropolisStage::to_next_look() const {
  const std::int64_t cycle = sampler_->cycle(), equilibration = settings_.equilibration;
  std::int64_t n = total() - cycle;
  const auto limit = [&](std::int64_t interval, std::int64_t from = 0) {
    if (interval > 0) n = std::min(n, interval - (cycle - from) % interval);
  };
  limit(stride());
  if (cycle < equilibration) n = std::min(n, equilibration - cycle);
  if (settings_.rdf && cycle >= equilibration) {
    limit(settings_.rdf->interval);
    limit(settings_.rdf->rows, equilibration);
  }
  if (settings_.trajectory) limit(settings_.trajectory->interval);
  return n;
}

bool MetropolisStage::run(Run& run) {
  const auto begin = std::chrono::steady_clock::now();
  began_at_ = sampler_->cycle();
  open_files();
  if (other_averages_) begin_averages_anew(run);
  run.start_progress("cycles", sampler_->cycle(), total());
  if (sampler_->cycle() == 0) observe(run, false);
  Chunk chunk;
  while (sampler_->cycle() < total()) {
    if (run.stop_requested()) {
      run.progress(sampler_->cycle());
      return false;
    }
    chunk.run(std::min(chunk.steps(), to_next_look()),
              [&](std::int64_t n) { return sampler_->advance(n); });
    observe(run, sampler_->cycle() == total());
    run.observe();
    run.progress(sampler_->cycle());
  }
  run.finish_progress(sampler_->cycle());
  write_csv();
  write_final_state();
  if (rows_) rows_->flush();
  if (rdf_rows_) rdf_rows_->flush();
  if (frames_) frames_->flush();
  seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  report(run);
  return true;
}

/// What the thesis prints at the end (its listing 3.4): acceptance (3.9), energy of an atom as the
/// mean over every trial move (3.10), energy, seconds, milliseconds of a cycle.
void MetropolisStage::report_thesis(Run& run) {
  const std::string unit = energy_unit_.empty() ? "" : " " + energy_unit_;
  const auto acceptance = sampler_->acceptance_since_start(), energy = sampler_->energies();
  const Sampler::StepMean mean = sampler_->step_mean();
  const std::size_t n = energy.size();
  for (std::size_t k = 0; k < n && k < 16; ++k) {
    const std::string of = n > 1 ? fmt::format("k_B T {:<10.6g} ", sampler_->kT(k)) : "";
    run.print(fmt::format("{}A = {:.6g} %", of, 100 * acceptance[k]));
    if (!mean.energy.empty())
      run.print(fmt::format("{}E_avg = {:.6g}{} per site, mean over every trial move{}", of,
                            mean.energy[k] / double(sampler_->system().sites()), unit,
                            mean.from > 0 ? fmt::format(" from cycle {} on", mean.from) : ""));
    run.print(fmt::format("{}E = {:.6g}{}", of, energy[k], unit));
  }
  const std::int64_t cycles = sampler_->cycle() - began_at_;
  run.print(fmt::format("t = {:.6g} s{}", seconds_,
                        began_at_ > 0 ? fmt::format(", from cycle {} on", began_at_) : ""));
  if (cycles > 0) run.print(fmt::format("t_mc_avg = {:.6g} ms", 1000 * seconds_ / double(cycles)));
}

void MetropolisStage::report(Run& run) {
  const double sites = double(sampler_->system().sites());
  const std::string unit = energy_unit_.empty() ? "" : " " + energy_unit_;
  for (std::size_t k = 0; energy_rows_ > 0 && k < energy_sum_.size() && k < 16; ++k) {
    const double n = double(energy_rows_), mean = energy_sum_[k] / n;
    const double spread = std::sqrt(std::max(0.0, energy_sum2_[k] / n - mean * mean));
    run.print(fmt::format("k_B T {:<10.6g} energy per site {:.6g}{}, spread {:.3g}, {} rows",
                          sampler_->kT(k), mean / sites, unit, spread / sites, energy_rows_));
  }
  run.print(fmt::format("moves: within ±{:.4g}, {:.4g} rad; drift of the energy at most {:.3g}{}",
                        sampler_->sizes().translation, sampler_->sizes().rotation,
                        sampler_->drift(), unit));
  if (settings_.volume)
    run.print(fmt::format("volume moves accepted: {:.3g}", sampler_->volume_acceptance()));
  if (settings_.exchange > 0)
    run.print(fmt::format("exchanges accepted: {:.3g}", sampler_->exchange_acceptance()));
  report_thesis(run);
}

void MetropolisStage::state(Archive& archive) {
  {
    const Archive::Scope scope(archive, "sampler");
    sampler_->state(archive);
  }
  const std::int64_t cycle = sampler_->cycle();
  std::string start = settings_.start;
  if (!settings_.files && changed_since(archive, "start", settings_.start, &start))
    throw UserError(
        fmt::format("start: the Markov chain of the checkpoint started from {}; a resumed run "
                    "cannot start from {}",
                    start, settings_.start));
  std::int64_t before = 0;
  if (changed_since(archive, "equilibration", settings_.equilibration, &before) &&
      cycle > std::min(before, settings_.equilibration))
    throw UserError(
        fmt::format("equilibration: cannot change from {} to {} at cycle {}, since step sizes and "
                    "averages depend on it",
                    before, settings_.equilibration, cycle));
  if (cycle > total())
    throw UserError(
        fmt::format("cycles: the checkpoint is at cycle {}, beyond equilibration and cycles ({})",
                    cycle, total()));
  const std::size_t temperatures = energy_sum_.size();
  archive("energy_sum", energy_sum_);
  archive("energy_sum2", energy_sum2_);
  for (const auto* sums : {&energy_sum_, &energy_sum2_})
    archive.require(sums->size() == temperatures, "energy_sum", "a number for every temperature");
  archive("energy_rows", energy_rows_);
  archive.require(energy_rows_ >= 0, "energy_rows", "at least 0");
  const auto part = [&](const char* name, auto& object) {
    const Archive::Scope scope(archive, name);
    return object.state(archive);
  };
  other_averages_ = sampler_->other_ensemble();
  if (settings_.rdf) {
    other_averages_ = part("rdf", rdf_) || other_averages_;
    part("rdf_row", rdf_row_);
    part("rdf_file", *rdf_rows_);
  }
  if (rows_) part("file", *rows_);
  if (frames_) part("trajectory", *frames_);
}

namespace {

/// The settings with an example for help, which is of no use to who includes them.
struct WithExample : MetropolisSettings {};
void describe(Fields& d, WithExample& s) {
  describe(d, static_cast<MetropolisSettings&>(s));
  d.example(
      "{\"cycles\": 1000, \"temperature\": 1.2, \"box\": [8, 8, 8], \"cutoff\": 2.5, "
      "\"translation\": 0.2, \"molecules\": {\"atom\": {\"number\": 200, \"sites\": "
      "[{\"type\": \"A\", \"at\": [0, 0, 0]}]}}, "
      "\"pairs\": [{\"types\": [\"A\", \"A\"], \"epsilon\": 1, \"sigma\": 1}]}");
}

}  // namespace

void register_components(Registry& registry) {
  registry.add<Stage, WithExample>(
      "metropolis", "Metropolis Monte Carlo of atoms and rigid molecules; needs no system",
      [](const MetropolisSettings& s, Setup& setup) {
        return std::make_unique<MetropolisStage>(s, setup);
      });
}

}  // namespace perrin::metropolis
