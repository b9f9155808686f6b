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

double factor_of(const Series& series) {
  const Node& node = series.node();
  return node.has_attribute(factor_name) ? read_real_attribute(node, factor_name) : 1.0;
}

void write_names(const Node& root, const std::string& path, const std::vector<std::string>& names) {
  const Hid type(H5Tcopy(H5T_C_S1));
  H5Tset_size(type, H5T_VARIABLE);
  H5Tset_cset(type, H5T_CSET_UTF8);
  std::vector<const char*> values;
  for (const std::string& name : names) values.push_back(name.c_str());
  root.write(path, type, {values.size()}, values.data());
}

void make_clock(const Node& group, const FileUnit& time) {
  Series::make(group, "step", H5T_STD_I64LE, {}, scalar_chunk);
  set_unit(Series::make(group, "time", H5T_IEEE_F64LE, {}, scalar_chunk).node(), time);
}

}  // namespace perrin::io
