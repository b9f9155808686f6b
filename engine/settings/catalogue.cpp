#include "engine/settings/catalogue.h"

#include <fmt/format.h>

#include <utility>

#include "engine/base/error.h"
#include "engine/settings/other_names.h"
#include "engine/settings/problems.h"

namespace perrin {
namespace {

/// nullptr where there is none.
template <class Rows>
CatalogueRow* row_of(const Rows& rows, const std::string& kind, const std::string& type) {
  for (const auto& r : rows)
    if (r->kind == kind && r->type == type) return r.get();
  return nullptr;
}

}  // namespace

void Catalogue::add_row(CatalogueRow row) {
  if (row_of(rows_, row.kind, row.type))
    throw BugError(
        fmt::format("the {} \"{}\" is registered twice by {}", row.kind, row.type, provider_));
  rows_.push_back(std::make_unique<CatalogueRow>(std::move(row)));
}

const CatalogueRow* Catalogue::find(const std::string& kind, const std::string& type) const {
  for (int attempt = 0; attempt < 2; ++attempt) {
    if (const CatalogueRow* row = row_of(rows_, kind, type)) return row;
    if (!discover_) break;
    discover();
  }
  return nullptr;
}

void Catalogue::discover() const {
  if (const auto load = std::exchange(discover_, nullptr)) load();
}

const CatalogueRow* Catalogue::find_generated(const std::string& kind,
                                              const GeneratedType& made) const {
  if (const CatalogueRow* known = row_of(rows_, kind, made.type)) return known;
  if (!load_generated_) throw BugError("types cannot be generated here: no plug-in loader");
  load_generated_(made.plugin);
  CatalogueRow* const loaded = row_of(rows_, kind, made.type);
  PERRIN_ASSERT(loaded != nullptr);
  loaded->generated = true;
  return loaded;
}

std::vector<const CatalogueRow*> Catalogue::rows(const std::string& kind) const {
  std::vector<const CatalogueRow*> list;
  for (const auto& r : rows_)
    if ((kind.empty() || r->kind == kind) && !r->generated) list.push_back(r.get());
  return list;
}

std::string Catalogue::suggestion(const std::string& kind, const std::string& type) const {
  if (const char* plugin = shipped_plugin(kind, type)) return not_built(plugin);
  for (const auto& row : rows_)
    if (row->type == type && !row->generated)
      return fmt::format("\"{}\" is a type of {}, not of {}", type, row->kind, kind);
  for (const auto& row : rows_)
    for (const Variant& v : row->variants)
      if (v.name == type)
        return fmt::format("\"{}\" is a {} of the {} \"{}\": \"type\": \"{}\", \"{}\": \"{}\"",
                           type, v.key, row->kind, row->type, row->type, v.key, type);
  if (const char* plugin = shipped_plugin(type))
    return fmt::format("\"{}\" is a type of another kind; {}", type, not_built(plugin));
  if (kind != "part")  // of which "chain" means a system
    if (const char* meaning = other_name(type)) return meaning;
  std::vector<std::string> known;
  for (const CatalogueRow* row : rows(kind)) known.push_back(row->type);
  return suggest(type, known);
}

void Catalogue::merge(Catalogue&& staged) {
  for (const auto& r : staged.rows_)
    for (const auto& mine : rows_)
      if (mine->kind == r->kind && mine->type == r->type)
        throw UserError(fmt::format("the {} \"{}\" of plug-in {} exists already (from {})", r->kind,
                                    r->type, r->provider, mine->provider));
  for (auto& r : staged.rows_) rows_.push_back(std::move(r));
  staged.rows_.clear();
}

}  // namespace perrin
