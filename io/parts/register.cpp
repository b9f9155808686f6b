#include "io/parts/register.h"

#include "io/parts/layers.h"
#include "io/parts/molecules.h"
#include "io/parts/parts_source.h"
#include "io/parts/points.h"
#include "io/parts/polymers.h"

namespace perrin::parts {

void register_parts(Registry& registry) {
  registry.add<Source, PartsSettings>("parts", "several parts in one box, without overlap",
                                      make_parts);
  registry.add<StartPart, ChainsSettings>("chains", "linear polymers as random walks", make_chains);
  registry.add<StartPart, RingsSettings>("rings", "ring polymers as random walks that return",
                                         make_rings);
  registry.add<StartPart, StarsSettings>("stars", "arms on a central bead", make_stars);
  registry.add<StartPart, CombsSettings>("combs", "side chains along a backbone", make_combs);
  registry.add<StartPart, DendrimersSettings>(
      "dendrimers", "polymers that branch in every generation", make_dendrimers);
  registry.add<StartPart, BrushSettings>("brush", "chains grafted to a plane", make_brush);
  registry.add<StartPart, BilayerSettings>("bilayer", "lipids in two leaflets", make_bilayer);
  registry.add<StartPart, SpheresSettings>("spheres", "rigid spheres of beads", make_spheres);
  registry.add<StartPart, RodsSettings>("rods", "straight rods of beads", make_rods);
  registry.add<StartPart, MoleculesSettings>(
      "molecules", "copies of a molecule that the job describes", make_molecules);
  registry.add<StartPart, FilePartSettings>("file", "copies of a molecule that a file has",
                                            make_file_part);
  registry.add<StartPart, RandomSettings>("random", "particles at random places", make_random);
  registry.add<StartPart, FillSettings>(
      "fill", "particles at random places until a density is reached", make_fill);
  registry.add<StartPart, LatticeSettings>("lattice", "particles on the sites of a crystal",
                                           make_lattice);
  registry.add<StartPart, SourcePartSettings>("source", "all particles of another system",
                                              make_source_part);
}

}  // namespace perrin::parts
