// schema, help, plugins, info.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <hdf5.h>

#include "app/commands.h"
#include "app/topics.h"
#include "engine/communicator/communicator.h"
#include "engine/domain/peers.h"
#include "engine/job/plugin_api.h"
#include "engine/settings/other_names.h"
#include "engine/settings/settings_schema.h"
#include "forces/charges/fft.h"

namespace perrin {
namespace {

constexpr const char* kinds[] = {component_kind<Source>,   "part",
                                 component_kind<Force>,    component_kind<Integrator>,
                                 component_kind<Observer>, component_kind<Stage>};

void print_rows(const Registry& registry, const char* kind) {
  for (const CatalogueRow* row : registry.rows(kind))
    fmt::print("  {:<22} {}{}\n", row->type, row->help,
               row->provider == "built-in" ? "" : " [plug-in " + row->provider + "]");
}

/// All that help_command() takes.
std::vector<std::string> words_of(const Registry& registry) {
  std::vector<std::string> words = topic_names();
  words.insert(words.end(), std::begin(kinds), std::end(kinds));
  words.push_back("job");
  words.push_back("potentials");
  for (const CatalogueRow* row : registry.rows()) {
    words.push_back(row->type);
    for (const Variant& v : row->variants) words.push_back(v.name);
  }
  return words;
}

void print_potentials(const Registry& registry) {
  for (const CatalogueRow* row : registry.rows()) {
    if (row->variants.empty()) continue;
    fmt::print("potentials of {}\n", row->type);
    for (const Variant& v : row->variants) fmt::print("  {:<22} {}\n", v.name, v.help);
  }
  fmt::print(
      "\nThe name stands in place of a formula: {{\"type\": \"pair_formula\", \"potential\": "
      "\"wang_frenkel\", …}}.\nperrin help NAME has formula, parameters, range and source.\n");
}

std::string heading(const std::string& kind) {
  if (kind == "system") return "system (initial configuration)";
  if (kind == "part") return "parts (of the system \"parts\")";
  return kind + "s";
}

}  // namespace

void schema_command() {
  Components components;
  components.registry.discover();
  fmt::print("{}\n", job_schema(components.registry).dump(2));
}

std::vector<std::string> help_words() {
  Components components;
  components.registry.discover();
  return words_of(components.registry);
}

void help_command(const std::string& type) {
  Components components;
  components.registry.discover();
  const Registry& registry = components.registry;
  if (type.empty()) {
    for (const char* kind : kinds) {
      fmt::print("{}\n", heading(kind));
      print_rows(registry, kind);
    }
    fmt::print(
        "\nperrin help TYPE explains a type, perrin help job the top level of a job file, "
        "perrin help groups one of its keys.\n"
        "perrin --help lists the commands, perrin help COMMAND explains one.\n"
        "Topics: perrin help {}.\n"
        "perrin help potentials lists the potentials that formulas have names for.\n"
        "perrin new-plugin creates a plug-in with a new type.\n",
        fmt::join(topic_names(), ", "));
    return;
  }
  if (const std::string text = topic_text(type); !text.empty()) return fmt::print("{}", text);
  for (const char* kind : kinds) {
    if (type != kind && type != std::string(kind) + "s") continue;
    fmt::print("{}\n", heading(kind));
    print_rows(registry, kind);
    if (type != "parts") return;
    fmt::print("\n");  // a type, too
  }
  JobSettings settings;
  Fields fields;
  describe(fields, settings);
  if (type == "job") {
    fmt::print("job: the top level of a job file\n{}", help_fields(fields));
    return;
  }
  if (type == "potentials") return print_potentials(registry);
  bool found = false;
  for (const CatalogueRow* row : registry.rows()) {
    for (const Variant& v : row->variants)
      if (v.name == type) return fmt::print("{}", help_text(v, *row));
    if (row->type != type) continue;
    if (found) fmt::print("\n");
    fmt::print("{}", help_text(*row, registry));
    found = true;
  }
  if (found) return;
  for (const Field& f : fields.list())
    if (f.key == type) return fmt::print("of the job's top level:\n{}", help_field(fields, f));
  std::string meant;
  if (const char* plugin = shipped_plugin(type))
    meant = not_built(plugin);
  else if (const char* meaning = other_name(type))
    meant = meaning;
  else
    meant = suggest(type, words_of(registry));
  for (const auto& refused : components.plugins.refused())
    meant += fmt::format("\n{}: {}", refused.path.string(), refused.text());
  throw UserError(fmt::format("unknown type \"{}\"; {}", type, meant));
}

void plugins_command() {
  Components components;
  components.registry.discover();
  fmt::print("searched\n");
  for (const auto& folder : plugin_folders()) fmt::print("  {}\n", folder.string());
  fmt::print("plug-ins\n");
  for (const auto& p : components.plugins.loaded()) {
    fmt::print("  {} {}  {}\n", p.name, p.version, p.path.string());
    for (const auto& row : p.brings) fmt::print("    {}\n", row);
  }
  if (components.plugins.loaded().empty()) fmt::print("  none\n");
  if (components.plugins.refused().empty()) return;
  fmt::print("refused\n");
  for (const auto& r : components.plugins.refused())
    fmt::print("  {}: {}\n", r.path.string(), r.reason);
}

void info_command() {
  fmt::print("Perrin {}\n", engine_version());
  fmt::print("  build       {}\n", build_tag());
  fmt::print("  precision   {}\n", PERRIN_PRECISION_NAME);
  fmt::print("  plug-ins    interface {}.{}\n", PERRIN_API_MAJOR, PERRIN_API_MINOR);
  unsigned major = 0, minor = 0, release = 0;
  H5get_libversion(&major, &minor, &release);
  fmt::print("  HDF5        {}.{}.{}\n", major, minor, release);
#ifdef PERRIN_CUDA
  fmt::print("  CUDA        {}.{}\n", CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
  fmt::print("  cuFFT       {}\n", Fft3::library_on_gpus());
#else
  fmt::print("  CUDA        not built in\n");
#endif
  fmt::print("  MPI         {}\n", mpi_in_build());
  fmt::print("  NCCL        not used: GPUs without peer access exchange data by MPI\n");
  const Communicator& world = Communicator::world();
  fmt::print("processes     {}{}\n", world.count(),
             world.several() ? fmt::format(", {} of them on this host", world.host_count()) : "");
  fmt::print("devices\n  cpu         {}\n", Device::cpu().description());
  for (int i = 0; i < cuda_device_count(); ++i) {
    const std::string reached = devices_reached_by(i);
    fmt::print("  cuda:{}      {}{}\n", i, Device::cuda(i).description(),
               reached.empty() ? "" : ", peer access to " + reached);
  }
}

}  // namespace perrin
