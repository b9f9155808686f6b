#include "engine/system/particle_arrays.h"

#include <algorithm>
#include <cstring>

#include "engine/device/parallel.h"
#include "engine/domain/decomposition.h"

namespace perrin {
namespace {

struct GatherWords {
  std::uint32_t* to;
  const std::uint32_t* from;
  const std::uint32_t* order;
  std::int64_t words;  // of an element
  PERRIN_HD void operator()(std::int64_t k) const {
    const std::int64_t i = k / words;
    to[k] = from[std::int64_t(order[i]) * words + (k - i * words)];
  }
};

/// The first words of elements by id.
struct GatherById {
  std::uint32_t* to;
  const std::uint32_t* from;
  const std::uint32_t* id;
  std::int64_t words, words_by_id;
  PERRIN_HD void operator()(std::int64_t k) const {
    const std::int64_t i = k / words;
    to[k] = from[std::int64_t(id[i]) * words_by_id + (k - i * words)];
  }
};

struct CopyWords {
  std::uint32_t* to;
  const std::uint32_t* from;
  PERRIN_HD void operator()(std::int64_t k) const { to[k] = from[k]; }
};

/// Of particles begin …: words of an array by id into one by place in memory, or back.
struct PackById {
  std::uint32_t *packed, *array;
  const std::uint32_t* id;
  std::int64_t words, begin;
  bool back;
  PERRIN_HD void operator()(std::int64_t k) const {
    const std::int64_t i = begin + k / words, word = k % words;
    std::uint32_t& place = packed[i * words + word];
    std::uint32_t& named = array[std::int64_t(id[i]) * words + word];
    if (back)
      named = place;
    else
      place = named;
  }
};

std::uint32_t* words_of(void* data) { return static_cast<std::uint32_t*>(data); }
std::uint32_t* words_of(Buffer<std::byte>& buffer) {
  return reinterpret_cast<std::uint32_t*>(buffer.data());
}

}  // namespace

std::shared_ptr<const ParticleArrays::Array> ParticleArrays::add(void* data, std::size_t bytes,
                                                                 IndexedBy by) {
  PERRIN_ASSERT(bytes % 4 == 0);
  std::erase_if(arrays_, [](const auto& array) { return array.expired(); });
  const std::int64_t all = n_ * std::int64_t(bytes);
  auto array = std::make_shared<Array>(Array{data, bytes, n_, by, {}});
  if (by == IndexedBy::id && decomposition_of(device_).several()) array->packed = {device_, all};
  if (by == IndexedBy::memory && scratch_.size() < all) scratch_ = {device_, all};
  arrays_.push_back(array);
  return array;
}

bool ParticleArrays::any(IndexedBy by) const {
  return std::ranges::any_of(arrays_, [by](const auto& weak) {
    const auto array = weak.lock();
    return array && array->by == by;
  });
}

std::vector<std::shared_ptr<ParticleArrays::Array>> ParticleArrays::living() const {
  std::vector<std::shared_ptr<Array>> found;
  for (const auto& weak : arrays_)
    if (auto array = weak.lock()) found.push_back(std::move(array));
  return found;
}

std::shared_ptr<const ParticleArrays::OrderedCopy> ParticleArrays::add(const OrderedCopy& copy) {
  std::erase_if(copies_, [](const auto& one) { return one.expired(); });
  auto added = std::make_shared<const OrderedCopy>(copy);
  copies_.push_back(added);
  return added;
}

void ParticleArrays::refresh(const OrderedCopy& copy, const std::uint32_t* id) const {
  for_each(
      device_, "numbers in the order of memory", n_ * copy.words,
      GatherById{static_cast<std::uint32_t*>(copy.in_memory),
                 static_cast<const std::uint32_t*>(copy.by_id), id, copy.words, copy.words_by_id});
}

void ParticleArrays::reorder(const std::uint32_t* order, const std::uint32_t* id) {
  for (const auto& weak : copies_)
    if (const auto copy = weak.lock()) refresh(*copy, id);
  for (const auto& array : living()) {
    if (array->by != IndexedBy::memory) continue;
    std::uint32_t *const to = words_of(scratch_), *const from = words_of(array->data);
    const auto words = std::int64_t(array->bytes / 4);
    for_each(device_, "reorder an array", n_ * words, GatherWords{to, from, order, words});
    for_each(device_, "keep the new order", n_ * words, CopyWords{from, to});
  }
}

ParticleArrays::Elements ParticleArrays::elements() const {
  Elements elements;
  for (auto& array : living()) {
    if (array->by == IndexedBy::place) continue;
    elements.bytes_ += array->bytes;
    elements.arrays_.push_back(std::move(array));
  }
  return elements;
}

void ParticleArrays::Elements::copy_from(std::int64_t place, std::uint32_t id,
                                         unsigned char* to) const {
  for (const auto& array : arrays_) {
    const auto at = std::size_t(array->by == IndexedBy::id ? std::int64_t(id) : place);
    std::memcpy(to, static_cast<const unsigned char*>(array->data) + at * array->bytes,
                array->bytes);
    to += array->bytes;
  }
}

void ParticleArrays::Elements::copy_to(std::int64_t place, std::uint32_t id,
                                       const unsigned char* from) const {
  for (const auto& array : arrays_) {
    const auto at = std::size_t(array->by == IndexedBy::id ? std::int64_t(id) : place);
    std::memcpy(static_cast<unsigned char*>(array->data) + at * array->bytes, from, array->bytes);
    from += array->bytes;
  }
}

void ParticleArrays::copy_by_id(const std::uint32_t* id, const Share& particles, bool back) const {
  for (const auto& array : living()) {
    if (array->by != IndexedBy::id) continue;
    const auto words = std::int64_t(array->bytes / 4);
    for_each(
        device_, "arrays by id", particles.size() * words,
        PackById{words_of(array->packed), words_of(array->data), id, words, particles.begin, back});
  }
}

void ParticleArrays::pack(const std::uint32_t* id, const Share& particles) const {
  copy_by_id(id, particles, false);
}
void ParticleArrays::unpack(const std::uint32_t* id, const Share& particles) const {
  copy_by_id(id, particles, true);
}

void ParticleArrays::append_to(std::vector<SharedArray>& arrays) const {
  for (const auto& array : living())
    arrays.push_back(
        {array->by == IndexedBy::id ? array->packed.data() : array->data, array->bytes, n_});
}

}  // namespace perrin
