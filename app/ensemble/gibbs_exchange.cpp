#include "app/ensemble/gibbs_exchange.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <mutex>
#include <thread>

#include "engine/base/error.h"
#include "engine/components/integrator.h"
#include "engine/dynamics/simulation.h"
#include "engine/settings/json_file.h"
#include "rng/keyed.h"

namespace perrin {
namespace {

constexpr double largest_step = 2;            // of ln(V1/V2)
constexpr std::int64_t between_tunings = 20;  // trials

double uniform_of(Philox& random) { return (double(random.next()) + 0.5) * 0x1p-32; }

std::uint32_t drawn_below(std::uint32_t n, std::uint32_t word) {
  return std::uint32_t((std::uint64_t(n) * word) >> 32);
}

GibbsBox& box_of(Simulation& s) {
  auto* const stage = dynamic_cast<GibbsStage*>(s.bath());
  if (stage == nullptr)
    throw UserError("the stage cannot exchange particles: expected \"monte_carlo\"");
  if (const std::string why = stage->gibbs_objection(); !why.empty())
    throw UserError("the stage cannot exchange particles: it " + why);
  return *stage->gibbs_box();
}

std::string accepted_part(std::int64_t accepted, std::int64_t tried) {
  return tried > 0 ? fmt::format("{:.6g}", double(accepted) / double(tried)) : "nan";
}

}  // namespace

/// Open as long as it lives.
struct GibbsExchange::Boxes {
  std::array<GibbsBox*, 2> box;
  double kt;
  std::vector<std::size_t> of_type;  // [place in GibbsBox::types()]: place in types_

  Boxes(Simulation& first, Simulation& second, const std::vector<std::string>& types)
      : box{&box_of(first), &box_of(second)}, kt(kt_of(first)) {
    box[0]->open(first), box[1]->open(second);
    for (const std::uint32_t type : box[0]->types())
      of_type.push_back(std::size_t(
          std::ranges::find(types, first.particles().properties().types[type]) - types.begin()));
  }
};

GibbsExchange::GibbsExchange(const Variations& variations, Communicator& all, int threads)
    : Exchange(*variations.settings().exchange),
      settings_(*variations.settings().exchange),
      seed_(variations.seed()),
      all_(all),
      threads_(threads),
      pairs_(std::size_t(variations.count() / 2)) {
  for (std::int64_t k = 0; k < variations.count(); ++k) {
    names_.push_back(variations.name(k));
    const JsonFile job = variations.job(k);
    const auto room = job.value().find("reservoir");
    if (room == job.value().end() || !room->is_object()) continue;
    for (const auto& [type, count] : room->items())
      if (std::ranges::find(types_, type) == types_.end()) types_.push_back(type);
  }
  for (Pair& pair : pairs_) {
    pair.insertions.resize(2 * types_.size());
    pair.volume_step = settings_.volume ? settings_.volume->step : 0;
  }
}

/// Pairs are independent of one another: on as many threads as there are.
std::vector<Exchange::Failure> GibbsExchange::exchange(std::uint64_t step,
                                                       const std::vector<Run*>& systems) {
  std::vector<Failure> failures;
  std::vector<std::int64_t> mine;
  for (std::size_t k = 0; k + 1 < systems.size(); k += 2) {
    const bool first = takes_part(systems[k]), second = takes_part(systems[k + 1]);
    if (first && second) mine.push_back(std::int64_t(k / 2));
    if (first == second) continue;
    const std::size_t here = first ? k : k + 1, gone = first ? k + 1 : k;
    failures.push_back({std::int64_t(here),
                        fmt::format("system {}, with which it exchanges particles, has ended or "
                                    "is in another stage",
                                    names_[gone])});
  }
  std::mutex failing;
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t j; (j = next++) < mine.size();) {
      const std::size_t k = 2 * std::size_t(mine[j]);
      try {
        exchange_pair(step, mine[j], *systems[k], *systems[k + 1]);
      } catch (const std::exception& e) {
        const std::lock_guard lock(failing);
        for (const std::size_t system : {k, k + 1})
          failures.push_back({std::int64_t(system), e.what()});
      }
    }
  };
  {
    std::vector<std::jthread> others;
    for (std::size_t j = 1; j < std::min(mine.size(), std::size_t(threads_)); ++j)
      others.emplace_back(work);
    work();
  }
  last_step_ = step;
  gather(mine);
  std::ranges::sort(failures, {}, &Failure::system);
  return failures;
}

void GibbsExchange::exchange_pair(std::uint64_t step, std::int64_t k, Run& first, Run& second) {
  Simulation &a = first.simulation(), &b = second.simulation();
  const double kt = kt_of(a);
  if (!(kt > 0) || kt != kt_of(b))
    throw UserError(fmt::format("systems {} and {} exchange particles at different temperatures",
                                names_[2 * std::size_t(k)], names_[2 * std::size_t(k) + 1]));
  if (a.particles().properties().types != b.particles().properties().types ||
      first.forces_record() != second.forces_record())
    throw UserError(
        fmt::format("systems {} and {} exchange particles and differ in types or "
                    "forces",
                    names_[2 * std::size_t(k)], names_[2 * std::size_t(k) + 1]));
  Pair& pair = pairs_[std::size_t(k)];
  if (is_row(last_step_)) {
    pair.row_transfers = pair.row_volumes = {};
    std::ranges::fill(pair.insertions, Insertions{});
  }
  // An ensemble has one kind of exchange, and all decisions of a pair are one stream.
  auto random = keyed<Philox>(RunKey(Purpose::replica_exchange, seed_), step, std::uint32_t(k));
  const Boxes boxes(a, b, types_);
  const std::uint64_t number = step / every_;
  if (settings_.volume && number % std::uint64_t(settings_.volume->stride) == 0)
    change_volumes(pair, boxes, random), tune(step, pair);
  for (std::int64_t n = settings_.transfers.value_or(100); n > 0; --n)
    transfer(pair, boxes, random);
  for (GibbsBox* const box : boxes.box) box->close();
}

void GibbsExchange::transfer(Pair& pair, const Boxes& boxes, Philox& random) const {
  const std::size_t to = random.next() >> 31;
  GibbsBox &from_box = *boxes.box[1 - to], &to_box = *boxes.box[to];
  const std::vector<std::uint32_t>& types = from_box.types();
  const std::uint32_t place = drawn_below(std::uint32_t(types.size()), random.next());
  const std::uint32_t type = types[place], which = random.next();
  const Words4 where{random.next(), random.next(), random.next(), 0};
  Words4 turn{};
  if (from_box.has_bodies(type)) turn = {random.next(), random.next(), random.next(), 0};
  const double log_of_uniform = std::log(uniform_of(random));
  ++pair.transfers.tried, ++pair.row_transfers.tried;
  const std::int64_t there = from_box.count(type), here = to_box.count(type);
  if (there == 0 || to_box.room(type) == 0) return;
  const double coming = to_box.try_insertion(type, where, turn);
  const double space = to_box.volume() / double(here + 1);
  Insertions& insertions = pair.insertions[2 * boxes.of_type[place] + to];
  insertions.sum += space * std::exp(-coming / boxes.kt);
  ++insertions.count;
  const double going = from_box.try_removal(type, drawn_below(std::uint32_t(there), which));
  const double log_of_ratio =
      std::log(double(there) / from_box.volume() * space) - (coming + going) / boxes.kt;
  if (!(log_of_uniform < log_of_ratio)) return;
  ++pair.transfers.accepted, ++pair.row_transfers.accepted;
  to_box.insert(random, boxes.kt);
  from_box.remove();
}

void GibbsExchange::change_volumes(Pair& pair, const Boxes& boxes, Philox& random) const {
  GibbsBox &a = *boxes.box[0], &b = *boxes.box[1];
  const double v = a.volume(), w = b.volume(), both = v + w;
  const double ratio = std::log(v / w) + pair.volume_step * (2 * uniform_of(random) - 1);
  const double log_of_uniform = std::log(uniform_of(random));
  const double new_v = both / (1 + std::exp(-ratio)), new_w = both - new_v;
  ++pair.volumes.tried, ++pair.row_volumes.tried, ++pair.tuned.tried;
  if (a.is_too_small(new_v) || b.is_too_small(new_w)) {
    ++pair.too_small;
    return;
  }
  const double energy = a.try_volume(new_v) + b.try_volume(new_w);
  const double log_of_ratio = double(a.particles() + 1) * std::log(new_v / v) +
                              double(b.particles() + 1) * std::log(new_w / w) - energy / boxes.kt;
  if (!(log_of_uniform < log_of_ratio)) return;
  ++pair.volumes.accepted, ++pair.row_volumes.accepted, ++pair.tuned.accepted;
  a.take_volume(), b.take_volume();
}

void GibbsExchange::tune(std::uint64_t step, Pair& pair) const {
  const auto& settings = settings_.volume->tune;
  if (!settings || step > std::uint64_t(settings->steps) || pair.tuned.tried < between_tunings)
    return;
  const double accepted = double(pair.tuned.accepted) / double(pair.tuned.tried);
  const double factor = std::clamp(accepted / settings->acceptance, 0.5, 1.5);
  pair.volume_step = std::min(pair.volume_step * factor, largest_step);
  pair.tuned = {};
}

/// What the processes have counted: afterwards all know all.
void GibbsExchange::gather(const std::vector<std::int64_t>& mine) {
  if (!all_.several()) return;
  Json counted = Json::array();
  for (const std::int64_t k : mine) counted.push_back({k, json_of(pairs_[std::size_t(k)])});
  for (const std::string& text : all_.all_gather(counted.dump()))
    for (const Json& one : Json::parse(text)) pairs_[one[0].get<std::size_t>()] = pair_of(one[1]);
}

bool GibbsExchange::is_row(std::uint64_t step) const {
  return step > 0 && step / every_ % std::uint64_t(settings_.rows_every.value_or(100)) == 0;
}

std::vector<std::string> GibbsExchange::columns() const {
  std::vector<std::string> columns;
  for (std::size_t k = 0; k < pairs_.size(); ++k) {
    const std::string &a = names_[2 * k], &b = names_[2 * k + 1];
    columns.push_back(fmt::format("transfers_{}_{}", a, b));
    columns.push_back(fmt::format("volume_{}_{}", a, b));
    columns.push_back(fmt::format("volume_step_{}_{}", a, b));
    for (const std::string& type : types_)
      for (const std::string& system : {a, b})
        columns.push_back(fmt::format("activity_{}_{}", type, system));
  }
  return columns;
}

std::vector<std::string> GibbsExchange::row() const {
  std::vector<std::string> row;
  if (!is_row(last_step_)) return row;
  for (const Pair& pair : pairs_) {
    row.push_back(accepted_part(pair.row_transfers.accepted, pair.row_transfers.tried));
    row.push_back(accepted_part(pair.row_volumes.accepted, pair.row_volumes.tried));
    row.push_back(fmt::format("{:.9g}", pair.volume_step));
    for (const Insertions& i : pair.insertions)
      row.push_back(i.sum > 0 ? fmt::format("{:.9g}", double(i.count) / i.sum) : "nan");
  }
  return row;
}

std::vector<std::string> GibbsExchange::summary() const {
  std::vector<std::string> lines;
  for (std::size_t k = 0; k < pairs_.size(); ++k) {
    const auto said = [](const Trials& trials, const char* what) {
      return fmt::format("{} of {} {} accepted ({:.4g})", trials.accepted, trials.tried, what,
                         double(trials.accepted) / double(std::max<std::int64_t>(trials.tried, 1)));
    };
    const Pair& pair = pairs_[k];
    std::string line = fmt::format("exchange  {} and {}: {}", names_[2 * k], names_[2 * k + 1],
                                   said(pair.transfers, "transfers"));
    if (settings_.volume)
      line += fmt::format(", {}, step {:.4g}", said(pair.volumes, "exchanges of volume"),
                          pair.volume_step);
    lines.push_back(line);
  }
  return lines;
}

std::vector<std::string> GibbsExchange::warnings() const {
  std::vector<std::string> lines;
  if (std::ranges::none_of(pairs_, [](const Pair& pair) {
        return pair.transfers.tried > 0 || pair.volumes.tried > 0;
      }))
    lines.push_back(
        fmt::format("ensemble.exchange: warning: no exchange was tried: they come in steps that "
                    "are multiples of \"every\", {}, and no stage came to one before its end",
                    settings_.every));
  for (std::size_t k = 0; k < pairs_.size(); ++k) {
    const Pair& pair = pairs_[k];
    const auto warn = [&](const std::string& what) {
      lines.push_back(fmt::format("ensemble.exchange: warning: systems {} and {}: {}",
                                  names_[2 * k], names_[2 * k + 1], what));
    };
    if (pair.too_small > 0)
      warn(
          fmt::format("{} of {} exchanges of volume were not made, since a box would have become "
                      "smaller than twice the range of the forces: its phase is cut off there; "
                      "take more particles, or a shorter cut-off",
                      pair.too_small, pair.volumes.tried));
    if (pair.transfers.tried > 0 && pair.transfers.accepted == 0)
      warn("no transfer was accepted: a phase is too dense for insertions");
    if (pair.volumes.tried > pair.too_small && pair.volumes.accepted == 0)
      warn("no exchange of volume was accepted: expected a smaller volume.step");
  }
  return lines;
}

Json GibbsExchange::json_of(const Pair& pair) const {
  const auto pairs = [](const Trials& t) { return Json::array({t.tried, t.accepted}); };
  Json insertions = Json::array();
  for (const Insertions& i : pair.insertions) insertions.push_back({i.sum, i.count});
  return {{"transfers", pairs(pair.transfers)},
          {"volumes", pairs(pair.volumes)},
          {"row_transfers", pairs(pair.row_transfers)},
          {"row_volumes", pairs(pair.row_volumes)},
          {"tuned", pairs(pair.tuned)},
          {"too_small", pair.too_small},
          {"volume_step", pair.volume_step},
          {"insertions", insertions}};
}

GibbsExchange::Pair GibbsExchange::pair_of(const Json& json) const {
  const auto trials = [&](const char* key) {
    const Trials t{json.at(key).at(0).get<std::int64_t>(), json.at(key).at(1).get<std::int64_t>()};
    if (t.accepted < 0 || t.tried < t.accepted) throw UserError(std::string(key) + " is no count");
    return t;
  };
  Pair pair{trials("transfers"),
            trials("volumes"),
            trials("row_transfers"),
            trials("row_volumes"),
            trials("tuned"),
            json.at("too_small").get<std::int64_t>(),
            json.at("volume_step").get<double>(),
            {}};
  for (const Json& one : json.at("insertions"))
    pair.insertions.push_back({one.at(0).get<double>(), one.at(1).get<std::int64_t>()});
  if (pair.insertions.size() != 2 * types_.size()) throw UserError("it is of other types");
  if (!(pair.volume_step >= 0) || !std::isfinite(pair.volume_step))
    throw UserError("volume_step is no step");
  return pair;
}

std::string GibbsExchange::state() const {
  Json pairs = Json::array();
  for (const Pair& pair : pairs_) pairs.push_back(json_of(pair));
  return Json{{"type", "gibbs"}, {"last_step", last_step_}, {"pairs", pairs}}.dump();
}

void GibbsExchange::restore(const std::string& text) {
  const Json state = Json::parse(text, nullptr, false);
  try {
    const Json& pairs = state.at("pairs");
    if (pairs.size() != pairs_.size()) throw UserError("it is of another number of systems");
    std::vector<Pair> restored;
    for (const Json& pair : pairs) restored.push_back(pair_of(pair));
    last_step_ = state.at("last_step").get<std::uint64_t>();
    pairs_ = std::move(restored);
  } catch (const std::exception& e) {
    throw UserError(fmt::format(
        "the record of the Gibbs ensemble in the checkpoints is damaged: {}", e.what()));
  }
}

}  // namespace perrin
