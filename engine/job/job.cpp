#include "engine/job/job.h"

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>

#include "engine/base/printable.h"
#include "engine/communicator/agreement.h"
#include "engine/domain/decomposition.h"
#include "engine/domain/processes.h"
#include "engine/dynamics/scheduled_changes.h"
#include "engine/dynamics/velocities.h"
#include "engine/formula/parse.h"
#include "engine/job/continued_job.h"
#include "engine/job/groups.h"
#include "engine/job/plugin_api.h"
#include "engine/job/start_check.h"
#include "engine/job/undefined_formula.h"
#include "engine/run/md_stage.h"
#include "engine/settings/output_path.h"
#include "engine/settings/settings_parse.h"
#include "engine/settings/settings_schema.h"
#include "engine/system/bond_checks.h"
#include "engine/system/bond_graph.h"
#include "engine/system/checks.h"
#include "engine/system/configuration_archive.h"
#include "neighbor/choices.h"

namespace perrin {

namespace fs = std::filesystem;
namespace {

/// Whether a group has particles of types that a force names: a list, or an object by them.
bool has_of_types(const Group& group, const Json& named, const Configuration& c) {
  if ((!named.is_array() && !named.is_object()) || named.empty()) return true;
  const auto by_type = group.count_by_type(c.type, c.types.size());
  for (const auto& [key, value] : named.items()) {
    const std::string type = named.is_object()   ? key
                             : value.is_string() ? value.get<std::string>()
                                                 : "";
    const auto at = std::ranges::find(c.types, type);
    if (at == c.types.end() || by_type[std::size_t(at - c.types.begin())] > 0) return true;
  }
  return false;
}

}  // namespace

Job::Job(const JsonFile& file, Registry& registry, PluginLoader& plugins, JobOptions options,
         Archive* restored)
    : file_(file),
      registry_(registry),
      plugins_(plugins),
      options_(std::move(options)),
      control_(std::make_unique<RunControl>()) {
  context_.report = [this](const std::string& path, const std::string& what) {
    report(path, what);
  };
  context_.warn = [this](const std::string& path, const std::string& what) { warn(path, what); };
  context_.job_directory = options_.job_directory;
  context_.output_directory = options_.output_directory;
  context_.validating = options_.validating;
  context_.resuming = restored != nullptr;
  context_.overwrite = options_.overwrite;
  context_.control = control_.get();
  if (!file_.value().is_object())
    throw UserError(
        fmt::format("{}: must be an object, got {}", file_.place(""), shown(file_.value())));

  name_inputs();
  load_plugins();
  parse();
  parse_units();
  choose_device();
  make_system(restored);
  if (context_.configuration || context_.no_system) make_components();
  if (start_) context_.configuration = &configuration_;
  start_.reset();
  check_places();
  problems_.throw_if_any();
  check_changes();
  if (context_.configuration) make_simulation(restored != nullptr);
  problems_.throw_if_any();
  describe_itself();
}

void Job::report(const std::string& path, const std::string& what) {
  if (problems_.admit(path, what)) problems_.add(file_.problem(path, what));
}

void Job::warn(const std::string& path, const std::string& what) {
  warnings_.push_back(file_.problem(path, "warning: " + what).text());
}

void Job::check_changes() {
  if (options_.continued_job.empty()) return;
  check_continued(Json::parse(options_.continued_job, nullptr, true, true), file_.value(),
                  Json::parse(record().job), options_.complete_stages, context_.report);
  problems_.throw_if_any();
}

bool Job::has_problem_under(const std::string& path) const {
  if (problems_.more() > 0) return true;  // where the others are is not kept
  return std::any_of(problems_.list().begin(), problems_.list().end(), [&](const Problem& p) {
    if (p.path.rfind(path, 0) != 0) return false;
    return p.path.size() == path.size() || p.path[path.size()] == '.' || p.path[path.size()] == '[';
  });
}

void Job::load_plugins() {
  const auto list = file_.value().find("plugins");
  if (list == file_.value().end() || !list->is_array()) return;  // parse() says what is wrong
  for (std::size_t i = 0; i < list->size(); ++i) {
    if (!(*list)[i].is_string()) continue;
    const auto name = (*list)[i].get<std::string>();
    const std::string place = join_path("plugins", i);
    // Which code runs is the job's choice, where it is not that of the search folders.
    const auto say = [&](const fs::path& plugin) {
      control_->add_input(plugin, place);
      if (!options_.quiet && PluginLoader::is_path(name))
        fmt::print(
            stderr, "{}\n",
            file_
                .problem(
                    place,
                    fmt::format("note: loading the plug-in {}; its code runs with your permissions",
                                plugin.string()))
                .text());
    };
    try {
      plugins_.load(name, options_.job_directory, say);
    } catch (const UserError& e) {
      report(place, e.what());
    }
  }
}

void Job::parse() {
  SettingsParser parser(registry_, context_.report, [this](const auto& path, const auto& what) {
    warnings_.push_back(file_.problem(path, "note: " + what).text());
  });
  parser.compute_with(formula::value_of_numbers);
  parser.parse(file_.value(), "", settings_);
  parser.generate(!problems_.empty());  // other mistakes need no compiler
  providers_ = parser.providers();
  planar_ = parser.planar();
  if (settings_.ensemble)
    report("ensemble",
           "is of several systems, and this is to be one: perrin run and perrin "
           "validate take such a job apart");
  // Bonds that are ignored leave no pair out, either.
  if (ignores("bonds")) std::erase(settings_.neighbors.exclusions, "bonds");
  context_.exclusions = settings_.neighbors.exclusions;
  if (settings_.stages.empty() && !has_problem_under("stages") && file_.value().contains("stages"))
    report("stages", "must have at least one stage");
  name_stages();
  // A type may be unknown because its plug-in was refused: say so beside it.
  const bool unknown = std::any_of(
      problems_.list().begin(), problems_.list().end(),
      [](const Problem& p) { return p.what.rfind("unknown", 0) == 0 && p.path.ends_with("type"); });
  if (unknown)
    for (const auto& refused : plugins_.refused())
      problems_.add({"", std::numeric_limits<int>::max(), refused.path.string(), refused.text()});
}

void Job::name_stages() {
  for (const auto& part : settings_.stages) {
    if (!part) return;  // what it is called is not known
    parts_.stage_names.push_back(record_component(part).value("name", part.row->type));
    parts_.stage_types.push_back(part.row->type);
  }
  for (const auto& observer : settings_.observers) {
    auto& called = parts_.observer_stages.emplace_back();
    if (!observer) continue;
    const auto names = record_component(observer)["stages"].get<std::vector<std::string>>();
    if (!names.empty()) called = stages_named(names, join_path(observer.path, "stages"));
  }
}

std::vector<bool> Job::stages_named(const std::vector<std::string>& names,
                                    const std::string& path) {
  const std::size_t stages = parts_.stage_names.size();
  std::vector<std::string> known;
  for (std::size_t s = 0; s < stages; ++s)
    for (const auto& name : {parts_.stage_names[s], settings_.stages[s].row->type})
      if (std::find(known.begin(), known.end(), name) == known.end()) known.push_back(name);
  std::vector<bool> named(settings_.stages.size(), names.empty());
  for (std::size_t k = 0; k < names.size(); ++k) {
    for (std::size_t s = 0; s < stages; ++s)
      if (names[k] == parts_.stage_names[s] || names[k] == settings_.stages[s].row->type)
        named[s] = true;
    if (std::find(known.begin(), known.end(), names[k]) == known.end())
      report(join_path(path, k), fmt::format("no stage has the name or the type \"{}\"; {}",
                                             names[k], suggest(names[k], known)));
  }
  return named;
}

void Job::parse_units() {
  const Json& units = settings_.units;
  if (units.is_string() && units.get<std::string>() == "lj") return;
  if (!units.is_object())
    return report("units", fmt::format("must be \"lj\" or an object with length, energy and mass, "
                                       "got {}",
                                       shown(units)));
  UnitNames names;
  SettingsParser(registry_, context_.report).parse(units, "units", names);
  if (!has_problem_under("units")) context_.units = make_units(names);
}

void Job::choose_device() {
  // Seeds stay below 2^53, so that every reader of the record gets them back exactly.
  if (!settings_.seed) {
    std::random_device entropy;
    const std::uint64_t drawn = ((std::uint64_t(entropy()) << 32) | entropy()) >> 11;
    settings_.seed = std::uint64_t(agreed(std::int64_t(drawn)));
  }
  context_.seed = *settings_.seed;
  const bool from_command_line = !options_.device.empty();
  try {
    const std::string& name = from_command_line ? options_.device : settings_.device;
    if (options_.validating) check_device_name(name);
    // Validating needs no GPU.
    const Device device = options_.validating ? Device::cpu(options_.threads)
                          : options_.given_device
                              ? *options_.given_device
                              : Device::parse(device_of_process(name), options_.threads);
    DeviceRole role = device.role();  // it may be one of a batch
    role.least_share = settings_.processes.particles;
    context_.device = device.with(std::move(role));
  } catch (const UserError& e) {
    if (from_command_line)
      problems_.add({"--device", 0, "", e.what()});
    else
      report("device", e.what());
  }
  if (!problems_.empty()) {  // as it was given: components look for groups that are wrong
    JobRecord given;
    given.job = file_.value().dump();
    context_.record = std::make_shared<const JobRecord>(std::move(given));
    return;
  }
  Json job = perrin::record(settings_);
  if (settings_.schema.empty()) job.erase("$schema");
  job["seed"] = *settings_.seed;
  // What is left of an axis that is not there must not be read as a setting again.
  for (const auto& path : planar_)
    if (Json* const list = at_path(job, path); list && list->is_array() && list->size() == 3)
      list->erase(2);
  std::string plugins;
  for (const auto& p : plugins_.loaded())
    if (providers_.count(p.name))
      plugins += fmt::format("{}{} {}", plugins.empty() ? "" : ", ", p.name, p.version);
  context_.record = std::make_shared<const JobRecord>(
      JobRecord{job.dump(2), *settings_.seed, fmt::format("{} ({})", engine_version(), build_tag()),
                description_of_devices(context_.device), plugins, settings_.author,
                settings_.system ? parts_.stage_names : std::vector<std::string>{}});
}

template <class Component>
std::unique_ptr<Component> Job::make(const Part<Component>& part) {
  if (!part || has_problem_under(part.path)) return nullptr;
  Setup setup(context_, part.path);
  const std::size_t before = problems_.list().size();
  try {
    std::unique_ptr<Component> component(
        static_cast<Component*>(part.row->make(part.settings.get(), setup)));
    PERRIN_ASSERT(component || problems_.list().size() > before);
    return component;
  } catch (const UserError& e) {
    report(part.path, e.what());
    return nullptr;
  }
}

template <class Component>
std::vector<std::unique_ptr<Component>> Job::make_all(const std::vector<Part<Component>>& parts) {
  std::vector<std::unique_ptr<Component>> list;
  for (const auto& part : parts) list.push_back(make(part));
  return list;
}

void Job::refuse_planar(const char* why) {
  for (const auto& path : planar_)
    report(path, fmt::format("must be a list of 3 entries: {}", why));
}

/// The files that the system is from, or what else may have particles in arrangements of its own;
/// empty: nothing.
static std::string origin(const Json& system) {
  if (!system.is_object()) return "";
  if (system.contains("path") && system["path"].is_string())
    return system["path"].get<std::string>();
  if (system.contains("system")) return origin(system["system"]);  // of a part
  if (system.value("type", Json()) != "parts") return "";
  std::string files;
  for (const Json& part : system.value("parts", Json::array()))
    if (const std::string file = origin(part);
        !file.empty() && files.find(file) == std::string::npos)
      files += (files.empty() ? "" : ", ") + file;
  return files.empty() ? "the system \"parts\"" : files;
}

static std::ptrdiff_t within_bodies(const Topology& t) {
  return std::ranges::count_if(t.body, [](auto center) { return center != Topology::no_body; });
}

/// Of a file, for a job without "bodies"; says so, or nothing.
static std::string leave_out_bodies(Topology& t) {
  const auto within = within_bodies(t);
  t.body.clear();
  if (within == 0) return {};
  return fmt::format(
      "the rigid bodies of {} particles (particles/body) are left out: the job has no \"bodies\"",
      within);
}

void Job::make_system(Archive* restored) {
  const auto mistake = [this](const std::string& path, const std::string& what) {
    report(path, what);
  };
  if (!file_.value().contains("system")) {
    context_.no_system = true;
    return refuse_planar("this stage has three dimensions");
  }
  std::string silent;  // what does not say which of its particles are in bodies
  if (restored) {
    archive_configuration(*restored, configuration_);
    look_at_start(*restored);
  } else {
    const auto source = make(settings_.system);
    if (!source) return;
    try {
      configuration_ = source->make();
      if (has_absent(configuration_))
        throw UserError("a type's name ends in \"" + std::string(absent_ending) +
                        "\": rename it, particles of such types are not there");
      if (!settings_.reservoir.empty() &&
          (!configuration_.orientation.empty() || within_bodies(configuration_.topology) > 0))
        return report(
            "reservoir",
            "cannot be combined with a file that has orientations or rigid bodies: expected "
            "one that has single particles, or the centres of the job's \"bodies\"");
      if (check_parts(configuration_).empty())
        add_reservoir(settings_.reservoir, context_.seed, configuration_);
      if (check_parts(configuration_).empty())
        complete_molecules(configuration_.topology, configuration_.position.size());
    } catch (const UserError& e) {
      return report("system", e.what());
    }
    for (const std::string& what : configuration_.warnings) warn("system", what);
    if (configuration_.topology.body.empty()) silent = origin(file_.value()["system"]);
    if (settings_.bodies.empty())
      if (const auto what = leave_out_bodies(configuration_.topology); !what.empty())
        warn("system", what);
    if (!settings_.bodies.empty() && check_parts(configuration_).empty())
      add_bodies(settings_.bodies, configuration_, mistake);
  }
  if (settings_.constraints && check_parts(configuration_).empty())
    add_constraints(*settings_.constraints, configuration_, mistake);
  auto wrong = check_parts(configuration_);
  if (wrong.empty()) wrong = check_configuration(configuration_);
  for (const auto& what : wrong) report("system", what);
  if (wrong.empty()) {
    resolve_attributes(settings_.attributes, configuration_, context_.seed, restored != nullptr,
                       mistake);
    const bool bodies = !settings_.bodies.empty();
    if (!restored && bodies) weigh_bodies(settings_.bodies, silent, configuration_, mistake);
    if (!restored && (bodies || settings_.orientations))
      resolve_orientations(settings_.orientations.value_or(OrientationSettings{}), configuration_,
                           context_.seed, mistake);
    if (!restored && bodies) place_sites(configuration_);
    if (!restored)
      take_away(settings_.reservoir, configuration_, [this](const auto& type, const auto& what) {
        report(join_path("reservoir", type), what);
      });
    if (!restored && settings_.constraints && !has_problem_under("constraints"))
      fit_to_constraints(*settings_.constraints, configuration_, mistake);
    resolve_groups(settings_.groups, configuration_, mistake, [this](const std::string& name) {
      return has_problem_under(join_path("groups", name));
    });
    for (const auto& what : check_configuration(configuration_)) report("attributes", what);
    resolve_bonds();
  }
  if (wrong.empty() && parts_.stage_names.size() == settings_.stages.size())
    attribute_rules_ = resolve_attribute_updates(
        settings_.attributes, configuration_,
        [this](const auto& names, const auto& path) { return stages_named(names, path); }, mistake);
  if (start_)
    start_->attributes = configuration_.attributes, start_->groups = configuration_.groups,
    start_->attribute_changes = configuration_.attribute_changes,
    start_->attribute_between = configuration_.attribute_between;
  if (configuration_.box.dimension == 3) refuse_planar("the system has three dimensions");
  if (!wrong.empty()) return;
  context_.configuration = start_ ? &*start_ : &configuration_;
  find_frozen_types();
}

/// Types all of whose particles are in groups of integrators "frozen" in every stage. Where one of
/// several integrators has a barostat, frozen particles come closer or go apart with the box, and
/// their energies count.
void Job::find_frozen_types() {
  const Configuration& c = *context_.configuration;
  std::vector<bool> frozen(c.types.size(), true);
  for (const auto& stage : settings_.stages) {
    std::vector<std::uint8_t> held(c.position.size(), 0);
    if (!stage) return;  // reported
    for (const Json& one : record_component(stage).value("integrators", Json::array())) {
      if (one.is_object() && one.contains("barostat") && !one.at("barostat").is_null()) return;
      if (!one.is_object() || one.value("type", "") != "frozen") continue;
      const auto group = std::ranges::find(c.groups, one.value("group", ""), &Group::name);
      if (group == c.groups.end()) continue;
      for (std::size_t id = 0; id < held.size(); ++id) held[id] |= group->members()[id];
    }
    const auto center = [&](std::size_t id) {  // sites go where their bodies go
      return c.topology.is_site(id) ? c.topology.body[id] : id;
    };
    for (std::size_t id = 0; id < held.size(); ++id)
      if (!held[center(id)]) frozen[c.type[id]] = false;
  }
  if (std::ranges::find(frozen, true) != frozen.end()) context_.frozen_types = std::move(frozen);
}

/// What components choose from the box, they chose from that of the start: a resumed run has them
/// made from the same. Particles are at the same places of it.
void Job::look_at_start(Archive& restored) {
  const Archive::Scope simulation(restored, "simulation"), particles(restored, "particles");
  if (!restored.has("given_box")) return;
  Box box = configuration_.box;
  archive_box(restored, "given_box", box);
  if (box == configuration_.box) return;
  start_ = configuration_;
  start_->box = box;
  for (Vec3<double>& r : start_->position) r = box.point(configuration_.box.fraction(r));
}

void Job::put_forces_on_groups() {
  const Configuration& c = *context_.configuration;
  for (std::size_t k = 0; k < forces_.size(); ++k) {
    if (!forces_[k]) continue;
    const std::string name = record_component(settings_.forces[k]).value("on", "all");
    Setup setup(context_, settings_.forces[k].path);
    const Group* const group = setup.group(name, "on");
    if (!group || name == "all") continue;
    const Json record = record_component(settings_.forces[k]);
    if (forces_[k]->traits().reads != ForceTraits::Reads::nothing)
      setup.error("on", fmt::format("{} acts between particles, and cannot act on a group alone",
                                    settings_.forces[k].type()));
    else if (record.contains("groups"))
      setup.error("on", fmt::format("{} acts on its \"groups\": leave this out",
                                    settings_.forces[k].type()));
    else if (!group->changes() && !has_of_types(*group, record.value("types", Json()), c))
      setup.error("on", fmt::format("the group \"{}\" has no particles of the \"types\" that the "
                                    "force acts on",
                                    name));
    else
      forces_[k]->act_on(context_.device, *group,
                         group->changes() ? std::vector<std::int64_t>{}
                                          : group->count_by_type(c.type, c.types.size()));
  }
}

void Job::make_components() {
  forces_ = make_all(settings_.forces);
  if (!context_.no_system) put_forces_on_groups(), count_tails();
  parts_.observers = make_all(settings_.observers);
  make_schedules();
  parts_.stages = make_all(settings_.stages);
  // A stopped run writes one all the same.
  if (control_->plans().empty() && !options_.default_checkpoint.empty()) {
    Setup setup(context_, "");
    setup.output_file(options_.default_checkpoint, "");
    setup.output_file(previous_checkpoint(options_.default_checkpoint), "");
  }
  check_use();
  if (context_.no_system) {
    const auto needs = [](const auto& s) { return s && s->needs_system(); };
    if (std::any_of(parts_.stages.begin(), parts_.stages.end(), needs))
      report("", "the key \"system\" is missing: a stage of this job moves particles");
    return;
  }
  check_velocities();
  check_heat_baths();
  check_ranges();
  check_topology();
  check_exclusions();
  check_boxes();
  check_objections();
  check_slow_forces();
  check_reservoir();
  check_dynamic_bonds();
  check_attribute_updates();
  check_strides();
  check_ramps();
  check_orientations();
  check_bodies();
  check_constraints();
  if (!context_.resuming)
    for (const auto& what : bond_warnings(configuration_)) warn("system", what);
}

bool Job::for_gpu() const {
  if (!options_.validating) return context_.device.is_cuda();
  const std::string& device = options_.device.empty() ? settings_.device : options_.device;
  const auto has = [&](Where where) {
    return std::ranges::count(traversal_names(where), settings_.neighbors.traversal) > 0;
  };
  return device.rfind("cuda", 0) == 0 || (device == "auto" && has(Where::gpu) && !has(Where::cpu));
}

void Job::make_simulation(bool resumed) {
  describe_system();
  if (options_.on_start) options_.on_start(configuration_);
  const Integrator* integrator = parts_.stages.front()->integrator();
  if (settings_.velocity && !resumed) {
    DegreesOfFreedom freedom(configuration_);
    freedom.count(forces_, integrator ? integrator->motion() : Motion{});
    draw_velocities(configuration_, settings_.velocity->temperature, context_.units.k_boltzmann,
                    context_.seed, freedom);
    draw_angular_momenta(configuration_,
                         context_.units.k_boltzmann * settings_.velocity->temperature,
                         context_.seed);
  }
  NeighborSettings neighbors = settings_.neighbors;
  neighbors.exclusions = exclusions_;
  neighbors.blocks = settings_.processes.grid;
  neighbors.exclusions_change = bond_rules_.has_value();
  if (neighbors.blocks && !for_gpu())
    warn("processes.grid", "has no effect on the CPU, where processes divide the box into slabs");
  if (for_gpu() && !context_.device.is_cuda())
    neighbors.traversal = "standard", neighbors.lanes = 0;
  const std::size_t bond_types = configuration_.topology.bond_types.size();
  const std::uint64_t step = std::uint64_t(configuration_.step);
  const double time = configuration_.time;
  try {
    parts_.simulation = std::make_unique<Simulation>(
        context_.device, options_.on_start ? taken_start() : configuration_, std::move(forces_),
        context_.seed, neighbors);
#ifdef __GLIBC__
    malloc_trim(0);  // the start's memory, else, stays with the process
#endif
    parts_.simulation->set_k_boltzmann(context_.units.k_boltzmann);
    parts_.simulation->watch(context_.watched);
    if (parts_.simulation->constraints())
      parts_.simulation->constraints()->set_accuracy(settings_.constraints->tolerance,
                                                     settings_.constraints->iterations);
    if (bond_rules_)
      parts_.simulation->changes().set(
          std::make_unique<DynamicBonds>(*bond_rules_, context_.seed, bond_types));
    if (!attribute_rules_.empty())
      parts_.simulation->changes().set(std::make_unique<AttributeUpdates>(attribute_rules_));
    if (!resumed)  // else the checkpoint says so
      parts_.simulation->begin_at(step, time);
    decomposition_of(parts_.simulation->device())
        .watch_balance(settings_.processes.balance == "time");
    if (!resumed) check_forces_of_start();
  } catch (const UserError& e) {
    report("system", e.what());
  }
}

Configuration Job::taken_start() {
  std::vector<Group> groups = std::move(configuration_.groups);  // components point at them
  Configuration taken = std::move(configuration_);
  taken.groups = groups;
  configuration_ = {};
  configuration_.groups = std::move(groups);
  context_.configuration = nullptr;
  return taken;
}

void Job::check_forces_of_start() {
  const Stage& first = *parts_.stages.front();
  if (!first.needs_system()) return;
  const Integrator* integrator = first.integrator();
  // A minimiser is there to pull overlapping particles apart; whatever else is not. No steps move
  // nothing: energies and forces of a configuration as it is.
  const bool moves = integrator != nullptr && integrator->recordable();
  const bool minimises = integrator != nullptr && !(integrator->timestep() > 0);
  const auto* const md = dynamic_cast<const MdStage*>(&first);
  const bool still = md != nullptr && md->steps() == 0;
  const auto wrong =
      check_start(*parts_.simulation, moves && !still ? integrator->timestep() : 0, minimises);
  if (!wrong) return;
  const auto& force = settings_.forces.at(wrong->force);
  const std::string formula =
      wrong->finite
          ? std::string()
          : undefined_formula(force.type(), record_component(force),
                              parts_.simulation->particles().configuration(), wrong->particle);
  report(force.path, fmt::format("{}: {}{}", force.type(), wrong->what,
                                 formula.empty() ? wrong->advice : ": " + formula));
}

void Job::explain_undefined() {
  struct Force {
    std::string path, type;
    Json settings;
  };
  std::vector<Force> formulas;
  for (const auto& f : settings_.forces)
    if (f.type().ends_with("_formula")) formulas.push_back({f.path, f.type(), record_component(f)});
  if (formulas.empty()) return;
  parts_.undefined = [formulas](Simulation& simulation, std::optional<std::uint32_t> particle) {
    Configuration now = simulation.particles().configuration();
    now.time = simulation.time();
    for (const auto& f : formulas)
      if (const auto what = undefined_formula(f.type, f.settings, now, particle); !what.empty())
        return fmt::format("{} ({}): {}", f.path, f.type, what);
    return std::string();
  };
}

void Job::check_outputs() const {
  Problems problems;
  for (const auto& [file, component] : context_.outputs) {
    const std::string what =
        why_not_writable(file, existing_outputs(context_.resuming, context_.overwrite));
    if (!what.empty()) problems.add(file_.problem(component, what));
  }
  problems.throw_if_any();
}

/// A line of the summary.
static std::string summary_line(const char* what, const std::string& text) {
  return fmt::format("{:<10}{}\n", what, printable_line(text));
}

void Job::describe_system() {
  for (const Group& group : configuration_.groups)
    parts_.groups_every = std::gcd(parts_.groups_every, group.every());
  for (const auto& [name, formula] : configuration_.attribute_changes)
    attribute_record_ += name + formula;
  const auto line = [&](const char* what, const std::string& text) {
    system_summary_ += summary_line(what, text);
  };
  const Configuration& c = configuration_;
  std::string types;
  for (std::size_t t = 0; t < c.types.size(); ++t)
    types += fmt::format("{}{} {}", t ? ", " : "",
                         std::count(c.type.begin(), c.type.end(), std::uint32_t(t)), c.types[t]);
  std::string box = fmt::format("{:.6g} × {:.6g}", c.box.length.x, c.box.length.y);
  if (c.box.dimension == 3) box += fmt::format(" × {:.6g}", c.box.length.z);
  if (!c.box.orthogonal())
    box += fmt::format(" tilted by {:.6g}, {:.6g}, {:.6g}", c.box.xy, c.box.xz, c.box.yz);
  std::string walls;
  for (int axis = 0; axis < c.box.dimension; ++axis)
    if (!c.box.periodic[static_cast<std::size_t>(axis)]) walls += "xyz"[axis];
  if (!walls.empty()) box += ", not periodic along " + walls;
  line("system", fmt::format("{} particles ({}), box {}", c.position.size(), types, box));
  const Topology& t = c.topology;
  std::string bonded;
  for (const auto& [count, what] :
       {std::pair(t.bonds.size(), "bonds"), std::pair(t.angles.size(), "angles"),
        std::pair(t.dihedrals.size(), "dihedrals"), std::pair(t.impropers.size(), "impropers")})
    if (count > 0) bonded += fmt::format("{}{} {}", bonded.empty() ? "" : ", ", count, what);
  if (!bonded.empty()) line("", bonded);
  if (!excluded_.empty()) line("excluded", "pairs: " + excluded_);
}

void Job::describe_itself() {
  parts_.choose_groups = [settings = settings_.groups](Simulation& simulation) {
    Particles& particles = simulation.particles();
    choose_groups(settings, particles.configuration(), simulation.step(),
                  particles.change_properties().groups);
  };
  explain_undefined();
  parts_.output_directory = options_.output_directory;
  parts_.seed = context_.seed;
  for (const auto& f : settings_.forces) parts_.forces_record += record_component(f).dump();
  parts_.forces_record += attribute_record_;
  if (parts_.simulation)
    for (const auto& f : parts_.simulation->forces())
      parts_.forces_record += f->traits().fingerprint;
  parts_.quiet = options_.quiet;
  parts_.time_limit = options_.time_limit;
  if (!options_.default_checkpoint.empty())
    parts_.default_checkpoint = options_.output_directory / options_.default_checkpoint;
  const auto line = [&](const char* what, const std::string& text) {
    summary_ += summary_line(what, text);
  };
  if (!settings_.title.empty()) line("title", settings_.title);
  summary_ += system_summary_;
  std::string forces;
  for (const auto& f : settings_.forces) forces += (forces.empty() ? "" : ", ") + f.type();
  if (!forces.empty()) line("forces", forces);
  if (parts_.simulation)
    for (std::size_t k = 0; k < parts_.simulation->forces().size(); ++k)
      if (const auto& chosen = parts_.simulation->forces()[k]->traits().chosen; !chosen.empty())
        line("", fmt::format("{}: {}", settings_.forces[k].type(), chosen));
  std::string stages;
  for (const auto& name : parts_.stage_names) stages += (stages.empty() ? "" : ", ") + name;
  line("stages", stages);
  const Units& u = context_.units;
  if (!u.reduced())
    line("units", fmt::format("{}, {}, {}; time {}", u.length, u.energy, u.mass, u.time));
  line("device", context_.record->device);
  line("precision", PERRIN_PRECISION_NAME);
  line("seed", std::to_string(context_.seed));
  if (!context_.record->plugins.empty()) line("plug-ins", context_.record->plugins);
}

}  // namespace perrin
