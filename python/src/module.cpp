// The native half of the Python package: perrin._perrin.
#include <dlfcn.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <mutex>

#include "app/build_check.h"
#include "app/commands.h"
#include "app/ensemble/ensemble_commands.h"
#include "app/job_files.h"
#include "engine/job/job.h"
#include "engine/job/plugin_api.h"
#include "engine/job/variations.h"
#include "python/src/captured_force.h"
#include "python/src/session.h"
#include "python/src/state.h"

namespace perrin::python {
namespace {

/// perrin.errors.NAME, with the problems (path, line, what) of a job where there are any.
void raise(const char* name, const char* text, const std::vector<Problem>& problems) {
  nb::list list;
  for (const Problem& p : problems)
    list.append(
        nb::make_tuple(p.path, p.line > 0 ? nb::object(nb::int_(p.line)) : nb::none(), p.what));
  const nb::object type = nb::module_::import_("perrin.errors").attr(name);
  const nb::object error = problems.empty() ? type(text) : type(text, list);
  PyErr_SetObject(type.ptr(), error.ptr());
}

void translate(const std::exception_ptr& exception, void*) {
  try {
    std::rethrow_exception(exception);
  } catch (const MistakesError& e) {
    raise("JobError", e.what(), e.list);
  } catch (const UserError& e) {
    raise("JobError", e.what(), {});
  } catch (const RunError& e) {
    raise("RunError", e.what(), {});
  } catch (const BugError& e) {
    raise("BugError", e.what(), {});
  }
}

std::string schema() {
  Components components;
  components.registry.discover();
  return job_schema(components.registry).dump();
}

int program(std::vector<std::string> arguments) {
  std::vector<char*> argv;
  for (std::string& a : arguments) argv.push_back(a.data());
  argv.push_back(nullptr);
  const nb::gil_scoped_release released;
  return run_program(int(arguments.size()), argv.data());
}

/// Runs f(hears) without the lock of the interpreter. What it has warned of are warnings of Python
/// when it has ended: systems run in threads of their own. Its own error comes before one that a
/// filter makes of a warning.
template <class F>
void with_warnings(const F& f) {
  std::mutex mutex;
  std::vector<std::string> told;
  std::exception_ptr error;
  {
    const nb::gil_scoped_release released;
    try {
      f([&](const std::string& warning) {
        const std::lock_guard lock(mutex);
        told.push_back(warning);
      });
    } catch (...) {
      error = std::current_exception();
    }
  }
  const nb::object errors = nb::module_::import_("perrin.errors");
  try {
    for (const std::string& warning : told) errors.attr("warn")(errors.attr("of_job")(warning));
  } catch (nb::python_error&) {
    if (!error) throw;
  }
  if (error) std::rethrow_exception(error);
}

/// `text`: the job, whose input files are beside `file`; empty: the job is that file.
void ensemble(const std::string& file, const std::string& text, const std::string& device,
              int threads, const std::string& folder, bool overwrite, bool quiet) {
  JobOptions options;
  options.device = device, options.threads = threads;
  options.job_directory = file.empty() ? std::filesystem::path(".") : folder_of(file);
  options.output_directory = folder, options.overwrite = overwrite, options.quiet = quiet;
  JsonFile job = text.empty() ? JsonFile::read(file) : JsonFile::parse(text, "the job");
  if (!Variations::has(job)) throw UserError("the job has no \"ensemble\": say what is varied");
  with_warnings(
      [&](const WarningsHeard::Function& hears) { run_ensemble(std::move(job), options, hears); });
}

void resumed_ensemble(const std::string& folder, const std::vector<std::string>& sets,
                      std::int64_t more_steps, const std::string& device, int threads, bool quiet) {
  JobOptions options;
  options.device = device, options.threads = threads, options.quiet = quiet;
  with_warnings([&](const WarningsHeard::Function& hears) {
    resume_ensemble(folder, {sets, more_steps}, options, hears);
  });
}

/// A module beside a library of another build would crash wherever their classes differ.
void check_build() {
  Dl_info self{};
  const bool known = dladdr(reinterpret_cast<const void*>(&check_build), &self) != 0;
  const std::string other = other_build(known && self.dli_fname != nullptr ? self.dli_fname : "",
                                        PERRIN_BUILD_TAG, layout);
  if (!other.empty()) throw nb::import_error(other.c_str());
}

}  // namespace
}  // namespace perrin::python

NB_MODULE(_perrin, m) {
  using namespace perrin::python;
  check_build();
  nb::set_leak_warnings(false);  // functions of a user may form circles until the very end
  nb::register_exception_translator(translate);
  bind_state(m);
  bind_session(m);
#ifdef PERRIN_CUDA
  bind_captured_force(m);
#endif
  m.def(
      "job_text",
      [](const std::string& file) { return perrin::JsonFile::read(file).value().dump(); },
      nanobind::arg("file"), "a job file as JSON without comments");
  m.def("schema", schema, "the JSON Schema of jobs, as text");
  m.def("run_ensemble", ensemble, nb::arg("file"), nb::arg("text"), nb::arg("device"),
        nb::arg("threads"), nb::arg("folder"), nb::arg("overwrite"), nb::arg("quiet"));
  m.def("resume_ensemble", resumed_ensemble, nb::arg("folder"), nb::arg("sets"),
        nb::arg("more_steps"), nb::arg("device"), nb::arg("threads"), nb::arg("quiet"));
  m.def("program", program, nb::arg("arguments"), "the program perrin: its exit status");
  m.def("cuda_count", [] { return perrin::cuda_device_count(); });
  m.attr("version") = perrin::engine_version();
  m.attr("build") = perrin::build_tag();
}
