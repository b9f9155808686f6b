// The top level of a job file.
#include <fmt/format.h>

#include "engine/run/job.h"
#include "engine/run/plugin_api.h"
#include "engine/settings/settings_schema.h"

namespace perrin {

JobSettings::JobSettings() : units("lj") {}

void describe(Fields& d, JobSettings& s) {
  d.optional("$schema", s.schema, Any{}, "for editors; Perrin does not read it");
  d.optional("title", s.title, Any{}, "for people");
  d.optional("author", s.author, Any{}, "name of the author to write into output files");
  d.optional("plugins", s.plugins, Any{}, "plug-ins to load, by name or path");
  d.optional("units", s.units, Any{},
             "\"lj\" (reduced units) or the units of length, energy and mass");
  d.optional("seed", s.seed, Any{}, "seed of all random numbers; drawn and recorded where absent");
  d.optional("device", s.device, Any{}, "auto, cpu, cuda or cuda:N; --device overrides it");
  d.optional("processes", s.processes, Any{},
             "where several processes run the job (perrin help processes)");
  d.optional("system", s.system, Any{}, "where the particles come from");
  d.optional("velocity", s.velocity, Any{},
             "draw the initial velocities, whatever velocities the system has");
  d.optional("ignore", s.ignore,
             OneOf{"bonds", "angles", "dihedrals", "impropers", "constraints", "pairs", "charges"},
             "what the system has and no force shall act on; what is ignored leaves no pair out "
             "of the pair forces");
  d.optional("neighbors", s.neighbors, Any{}, "the neighbour list");
  d.optional("forces", s.forces, Any{}, "what acts on the particles");
  d.optional("observers", s.observers, Any{}, "what is written or measured");
  d.required("stages", s.stages, Any{}, "what is done, one after the other");
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
