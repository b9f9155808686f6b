#include "io/checkpoint_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/error.h"

namespace perrin::io {
namespace {

constexpr int deepest = 32;
constexpr hsize_t smallest_object = 64;  // bytes that a group or dataset takes in a file, at least

using Links = std::vector<std::pair<std::string, H5L_type_t>>;

class Layout {
 public:
  explicit Layout(const File& file) : file_(file.path()) {
    const Hid id(H5Iget_file_id(file.root().id()));
    if (id < 0 || H5Fget_filesize(id, &size_) < 0) refuse("/", "cannot be inspected");
    const Node& root = file.root();
    for (const std::string& name : links(root)) {
      const Node node = root.open(name);
      if (name == "state")
        look_at_state(node, 1);
      else if (name == "facts")
        for (const std::string& fact : links(group(node))) check_text(node.open(fact));
      else if (name == "checksum")
        check_dataset(node, H5T_INTEGER);
      else if (name == "job" || name == "version")
        check_text(node);
      else
        refuse("/" + name, "unknown entry");
    }
  }

 private:
  [[noreturn]] void refuse(const std::string& path, const std::string& what) const {
    throw UserError(fmt::format("{}: not a valid checkpoint of Perrin: {}: {}", file_, path, what));
  }

  /// The names in a group, all of them hard links.
  std::vector<std::string> links(const Node& node) {
    Links found;
    const auto take = [](hid_t, const char* name, const H5L_info_t* info, void* out) {
      static_cast<Links*>(out)->emplace_back(name, info->type);
      return herr_t(0);
    };
    if (H5Literate(node.id(), H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, take, &found) < 0)
      refuse(node.path(), "cannot be listed");
    // A group that is within itself would go on for ever.
    objects_ += found.size();
    if (objects_ > size_ / smallest_object)
      refuse(node.path(), "more groups and datasets than fit into the file");
    std::vector<std::string> names;
    for (const auto& [name, type] : found) {
      if (type != H5L_TYPE_HARD)
        refuse(node.path() + "/" + name, "a link to another object or file");
      names.push_back(name);
    }
    std::ranges::sort(names);
    return names;
  }

  const Node& group(const Node& node) const {
    if (H5Iget_type(node.id()) != H5I_GROUP) refuse(node.path(), "expected a group");
    return node;
  }

  void look_at_state(const Node& node, int depth) {
    if (depth > deepest)
      refuse(node.path(), fmt::format("groups are nested more than {} levels deep", deepest));
    for (const std::string& name : links(group(node))) {
      const Node child = node.open(name);
      if (!child.is_dataset()) {
        look_at_state(child, depth + 1);
        continue;
      }
      if (check_dataset(child, H5T_INTEGER, H5T_FLOAT).size() != 1)
        refuse(child.path(), "expected a list of numbers");
      check_attributes(child);
    }
  }

  void check_text(const Node& node) const {
    if (!check_dataset(node, H5T_STRING, H5T_STRING).empty())
      refuse(node.path(), "expected a single text");
  }

  /// Of one of two classes, of a type that the machine has, and no larger than the file. Returns
  /// its shape.
  Shape check_dataset(const Node& node, H5T_class_t one, H5T_class_t other) const {
    if (!node.is_dataset()) refuse(node.path(), "expected a dataset");
    const Hid layout(H5Dget_create_plist(node.id())), type(H5Dget_type(node.id())),
        space(H5Dget_space(node.id()));
    const H5D_layout_t kind = H5Pget_layout(layout);
    if ((kind != H5D_CONTIGUOUS && kind != H5D_COMPACT) || H5Pget_external_count(layout) != 0 ||
        H5Pget_nfilters(layout) != 0)
      refuse(node.path(), "expected an uncompressed, contiguous dataset in this file");
    const H5T_class_t found = H5Tget_class(type);
    if ((found != one && found != other) || H5Sget_simple_extent_type(space) == H5S_NULL)
      refuse(node.path(), "has an unexpected type");
    const Shape shape = node.shape();
    hsize_t bytes = H5Tget_size(type);
    bool fits = bytes <= size_ && (found == H5T_STRING || bytes <= 8);
    for (const hsize_t n : shape) fits = fits && !__builtin_mul_overflow(bytes, n, &bytes);
    if (!fits || bytes > size_) refuse(node.path(), "larger than the file");
    return shape;
  }
  Shape check_dataset(const Node& node, H5T_class_t only) const {
    return check_dataset(node, only, only);
  }

  /// `type`: a text; `element_size`: a number.
  void check_attributes(const Node& node) const {
    for (const char* name : {"type", "element_size"}) {
      if (!node.has_attribute(name)) refuse(node.path(), fmt::format("has no attribute {}", name));
      const Hid attribute(H5Aopen(node.id(), name, H5P_DEFAULT));
      const Hid type(H5Aget_type(attribute)), space(H5Aget_space(attribute));
      const bool text = name[0] == 't';
      if (H5Tget_class(type) != (text ? H5T_STRING : H5T_INTEGER) || H5Tget_size(type) > 1024 ||
          H5Sget_simple_extent_npoints(space) != 1)
        refuse(node.path(),
               fmt::format("its attribute {} is not a single {}", name, text ? "text" : "number"));
    }
  }

  std::string file_;
  hsize_t size_ = 0, objects_ = 0;
};

}  // namespace

void check_checkpoint_layout(const File& file) { const Layout looked_at(file); }

}  // namespace perrin::io
