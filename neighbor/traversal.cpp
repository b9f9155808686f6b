#include "neighbor/traversal.h"

#include <algorithm>
#include <type_traits>

namespace perrin {
namespace {

struct Entry {
  std::string name, help;
  bool on_gpu, on_cpu;
};

template <class... T>
std::vector<Entry> entries_of(std::type_identity<std::variant<T...>>) {
  return {Entry{T::name, T::help, T::on_gpu, T::on_cpu}...};
}

/// The traversals, each name once.
std::vector<Entry> entries(Where where) {
  std::vector<Entry> found;
  for (const Entry& e : entries_of(std::type_identity<Traversal>{})) {
    const bool fits = where == Where::anywhere || (where == Where::gpu ? e.on_gpu : e.on_cpu);
    const auto same = [&](const Entry& other) { return other.name == e.name; };
    if (fits && std::none_of(found.begin(), found.end(), same)) found.push_back(e);
  }
  return found;
}

}  // namespace

std::vector<std::string> traversal_names(Where where) {
  std::vector<std::string> names{"standard"};
  for (const Entry& e : entries(where)) names.push_back(e.name);
  names.emplace_back("auto");
  return names;
}

std::string traversal_help() {
  std::string text = "neighbour search: ";
  for (const Entry& e : entries(Where::anywhere)) text += e.name + ", " + e.help + "; ";
  return text +
         "standard, tiles on a GPU and clusters on the CPU, or small for up to 4096 particles on a "
         "GPU, verlet_list for strongly "
         "size-asymmetric mixtures and dilute systems, or on a GPU cells where a cell holds 140 "
         "particles or more; auto, the fastest one as measured during "
         "the run (a rerun is then not bitwise identical)";
}

}  // namespace perrin
