#include "app/same_run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>

#include "app/job_files.h"
#include "engine/base/error.h"
#include "engine/communicator/communicator.h"
#include "engine/job/cache.h"
#include "engine/system/configuration_archive.h"
#include "io/checksum.h"
#include "perrin/commit.h"

#ifdef PERRIN_CUDA
#include <cuda_runtime_api.h>
#endif

namespace perrin {
namespace {

namespace fs = std::filesystem;

std::string hash_of(const std::string& bytes) {
  return fmt::format("{:016x}", io::xxh64(bytes.data(), bytes.size()));
}

std::string hash_of(const std::map<std::string, Record>& records) {
  std::uint64_t hash = 0;
  for (const auto& [name, record] : records)
    hash = io::xxh64(record.bytes.data(), record.bytes.size(),
                     io::xxh64(name.data(), name.size(), hash));
  return fmt::format("{:016x}", hash);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// The first line in which two texts differ: "A instead of B".
std::string difference(const std::string& a, const std::string& b) {
  auto one = lines_of(a), other = lines_of(b);
  const std::size_t n = std::max(one.size(), other.size());
  one.resize(n), other.resize(n);
  const auto [x, y] = std::ranges::mismatch(one, other);
  const auto shown = [](const std::string& line) {
    const std::size_t begin = line.find_first_not_of(' ');
    return begin == std::string::npos ? "nothing" : line.substr(begin, 200);
  };
  return x == one.end() ? "" : fmt::format("{} instead of {}", shown(*x), shown(*y));
}

/// Plug-ins by their names and bytes. Those made from formulas by what they were made of: each host
/// may have compiled its own.
std::string plugins_text(const PluginLoader& plugins) {
  std::string text;
  for (const auto& plugin : plugins.loaded()) {
    const fs::path key = plugin.path.parent_path() / "key";
    std::error_code ignored;
    const bool made = plugin.path.filename() == "plugin.so" && fs::exists(key, ignored);
    text += fmt::format("plug-in {} ({}), bytes {}\n", plugin.name,
                        made ? "from a formula" : plugin.path.string(),
                        hash_of(read_whole_file(made ? key : plugin.path).value_or("")));
  }
  return text;
}

/// A GPU by its place in the host; two processes that have the same one name it alike.
std::string gpu_place([[maybe_unused]] const Device& device) {
  std::string place;
#ifdef PERRIN_CUDA
  if (device.is_cuda()) {
    char text[32] = {};
    int index = 0;
    if (cudaGetDevice(&index) == cudaSuccess) cudaDeviceGetPCIBusId(text, sizeof text, index);
    place = text;
  }
#endif
  return place;
}

std::string host_of(const std::string& process) { return process.substr(process.find('(')); }

}  // namespace

void require_same(const std::string& what, const std::string& mine) {
  Communicator& world = Communicator::world();
  if (!world.several()) return;
  const auto hashes = world.all_gather(hash_of(mine));
  if (std::ranges::count(hashes, hashes[0]) == std::ssize(hashes)) return;
  const auto texts = world.all_gather(mine), names = world.all_gather(world.name());
  for (std::size_t p = 1; p < texts.size(); ++p)
    if (texts[p] != texts[0])
      throw UserError(fmt::format("perrin: {} has {} other than {}: {}", names[p], what, names[0],
                                  difference(texts[p], texts[0])));
}

void require_same_program(const Json& job, const JobOptions& options) {
  require_same("a Perrin",
               fmt::format("{} ({})\n{}\n", engine_version(), PERRIN_COMMIT, build_tag()));
  require_same("a job", job.dump(2));
  require_same("options", fmt::format("--output-dir {}\n--time-limit {}\n--overwrite {}\n",
                                      options.output_directory.string(), options.time_limit,
                                      options.overwrite));
}

void require_same_checkpoint(const Checkpoint& checkpoint) {
  require_same("a checkpoint", "state " + hash_of(checkpoint.records));
}

void require_same_parts(const Job& job, const PluginLoader& plugins) {
  if (!Communicator::world().several()) return;
  require_same("plug-ins", plugins_text(plugins));
  const Device& device = job.context().device;
  require_same("a device", device.is_cuda() ? "a GPU" : "the CPU");
}

void require_same_particles(const Configuration& start) {
  if (!Communicator::world().several()) return;
  Archive archive = Archive::saving();
  Configuration configuration = start;
  archive_configuration(archive, configuration);
  require_same("particles", "those of hash " + hash_of(archive.records()));
}

std::string processes_summary(const Job& job) {
  Communicator& world = Communicator::world();
  if (!world.several()) return "";
  const Device& device = job.context().device;
  const auto names = world.all_gather(world.name()), gpus = world.all_gather(gpu_place(device)),
             kinds = world.all_gather(hardware(device));
  std::set<std::string> hosts, places;
  for (std::size_t p = 0; p < names.size(); ++p) {
    hosts.insert(host_of(names[p]));
    places.insert(host_of(names[p]) + gpus[p]);
  }
  std::string text = fmt::format("{:<10}{} on {} host{}", "processes", names.size(), hosts.size(),
                                 hosts.size() == 1 ? "" : "s");
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  const std::int64_t threads = world.sum(device.threads());
  if (!device.is_cuda()) {
    text += fmt::format(", {} threads in total", threads);
    if (threads < cores) text += fmt::format(" (this host has {} cores)", cores);
  }
  text += "\n";
  if (device.is_cuda() && places.size() < names.size())
    text += fmt::format("warning: {} processes use {} GPUs: processes that share a GPU are slow\n",
                        names.size(), places.size());
  if (std::ranges::count(kinds, kinds[0]) != std::ssize(kinds))
    text +=
        "warning: the processes run on different hardware: results are not bitwise identical if "
        "the work is distributed differently\n";
  return text;
}

}  // namespace perrin
