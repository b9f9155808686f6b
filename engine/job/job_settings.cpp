// The top level of a job file.
#include <fmt/format.h>

#include "engine/job/job.h"
#include "engine/job/plugin_api.h"
#include "engine/settings/settings_schema.h"

namespace perrin {

JobSettings::JobSettings() : units("lj") {}

void describe(Fields& d, JobSettings& s) {
  d.optional("$schema", s.schema, Any{}, "schema for editors; ignored by Perrin");
  d.optional("title", s.title, Any{}, "free-text title");
  d.optional("author", s.author, Any{}, "author's name, written into output files");
  d.optional(
      "plugins", s.plugins, Any{},
      "plug-ins to load, by name or path; shipped and installed ones are found automatically");
  d.optional("units", s.units, Any{},
             "\"lj\" (reduced units) or the units of length, energy and mass");
  d.optional("seed", s.seed, Any{},
             "seed of all random numbers; if absent, it is drawn and recorded");
  d.optional("device", s.device, Any{}, "auto, cpu, cuda or cuda:N; --device overrides it");
  d.optional("processes", s.processes, Any{},
             "distribution over several processes (perrin help processes)");
  d.optional("ensemble", s.ensemble, Any{},
             "several systems of this structure, with values of their own (perrin help ensemble)");
  d.optional("system", s.system, Any{}, "initial configuration");
  d.optional("reservoir", s.reservoir, Positive{},
             "particles of each type that are not there at the start: room for those that Monte "
             "Carlo inserts (monte_carlo.insertion)");
  d.optional("attributes", s.attributes, Any{},
             "numbers of each particle, for formulas: charge, diameter, mass and others; those of "
             "these names that the system has from a file are replaced");
  d.optional("orientations", s.orientations, Any{},
             "particles have orientations, and turn: for forces that depend on them (gay_berne, "
             "dipoles, …) and active motion; a file of the system may give them, too");
  d.optional(
      "bodies", s.bodies, Any{},
      "rigid bodies: every particle of a type carries others, which are added to the system");
  d.optional("constraints", s.constraints, Any{},
             "bonds whose lengths stay as they are, and angles between them, instead of forces on "
             "them (SHAKE and RATTLE)");
  d.optional("groups", s.groups, Any{},
             "named groups of particles, for integrators, forces and observers; the group \"all\" "
             "is always there");
  d.optional("velocity", s.velocity, Any{},
             "draw initial velocities, replacing those of the system");
  d.optional("dynamic_bonds", s.dynamic_bonds, Any{},
             "bonds that are made and broken while the job runs");
  d.optional("ignore", s.ignore,
             OneOf{"bonds", "angles", "dihedrals", "impropers", "constraints", "pairs", "charges",
                   "charge_dipole"},
             "topology and charges that are deliberately left without a force; charge_dipole: what "
             "charges and dipoles of one system do to each other; ignored bonds, angles and "
             "dihedrals do not create exclusions");
  d.optional("neighbors", s.neighbors, Any{}, "neighbour search");
  d.optional("forces", s.forces, Any{}, "forces on the particles");
  d.optional("observers", s.observers, Any{}, "output and measurements");
  d.required("stages", s.stages, Any{}, "stages of the run, in order");
}

Json job_schema(const Registry& registry) {
  Json job = {{"$schema", "http://json-schema.org/draft-07/schema#"},
              {"title", fmt::format("A job of Perrin {}", engine_version())},
              {"$comment",
               "Job files may have comments, // and /* */; perrin show JOB prints one as strict "
               "JSON."}};
  job.update(schema<JobSettings>());
  Json units = schema<UnitNames>();
  job["properties"]["units"] = {{"anyOf", {{{"const", "lj"}}, std::move(units)}},
                                {"description", job["properties"]["units"]["description"]},
                                {"default", "lj"}};
  job["properties"]["stages"]["minItems"] = 1;
  job["definitions"] = schema_definitions(registry);
  return job;
}

}  // namespace perrin
