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
  const Hid space(H5Screate(H5S_SCALAR));
  const Hid it(H5Acreate2(node.id(), factor_name, H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT));
  if (it < 0 || H5Awrite(it, H5T_NATIVE_DOUBLE, &unit.factor) < 0)
    node.fail("cannot write an attribute of");
}

double factor_of(const Series& series) {
  const Node& node = series.node();
  return node.has_attribute(factor_name) ? read_real_attribute(node, factor_name) : 1.0;
}

void make_clock(const Node& group, const FileUnit& time) {
  Series::make(group, "step", H5T_STD_I64LE, {}, scalar_chunk);
  set_unit(Series::make(group, "time", H5T_IEEE_F64LE, {}, scalar_chunk).node(), time);
}

}  // namespace perrin::io
