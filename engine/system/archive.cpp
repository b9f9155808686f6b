#include "engine/system/archive.h"

#include <fmt/format.h>

#include <cstring>

#include "engine/base/error.h"

namespace perrin {
namespace {

const Record& find(const std::map<std::string, Record>& records, const std::string& name) {
  const auto it = records.find(name);
  if (it == records.end())
    throw UserError(
        fmt::format("the checkpoint has no \"{}\": it belongs to another job or version", name));
  return it->second;
}

}  // namespace

Archive::Scope::Scope(Archive& archive, const std::string& name)
    : archive_(archive), outer_(archive.scope_) {
  archive.scope_ += name + "/";
}
Archive::Scope::~Scope() { archive_.scope_ = outer_; }

void Archive::operator()(const std::string& name, std::string& text) {
  std::vector<char> letters(text.begin(), text.end());
  (*this)(name, letters);
  text.assign(letters.begin(), letters.end());
}

void Archive::refuse(const std::string& name, const std::string& expected) const {
  throw UserError(fmt::format("\"{}{}\" in the checkpoint must be {}: the file was modified",
                              scope_, name, expected));
}

void Archive::fixed(const std::string& name, const std::string& type, void* value,
                    std::size_t bytes) {
  begin(name, type, bytes, 1);
  raw(name, value, bytes);
}

std::size_t Archive::begin(const std::string& name, const std::string& type,
                           std::size_t element_size, std::size_t count) {
  const std::string full = scope_ + name;
  if (saving_) {
    Record record{type, element_size, std::vector<std::byte>(element_size * count)};
    // Two states under one name would silently restore the wrong one.
    PERRIN_ASSERT(records_.emplace(full, std::move(record)).second);
    return count;
  }
  const Record& record = find(records_, full);
  if (record.type != type || record.element_size != element_size)
    throw UserError(fmt::format(
        "\"{}\" in the checkpoint is {} of {} bytes, expected {} of {} bytes: it belongs to "
        "another job, version or precision",
        full, record.type, record.element_size, type, element_size));
  if (record.bytes.size() % element_size != 0) refuse(name, "whole values");
  return record.bytes.size() / element_size;
}

void Archive::raw(const std::string& name, void* data, std::size_t bytes) {
  const std::string full = scope_ + name;
  if (bytes == 0) return;
  if (saving_) {
    std::memcpy(records_.at(full).bytes.data(), data, bytes);
    return;
  }
  const Record& record = find(records_, full);
  if (record.bytes.size() != bytes)
    throw UserError(fmt::format(
        "\"{}\" in the checkpoint has {} bytes, expected {}: it belongs to another job or version",
        full, record.bytes.size(), bytes));
  std::memcpy(data, record.bytes.data(), bytes);
}

}  // namespace perrin
