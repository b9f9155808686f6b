#include "io/register.h"

#include "engine/components/registry.h"
#include "io/checkpoint.h"
#include "io/gsd_trajectory.h"
#include "io/parts/register.h"
#include "io/sources.h"
#include "io/thermo.h"
#include "io/trajectory.h"
#include "io/xtc_trajectory.h"

namespace perrin {

void register_sources(Registry& registry) {
  registry.add<Source, LatticeSettings>("lattice", "particles on the sites of a crystal",
                                        make_lattice);
  registry.add<Source, RandomSettings>("random", "random positions with a minimum distance",
                                       make_random);
  registry.add<Source, ChainsSettings>("chains", "bead-spring polymers as random walks",
                                       make_chains);
  registry.add<Source, FileSettings>(
      "file", "a frame of an H5MD, GSD, LAMMPS data or dump, extended XYZ or DCD file",
      make_file_source);
  parts::register_parts(registry);
}

void register_io(Registry& registry) {
  registry.add<Observer, TrajectorySettings>("trajectory",
                                             "frames of all particles in an H5MD file",
                                             [](const TrajectorySettings& s, Setup& setup) {
                                               return std::make_unique<Trajectory>(s, setup);
                                             });
  registry.add<Observer, GsdSettings>(
      "gsd", "frames of all particles in a GSD file (OVITO, freud, HOOMD-blue)",
      [](const GsdSettings& s, Setup& setup) { return std::make_unique<GsdTrajectory>(s, setup); });
  registry.add<Observer, XtcSettings>(
      "xtc", "positions of all particles in an XTC file (GROMACS), rounded and compressed",
      [](const XtcSettings& s, Setup& setup) { return std::make_unique<XtcTrajectory>(s, setup); });
  registry.add<Observer, ThermoSettings>(
      "thermo", "energies, temperature, pressure, in a file and on the console",
      [](const ThermoSettings& s, Setup& setup) { return std::make_unique<Thermo>(s, setup); });
  registry.add<Observer, CheckpointSettings>(
      "checkpoint", "restart files for `perrin resume`, at intervals and when a run stops",
      [](const CheckpointSettings& s, Setup& setup) {
        return std::make_unique<CheckpointObserver>(s, setup);
      });
}

}  // namespace perrin
