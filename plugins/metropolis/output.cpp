#include "output.h"

namespace perrin::metropolis {
namespace {

Box box_of(const System& system) {
  Box box;
  box.length = system.box();
  box.origin = {0, 0, 0};
  return box;
}

Configuration configuration_of(const System& system) {
  Configuration c;
  c.box = box_of(system);
  const Model& model = system.model();
  c.types = model.types;
  for (std::uint32_t m = 0; m < model.molecule.size(); ++m)
    for (const auto& site : model.templates[model.molecule[m]].sites) {
      c.type.push_back(site.type);
      c.topology.molecule.push_back(m);
    }
  for (const Position& p : system.site_positions()) c.position.push_back(c.box.point(p));
  return c;
}

}  // namespace

Units counting_cycles(Units units) {
  units.time.clear();
  return units;
}

SitesFile::SitesFile(std::filesystem::path path, const Setup& setup, const Units& units)
    : file_(std::move(path), io::H5mdLayout{.image = false}, setup, counting_cycles(units)) {}

void SitesFile::open(bool resumed, const System& system) {
  if (!file_.is_open()) file_.open(resumed, configuration_of(system));
}

void SitesFile::append(std::int64_t cycle, const System& system) {
  if (cycle == file_.last_step()) return;
  io::H5mdFrame frame;
  frame.step = cycle;
  frame.time = double(cycle);
  frame.set_box(box_of(system));
  const Vec3<double> edge = system.box();
  std::vector<float> position;
  for (const Position& p : system.site_positions())
    for (const double x : {double(p.x) * edge.x, double(p.y) * edge.y, double(p.z) * edge.z})
      position.push_back(float(x * 0x1p-32));
  frame.position = std::move(position);
  file_.append(std::move(frame));
}

}  // namespace perrin::metropolis
