#include "io/hdf5_values.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "engine/base/error.h"

namespace perrin::io {
namespace {

/// So much is read whatever the file holds; deflate packs at most 1032 to one.
constexpr hsize_t always = 1 << 20, packed = 1100;

[[noreturn]] void refuse(const Node& node, const std::string& what) {
  throw UserError(fmt::format("{}: {}: {}", node.file(), node.path(), what));
}

/// Bytes that reading this dataset may take: what the file stores of it, unpacked.
hsize_t most_bytes(const Node& node) {
  const Hid creation(H5Dget_create_plist(node.id()));
  const Hid file(H5Iget_file_id(node.id()));
  hsize_t file_size = 0;
  if (creation < 0 || file < 0 || H5Fget_filesize(file, &file_size) < 0)
    refuse(node, "cannot be read");
  const hsize_t stored = std::min<hsize_t>(H5Dget_storage_size(node.id()), file_size);
  if (H5Pget_nfilters(creation) <= 0) return std::max(always, stored);
  const hsize_t most = std::max(always, packed * stored);
  if (H5Pget_layout(creation) == H5D_CHUNKED) {
    hsize_t chunk[H5S_MAX_RANK];
    const int rank = H5Pget_chunk(creation, H5S_MAX_RANK, chunk);
    double bytes = double(H5Tget_size(Hid(H5Dget_type(node.id()))));
    for (int k = 0; k < rank; ++k) bytes *= double(chunk[k]);
    if (!(bytes <= double(most)))
      refuse(node,
             fmt::format("chunks of {:.3g} bytes, of which the file stores {}", bytes, stored));
  }
  return most;
}

/// How many values there are, of `bytes` each.
std::size_t count(const Node& node, const Shape& shape, const Row& row, std::size_t bytes) {
  if (row && (shape.empty() || *row < 0 || hsize_t(*row) >= shape[0]))
    refuse(node,
           fmt::format("has {} frames, frame {} is wanted", shape.empty() ? 0 : shape[0], *row));
  hsize_t n = 1;
  bool fits = true;
  for (std::size_t k = row ? 1 : 0; k < shape.size(); ++k)
    fits = fits && !__builtin_mul_overflow(n, shape[k], &n);
  hsize_t size = 0;
  const hsize_t most = most_bytes(node);
  if (!fits || __builtin_mul_overflow(n, hsize_t(bytes), &size) || size > most)
    refuse(node, fmt::format("the shape [{}] is larger than what the file stores of it ({} bytes)",
                             fmt::join(shape, "]["), H5Dget_storage_size(node.id())));
  return std::size_t(n);
}

template <class T>
std::vector<T> get(const Node& node, const Row& row, hid_t memory) {
  const Shape shape = shape_of_numbers(node);
  const Hid type(H5Dget_type(node.id()));
  std::vector<T> values(count(node, shape, row, H5Tget_size(type)));
  if (values.empty()) return values;
  if (row)
    node.read_row(memory, *row, values.data());
  else
    node.read(memory, values.data());
  return values;
}

}  // namespace

std::size_t values_of(const Node& dataset, std::optional<std::int64_t> row) {
  const Hid type(H5Dget_type(dataset.id()));
  return count(dataset, dataset.shape(), row, H5Tget_size(type));
}

Shape shape_of_numbers(const Node& node) {
  if (!node.is_dataset()) refuse(node, "is not a dataset, expected numbers");
  const Hid type(H5Dget_type(node.id()));
  const H5T_class_t kind = H5Tget_class(type);
  if ((kind != H5T_INTEGER && kind != H5T_FLOAT && kind != H5T_ENUM) ||
      H5Tget_size(type) > (kind == H5T_FLOAT ? 16 : 8))
    refuse(node, "expected numbers");
  const Hid space(H5Dget_space(node.id()));
  if (H5Sget_simple_extent_type(space) == H5S_NULL) refuse(node, "is empty, expected numbers");
  return node.shape();
}

std::vector<double> read_reals(const Node& node, Row row) {
  return get<double>(node, row, H5T_NATIVE_DOUBLE);
}

std::vector<std::int64_t> read_integers(const Node& node, Row row, std::int64_t low,
                                        std::int64_t high) {
  shape_of_numbers(node);
  const Hid type(H5Dget_type(node.id()));
  if (H5Tget_class(type) == H5T_FLOAT) refuse(node, "floating-point numbers, expected integers");
  // HDF5 takes numbers that do not fit to the nearest one that does: ask for all 64 bits, with the
  // sign that the file has.
  const bool is_unsigned = H5Tget_class(type) == H5T_INTEGER && H5Tget_sign(type) == H5T_SGN_NONE;
  std::vector<std::int64_t> values;
  const auto check = [&](const auto& read) {
    values.reserve(read.size());
    for (const auto value : read) {
      if (std::cmp_less(value, low) || std::cmp_greater(value, high))
        refuse(node, fmt::format("the value {}, expected {} to {}", value, low, high));
      values.push_back(std::int64_t(value));
    }
  };
  if (is_unsigned)
    check(get<std::uint64_t>(node, row, H5T_NATIVE_UINT64));
  else
    check(get<std::int64_t>(node, row, H5T_NATIVE_INT64));
  return values;
}

double read_real(const Node& node) {
  const auto values = read_reals(node);
  if (values.size() != 1) refuse(node, fmt::format("{} values, expected one", values.size()));
  return values[0];
}

std::int64_t read_integer(const Node& node) {
  const auto values = read_integers<std::int64_t>(node);
  if (values.size() != 1) refuse(node, fmt::format("{} values, expected one", values.size()));
  return values[0];
}

std::vector<std::string> read_names(const Node& node) {
  if (!node.is_dataset()) refuse(node, "is not a dataset, expected text");
  const Hid type(H5Dget_type(node.id())), space(H5Dget_space(node.id()));
  if (H5Tget_class(type) != H5T_STRING) refuse(node, "expected text");
  if (H5Sget_simple_extent_type(space) == H5S_NULL) return {};
  const std::size_t n = count(node, node.shape(), {}, H5Tget_size(type));
  if (n == 0) return {};
  // HDF5 1.10 crashes where it is asked for the size of a text without dimensions.
  if (H5Tis_variable_str(type) > 0 && H5Sget_simple_extent_ndims(space) > 0) {
    // Many names may be one and the same text of the file.
    Hid file(H5Iget_file_id(node.id()));
    hsize_t file_size = 0, size = 0;
    if (H5Fget_filesize(file, &file_size) < 0 ||
        H5Dvlen_get_buf_size(node.id(), type, space, &size) < 0)
      refuse(node, "cannot be read");
    if (size > std::max(always, file_size))
      refuse(node, fmt::format("text of {} bytes in a file of {}", size, file_size));
  }
  return node.read_texts();
}

double read_real_attribute(const Node& node, const std::string& name) {
  const Hid attribute(H5Aopen(node.id(), name.c_str(), H5P_DEFAULT));
  const Hid type(H5Aget_type(attribute)), space(H5Aget_space(attribute));
  const H5T_class_t kind = H5Tget_class(type);
  double value = 0;
  if ((kind != H5T_INTEGER && kind != H5T_FLOAT) || H5Sget_simple_extent_npoints(space) != 1 ||
      H5Aread(attribute, H5T_NATIVE_DOUBLE, &value) < 0)
    refuse(node, fmt::format("its attribute {} is not a number", name));
  return value;
}

std::optional<hobj_ref_t> read_reference_attribute(const Node& node, const std::string& name) {
  if (!node.has_attribute(name)) return std::nullopt;
  const Hid attribute(H5Aopen(node.id(), name.c_str(), H5P_DEFAULT));
  const Hid type(H5Aget_type(attribute)), space(H5Aget_space(attribute));
  hobj_ref_t reference = 0;
  if (H5Tequal(type, H5T_STD_REF_OBJ) <= 0 || H5Sget_simple_extent_npoints(space) != 1 ||
      H5Aread(attribute, H5T_STD_REF_OBJ, &reference) < 0)
    refuse(node, fmt::format("its attribute {} is not a single reference to an object", name));
  return reference;
}

hobj_ref_t reference_to(const Node& node) {
  hobj_ref_t reference = 0;
  if (H5Rcreate(&reference, node.id(), ".", H5R_OBJECT, -1) < 0) refuse(node, "cannot be read");
  return reference;
}

std::vector<std::string> read_text_attribute(const Node& node, const std::string& name) {
  if (!node.has_attribute(name)) return {};
  const Hid attribute(H5Aopen(node.id(), name.c_str(), H5P_DEFAULT));
  const Hid type(H5Aget_type(attribute));
  constexpr hsize_t most = 1 << 16;
  if (H5Tget_class(type) != H5T_STRING || H5Aget_storage_size(attribute) > most)
    refuse(node, fmt::format("its attribute {} is not text (of at most {} bytes)", name, most));
  return node.texts_attribute(name);
}

}  // namespace perrin::io
