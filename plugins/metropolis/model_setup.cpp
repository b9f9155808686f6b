#include "model_setup.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>

#include "input_files.h"
#include "mixing.h"
#include "start.h"

namespace perrin::metropolis {

namespace {

/// The settings with problems counted.
struct Checker {
  Setup& setup;
  int mistakes = 0;
  void error(const std::string& key, const std::string& what) {
    setup.error(key, what);
    ++mistakes;
  }
};

PairKind kind_of(const std::string& name) {
  const char* names[] = {"lennard_jones", "wca", "yukawa", "morse", "gaussian_core", "soft_dpd"};
  for (std::uint32_t k = 0; k < 6; ++k)
    if (name == names[k]) return PairKind(k);
  throw BugError("unknown potential " + name);
}

/// The parameters that the potential asks for, and no others.
PairParameters parameters(const PairsSettings& s, PairKind kind, const std::string& potential,
                          const std::string& path, Checker& check) {
  PairParameters p;
  p.kind = kind;
  struct Entry {
    const char* key;
    const std::optional<double>* value;
    double* to;
  };
  std::vector<Entry> wanted;
  switch (kind) {
    case PairKind::lennard_jones:
    case PairKind::wca:
      wanted = {{"sigma", &s.sigma, &p.a}, {"epsilon", &s.epsilon, &p.b}};
      break;
    case PairKind::yukawa:
      wanted = {{"amplitude", &s.amplitude, &p.a}, {"kappa", &s.kappa, &p.b}};
      break;
    case PairKind::morse:
      wanted = {{"depth", &s.depth, &p.a},
                {"steepness", &s.steepness, &p.b},
                {"distance", &s.distance, &p.c}};
      break;
    case PairKind::gaussian_core:
      wanted = {{"epsilon", &s.epsilon, &p.a}, {"sigma", &s.sigma, &p.b}};
      break;
    case PairKind::soft_dpd:
      wanted = {{"repulsion", &s.repulsion, &p.a}};
      break;
  }
  const Entry all[] = {{"sigma", &s.sigma, nullptr},         {"epsilon", &s.epsilon, nullptr},
                       {"amplitude", &s.amplitude, nullptr}, {"kappa", &s.kappa, nullptr},
                       {"depth", &s.depth, nullptr},         {"steepness", &s.steepness, nullptr},
                       {"distance", &s.distance, nullptr},   {"repulsion", &s.repulsion, nullptr}};
  for (const Entry& e : all) {
    const auto w = std::find_if(wanted.begin(), wanted.end(),
                                [&](const Entry& x) { return std::string(x.key) == e.key; });
    if (w != wanted.end() && !*e.value)
      check.error(path + e.key, "is missing: " + potential + " needs it");
    else if (w == wanted.end() && *e.value)
      check.error(path + e.key, "is not a parameter of " + potential);
    else if (w != wanted.end())
      *w->to = **e.value;
  }
  return p;
}

void make_types(const MetropolisSettings& s, Model& model) {
  std::set<std::string> names;
  for (const auto& [name, molecule] : s.molecules)
    for (const SiteSettings& site : molecule.sites) names.insert(site.type);
  model.types.assign(names.begin(), names.end());
}

std::uint32_t type_index(const Model& model, const std::string& name) {
  return std::uint32_t(std::find(model.types.begin(), model.types.end(), name) -
                       model.types.begin());
}

void make_pairs(const MetropolisSettings& s, Model& model, Checker& check) {
  const std::size_t n = model.types.size();
  std::vector<std::optional<PairParameters>> table(n * n);
  const PairKind kind = kind_of(s.potential);
  for (std::size_t k = 0; k < s.pairs.size(); ++k) {
    const PairsSettings& pair = s.pairs[k];
    const std::string path = fmt::format("pairs[{}].", k);
    PairParameters p = parameters(pair, kind, s.potential, path, check);
    p.cutoff = pair.cutoff ? *pair.cutoff : s.cutoff ? *s.cutoff : 0;
    p.core = pair.core ? *pair.core : 0;
    std::uint32_t type[2];
    bool known = true;
    for (std::size_t e = 0; e < 2; ++e) {
      type[e] = type_index(model, pair.types[e]);
      if (type[e] < n) continue;
      known = false;
      check.error(fmt::format("{}types[{}]", path, e),
                  fmt::format("no site has the type \"{}\"", pair.types[e]));
    }
    if (!known) continue;
    auto& entry = table[type[0] * n + type[1]];
    if (entry)
      check.error(path + "types",
                  fmt::format("the pair {}, {} is given twice", pair.types[0], pair.types[1]));
    entry = table[type[1] * n + type[0]] = p;
  }
  const bool can_mix =
      s.mixing != "none" && (kind == PairKind::lennard_jones || kind == PairKind::wca);
  for (std::size_t a = 0; a < n; ++a)
    for (std::size_t b = a; b < n; ++b) {
      auto& entry = table[a * n + b];
      if (!entry && a != b && can_mix && table[a * n + a] && table[b * n + b])
        entry = table[b * n + a] = mix(*table[a * n + a], *table[b * n + b], s.mixing);
      if (!entry)
        check.error("pairs",
                    fmt::format("the pair {}, {} is missing", model.types[a], model.types[b]));
    }
  if (check.mistakes > 0) return;
  for (const auto& entry : table) model.pairs.push_back(*entry);
}

void make_molecules(const MetropolisSettings& s, Model& model, Checker& check) {
  for (const auto& [name, m] : s.molecules) {
    MoleculeTemplate t{name, {}};
    if (m.sites.empty()) check.error("molecules." + name + ".sites", "must have at least one site");
    for (const SiteSettings& site : m.sites)
      t.sites.push_back({type_index(model, site.type), site.at});
    model.templates.push_back(t);
    if (m.number > 100'000'000)
      check.error("molecules." + name + ".number", "must be at most 100000000");
    else
      model.molecule.insert(model.molecule.end(), std::size_t(m.number),
                            std::uint32_t(model.templates.size() - 1));
  }
}

/// What a cut-off and the size of molecules ask of the box.
void check_box(const MetropolisSettings& s, const Model& model, Checker& check) {
  const double half = std::min({model.box.x, model.box.y, model.box.z}) / 2;
  const char* key = s.files ? "files" : "box";
  if (const double cutoff = model.longest_cutoff(); cutoff > half)
    check.error(
        "cutoff",
        fmt::format("must be at most half of the shortest edge ({:g}), got {:g}{}", half, cutoff,
                    s.potential == "wca" ? ", the range of wca: use a larger box" : ""));
  for (const PairParameters& p : model.pairs) {
    if (p.kind == PairKind::soft_dpd && p.cutoff == 0) {
      check.error("cutoff", "is missing: soft_dpd needs a range");
      break;
    }
  }
  // What the pipelined engine keeps in a multiprocessor's shared memory.
  constexpr std::size_t most_sites = 100, most_types = 32;
  if (model.types.size() > most_types)
    check.error(s.files ? "files" : "molecules",
                fmt::format("at most {} types of sites are possible, got {}", most_types,
                            model.types.size()));
  for (const MoleculeTemplate& t : model.templates)
    if (t.sites.size() > most_sites)
      check.error(
          s.files ? "files" : "molecules." + t.name + ".sites",
          fmt::format("a molecule must have at most {} sites, got {}", most_sites, t.sites.size()));
  for (const MoleculeTemplate& t : model.templates)
    for (const auto& site : t.sites)
      if (std::sqrt(dot(site.at, site.at)) >= half) {
        check.error(key, fmt::format("half of the shortest edge ({:g}) must exceed the distance of "
                                     "every site from the centre of {}",
                                     half, t.name));
        return;
      }
}

/// What the job says, or else the files.
struct Given {
  std::optional<std::int64_t> cycles;
  std::optional<double> translation, rotation;
};

void from_files(const MetropolisSettings& s, Setup& setup, Prepared& p, Given& given,
                Checker& check) {
  const struct {
    const char* key;
    bool given;
  } others[] = {
      {"molecules", !s.molecules.empty()}, {"pairs", !s.pairs.empty()}, {"box", s.box.has_value()}};
  for (const auto& o : others)
    if (o.given) check.error(o.key, "cannot be given together with files");
  if (s.potential != "lennard_jones")
    check.error("potential", "must be lennard_jones with files, got " + s.potential);
  const Units expected = make_units({"angstrom", "kJ/mol", "u"});
  if (!setup.units().reduced() &&
      (setup.units().length != expected.length || setup.units().energy != expected.energy))
    check.error("files", "are in Å and kJ/mol: the job's units must be these or absent");
  p.units = expected;
  InputFiles names;
  names.model = setup.input_file(s.files->model, "files.model").string();
  names.particles = setup.input_file(s.files->particles, "files.particles").string();
  names.atoms = setup.input_file(s.files->atoms, "files.atoms").string();
  for (const std::string& name : {names.model, names.particles, names.atoms})
    if (std::filesystem::is_directory(name) || !std::ifstream(name))
      ++check.mistakes;  // reported by input_file()
  if (check.mistakes > 0) return;
  try {
    FileModel f = read_files(names, s.mixing);
    p.model = std::move(f.model);
    p.start = std::move(f.start);
    if (!given.cycles) given.cycles = f.cycles;
    if (!given.translation) given.translation = f.translation;
    if (!given.rotation) given.rotation = f.rotation;
    p.kT = {f.temperature * expected.k_boltzmann};
    if (s.cutoff)
      for (PairParameters& pair : p.model.pairs) pair.cutoff = *s.cutoff;
  } catch (const UserError& e) {
    check.error("files", e.what());
  }
}

}  // namespace

std::optional<Prepared> prepare(const MetropolisSettings& s, Setup& setup) {
  Prepared p;
  Checker check{setup};
  p.units = setup.units();
  Given given{s.cycles, s.translation, s.rotation};
  if (s.files) {
    from_files(s, setup, p, given, check);
    if (p.model.molecule.empty()) return std::nullopt;  // reported
  } else {
    if (s.molecules.empty()) check.error("molecules", "is missing (or give files)");
    if (!s.box) check.error("box", "is missing");
    if (s.pairs.empty()) check.error("pairs", "is missing");
    if (!s.temperature && s.temperatures.empty()) check.error("temperature", "is missing");
    if (s.box) p.model.box = *s.box;
    make_types(s, p.model);
    make_molecules(s, p.model, check);
    if (check.mistakes == 0) make_pairs(s, p.model, check);
  }
  for (const std::size_t n : {p.model.types.size(), p.model.templates.size()})
    if (n > Position::type_count)
      check.error("molecules",
                  fmt::format("at most {} types of sites and of molecules are possible, got {}",
                              Position::type_count, n));
  const auto missing = [&](const char* key, const char* in_file) {
    check.error(key, s.files ? fmt::format("is missing, as is {} in {}", in_file, s.files->model)
                             : std::string("is missing"));
  };
  if (!given.cycles) missing("cycles", "n_mc_passes");
  if (!given.translation) missing("translation", "mcmove_tran");
  const bool turn = std::any_of(p.model.templates.begin(), p.model.templates.end(),
                                [](const MoleculeTemplate& t) { return t.sites.size() > 1; });
  if (turn && !given.rotation) missing("rotation", "mcmove_rot");
  p.cycles = given.cycles.value_or(0);
  p.sizes = {given.translation.value_or(0), given.rotation.value_or(0)};
  if (s.temperature) p.kT = {*s.temperature * p.units.k_boltzmann};
  if (!s.temperatures.empty()) {
    if (s.temperature) check.error("temperatures", "cannot be given together with temperature");
    if (s.replicas != 1 && std::size_t(s.replicas) != s.temperatures.size())
      check.error("temperatures", fmt::format("must be as many as replicas ({}), got {}",
                                              s.replicas, s.temperatures.size()));
    p.kT.clear();
    for (const double t : s.temperatures) p.kT.push_back(t * p.units.k_boltzmann);
  } else if (!p.kT.empty()) {
    p.kT.assign(std::size_t(s.replicas), p.kT.front());
  }
  if (s.exchange > 0 && p.kT.size() < 2) check.error("exchange", "needs at least two temperatures");
  if (s.tail &&
      !std::any_of(p.model.pairs.begin(), p.model.pairs.end(),
                   [](const PairParameters& q) { return q.cutoff > 0; }) &&
      check.mistakes == 0)
    check.error("tail", "needs a cut-off");
  p.model.tail = s.tail;
  if (check.mistakes == 0) check_box(s, p.model, check);
  if (check.mistakes > 0) return std::nullopt;
  p.model.kT = p.kT.front();
  if (!s.files) {
    try {
      const std::uint64_t seed = setup.seed(Purpose::metropolis_choice);
      p.start = s.start == "random" ? random_start(p.model, seed) : lattice_start(p.model, seed);
    } catch (const UserError& e) {
      setup.error("start", e.what());
      return std::nullopt;
    }
  }
  return p;
}

}  // namespace perrin::metropolis
