#include "io/h5md_elements.h"

#include "io/hdf5_values.h"

namespace perrin::io {
namespace {

const char* const factor_name = "job_factor";

}  // namespace

void set_unit(const Node& node, const FileUnit& unit) {
  if (unit.name.empty()) return;
  node.attribute("unit", unit.name);
  if (unit.factor == 1) return;
  node.attribute(factor_name, unit.factor);
}

double factor_of(const Series& series) { return factor_of(series.node()); }

double factor_of(const Node& node) {
  return node.has_attribute(factor_name) ? read_real_attribute(node, factor_name) : 1.0;
}

void write_names(const Node& root, const std::string& path, const std::vector<std::string>& names) {
  root.write_texts(path, {names.size()}, names);
}

void make_clock(const Node& group, const FileUnit& time) {
  Series::make(group, "step", H5T_STD_I64LE, {}, scalar_chunk);
  set_unit(Series::make(group, "time", H5T_IEEE_F64LE, {}, scalar_chunk).node(), time);
}

}  // namespace perrin::io
