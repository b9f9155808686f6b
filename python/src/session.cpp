#include "python/src/session.h"

#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <unistd.h>

#include <limits>

#include "app/job_files.h"
#include "engine/job/compile_plugin.h"
#include "engine/run/warnings_heard.h"
#include "io/writer.h"

namespace perrin::python {
namespace {

constexpr std::uint64_t no_end = std::numeric_limits<std::uint64_t>::max();

/// The process that made the first session; its threads and its GPU are not a child's.
pid_t first_user = 0;

void check_process() {
  if (first_user == 0) first_user = getpid();
  if (getpid() != first_user)
    throw RunError(
        "Perrin was used before this process was forked: start processes with "
        "multiprocessing.get_context(\"spawn\"), or use Perrin only in the children");
}

std::optional<ResumedJob> resumed_job(const Session::Source& source) {
  check_process();
  if (!source.is_checkpoint) return {};
  ResumedJob resumed = read_resumed_job(source.file, source.sets, source.more_steps);
  if (resumed.complete)
    throw UserError(
        fmt::format("{}: this run is complete; extend it by resume(…, more_steps=N)", source.file));
  return resumed;
}

JsonFile job_file(const Session::Source& source, const std::optional<ResumedJob>& resumed) {
  if (resumed) return resumed->file;
  JsonFile json =
      source.text.empty() ? JsonFile::read(source.file) : JsonFile::parse(source.text, "job");
  for (const auto& assignment : source.sets) json.set(from_start(json.value(), assignment));
  return json;
}

JobOptions options_of(const Session::Source& source, const std::optional<ResumedJob>& resumed,
                      JobOptions options) {
  const auto checkpoint = options.default_checkpoint;
  options.job_directory = source.text.empty() ? folder_of(source.file) : std::filesystem::path(".");
  if (source.text.empty() && !resumed) options.job_file = source.file;
  if (resumed) continue_options(*resumed, options, source.other_output_directory);
  // Where they are now: os.chdir() may come before they are used.
  for (auto* folder :
       {&options.job_directory, &options.output_directory, &options.trusted_directory})
    if (!folder->empty()) *folder = std::filesystem::absolute(*folder).lexically_normal();
  if (!resumed || source.other_checkpoint) options.default_checkpoint = checkpoint;
  return options;
}

Job make_job(const JsonFile& file, bool is_text, Components& components, const JobOptions& options,
             const Functions& functions, Archive* restored) {
  say_what_is_compiled(!options.quiet);
  register_python_force(components.registry, functions);
  try {
    return Job(file, components.registry, components.plugins, options, restored);
  } catch (const MistakesError& e) {
    if (!is_text) throw;
    auto list = e.list;
    for (Problem& p : list) p.place.clear(), p.line = 0;
    throw MistakesError(list);
  }
}

Functions functions_of(const nb::list& list, nb::handle owner) {
  const auto functions = std::make_shared<JobFunctions>();
  for (const nb::handle f : list) functions->list.push_back(nb::borrow(f));
  functions->owner = owner;
  return functions;
}

}  // namespace

/// Calls the callbacks of a session: an observer whose next step is looked up every time.
class Session::Observing : public Observer {
 public:
  explicit Observing(Session& session) : session_(session) {}
  /// So that the next multiple of it is the step of the next call.
  std::int64_t stride() const override { return session_.next_call(); }
  void observe(const Observation&) override { session_.call_due(); }

 private:
  Session& session_;
};

Session::Session(const Source& source, nb::handle self, nb::list functions, JobOptions options)
    : resumed_(resumed_job(source)),
      file_(job_file(source, resumed_)),
      options_(options_of(source, resumed_, std::move(options))),
      functions_(functions_of(functions, self)),
      restored_(resumed_ ? std::optional(Archive::restoring(resumed_->checkpoint.records))
                         : std::nullopt),
      job_(make_job(file_, !source.text.empty(), components_, options_, functions_,
                    restored_ ? &*restored_ : nullptr)),
      log_(job_, source.command, source.always_logs),
      present_(job_.context().configuration ? *job_.context().configuration : Configuration()) {
  if (!job_.context().outputs.empty()) take_folders(job_, *locks_);
  RunParts parts = job_.take_parts();
  parts.log = log_.lines();
  parts.write_checkpoint = checkpoint_writer(job_, options_, timings_);
  parts.interrupted = [this] {
    interrupt_if_asked();
    return interrupted_.load();
  };
  parts.observers.push_back(std::make_unique<Observing>(*this));
  run_ = std::make_unique<Run>(std::move(parts), job_.control());
  if (restored_) run_->restore(std::move(*restored_));
  timings_ = log_.facts(*run_);
}

Session::~Session() {
  if (!use_.of_this_process()) {
    // What the parent's threads work on stays as it is.
    (void)run_.release();
    (void)locks_.release();
    return;
  }
  try {
    close(false);
  } catch (const std::exception&) {
    // It cannot be reported here; close() reports it to its callers.
  }
}

/// On the thread that runs, without the lock of the interpreter.
void Session::interrupt_if_asked() {
  const nb::gil_scoped_acquire gil;
  if (PyErr_CheckSignals() == 0) return;
  thrown_ = std::make_exception_ptr(nb::python_error());
  interrupt();
}

void Session::interrupt() { interrupted_ = true; }

/// Without the lock of the interpreter.
bool Session::execute() {
  const WarningsHeard heard(
      [this](const std::string& line) { hear(WarningsHeard::without_mark(line)); });
  log_.begin_steps();
  const bool complete = run_->execute();
  log_.end_steps();
  return complete;
}

/// A run goes on without a log that cannot be written.
void Session::open_log() {
  try {
    log_.begin(*run_);
  } catch (const UserError& e) {
    hear(fmt::format("{}; the run goes on without one", e.what()));
  }
}

/// It becomes a warning of Python, which may be an error there, as that of a callback.
void Session::hear(const std::string& warning) {
  const nb::gil_scoped_acquire gil;
  told_.push_back(warning);
  try {
    nb::module_::import_("perrin.errors").attr("warn")(warning);
  } catch (nb::python_error&) {
    if (!thrown_) thrown_ = std::current_exception();
    interrupt();
  }
}

bool Session::run(std::uint64_t to) {
  use_.check();
  if (broken_) throw RunError("this simulation ended with an error");
  if (closed_) throw RunError("this simulation is closed");
  if (complete_) return true;
  use_.begin();
  select(job_.context().device);
  interrupted_ = false;
  if (!std::exchange(started_, true)) open_log();
  run_->pause_at(to);
  try {
    const nb::gil_scoped_release released;
    complete_ = execute();
    if (complete_) end();
  } catch (const std::exception& e) {
    use_.end();
    broken_ = true;
    log_.failed(e.what());
    try {
      end();
    } catch (const std::exception&) {  // the first error is the one to be told
    }
    throw;
  }
  use_.end();
  if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
  return complete_;
}

void Session::begin() {
  if (!started_ && !closed_ && has_system()) run(run_->simulation().step());
}

/// All files are closed with the run: whatever that says is thrown.
void Session::end(bool goes_on) {
  if (std::exchange(ended_, true)) return;
  if (started_ && !broken_) log_.end(*run_, complete_, goes_on);
  run_->close_files();
  io::writer().flush_and_wait();
  locks_.reset();
}

void Session::close(bool goes_on) {
  use_.check();
  if (use_.running()) throw RunError("this simulation is running: a callback cannot close it");
  closed_ = true;
  select(job_.context().device);
  const nb::gil_scoped_release released;
  if (!ended_ && started_) {
    interrupted_ = false;
    job_.control().request_stop("the program that drives it");
    run_->pause_at(no_end);
    execute();
  }
  end(goes_on);
}

State Session::state(nb::handle owner) {
  use_.check();
  return {run_->simulation(), present_, owner, use_};
}

void Session::write_checkpoint(const std::string& path) {
  begin();
  if (use_.running() || complete_ || closed_ || broken_)
    throw RunError(
        "a checkpoint needs a run that is not complete, and can be written only between steps");
  job_.control().request_checkpoint(options_.output_directory / path);
  run_->observe();  // no callback is called twice at a step
}

std::int64_t Session::add_callback(std::int64_t stride, nb::object function) {
  if (stride < 1) throw UserError(fmt::format("every(): must be at least 1, got {}", stride));
  if (started_) called_step_ = run_->simulation().step();  // its observers have been called
  callbacks_.push_back({stride, ++callbacks_made_, std::move(function)});
  return callbacks_made_;
}

void Session::remove_callback(std::int64_t number) {
  std::erase_if(callbacks_, [&](const Callback& c) { return c.number == number; });
}

/// At the step of a call it has to be a divisor of it, before the call, and beyond it afterwards.
std::int64_t Session::next_call() const {
  if (callbacks_.empty()) return 0;
  const std::uint64_t step = run_->simulation().step();
  std::uint64_t next = no_end;
  for (const Callback& c : callbacks_) {
    const auto stride = std::uint64_t(c.stride);
    if (step % stride == 0 && called_step_ != step) return c.stride;
    next = std::min(next, (step / stride + 1) * stride);
  }
  return std::int64_t(next);
}

void Session::call_due() {
  const std::uint64_t step = run_->simulation().step();
  called_step_ = step;
  const nb::gil_scoped_acquire gil;
  const auto callbacks = callbacks_;  // a callback may add and remove some
  for (const Callback& c : callbacks) {
    if (step % std::uint64_t(c.stride) != 0) continue;
    try {
      c.function();
    } catch (nb::python_error&) {
      // The others are called all the same; the first error is told when the step is done.
      if (!thrown_) thrown_ = std::current_exception();
      interrupt();
    }
  }
  select(job_.context().device);  // a callback may have chosen another one
}

int Session::traverse(visitproc visit, void* arg) {
  for (const Callback& c : callbacks_) Py_VISIT(c.function.ptr());
  for (const nb::object& f : functions_->list) Py_VISIT(f.ptr());
  return 0;
}

void Session::clear() {
  callbacks_.clear();
  functions_->list.clear();
}

namespace {

int traverse_session(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  return nb::inst_ready(self) ? nb::inst_ptr<Session>(self)->traverse(visit, arg) : 0;
}

int clear_session(PyObject* self) {
  if (nb::inst_ready(self)) nb::inst_ptr<Session>(self)->clear();
  return 0;
}

PyType_Slot slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse_session)},
                       {Py_tp_clear, reinterpret_cast<void*>(clear_session)},
                       {0, nullptr}};

void make_session(nb::pointer_and_handle<Session> self, const std::string& file,
                  const std::string& text, const std::vector<std::string>& sets, nb::list functions,
                  const std::string& device, int threads, const std::string& output_directory,
                  bool overwrite, bool quiet, const std::string& checkpoint,
                  const std::string& command, bool always_logs) {
  JobOptions options;
  options.device = device, options.threads = threads;
  options.output_directory = output_directory;
  options.default_checkpoint = checkpoint;
  options.overwrite = overwrite, options.quiet = quiet;
  Session::Source source;
  source.file = file, source.text = text, source.sets = sets;
  source.command = command, source.always_logs = always_logs;
  new (self.p) Session(source, self.h, std::move(functions), std::move(options));
}

/// From a checkpoint. Without an output directory or a device: as before.
void resume_session(nb::pointer_and_handle<Session> self, const std::string& checkpoint,
                    const std::vector<std::string>& sets, nb::list functions,
                    const std::string& device, int threads, const std::string& output_directory,
                    bool quiet, std::int64_t more_steps,
                    const std::optional<std::string>& new_checkpoint, const std::string& command,
                    bool always_logs) {
  JobOptions options;
  options.device = device, options.threads = threads, options.quiet = quiet;
  options.output_directory = output_directory;
  options.default_checkpoint = new_checkpoint.value_or("");
  const Session::Source source{checkpoint,
                               "",
                               sets,
                               true,
                               more_steps,
                               !output_directory.empty(),
                               new_checkpoint.has_value(),
                               command,
                               always_logs};
  new (self.p) Session(source, self.h, std::move(functions), std::move(options));
}

}  // namespace

void bind_session(nb::module_& m) {
  nb::class_<Session>(m, "Session", nb::type_slots(slots), "A job that is run from outside.")
      .def("__init__", make_session, nb::arg("file"), nb::arg("text"), nb::arg("sets"),
           nb::arg("functions"), nb::arg("device"), nb::arg("threads"), nb::arg("output_directory"),
           nb::arg("overwrite"), nb::arg("quiet"), nb::arg("checkpoint"), nb::arg("command"),
           nb::arg("always_logs"))
      .def("__init__", resume_session, nb::kw_only(), nb::arg("resumed"), nb::arg("sets"),
           nb::arg("functions"), nb::arg("device"), nb::arg("threads"), nb::arg("output_directory"),
           nb::arg("quiet"), nb::arg("more_steps"), nb::arg("checkpoint") = nb::none(),
           nb::arg("command"), nb::arg("always_logs"))
      .def("run", &Session::run, nb::arg("to"), "runs up to this step; true: the job is complete")
      .def("interrupt", &Session::interrupt)
      .def("begin", &Session::begin)
      .def("close", &Session::close, nb::arg("goes_on") = false)
      .def("checkpoint", &Session::write_checkpoint, nb::arg("path"))
      .def_prop_ro("complete", &Session::complete)
      .def_prop_ro("has_system", &Session::has_system)
      .def_prop_ro("warnings", [](const Session& s) { return s.job().warnings(); })
      .def_prop_ro("told", &Session::told)
      .def_prop_ro("checkpoint_path", &Session::checkpoint_path)
      .def_prop_ro("summary", [](const Session& s) { return s.job().summary(); })
      .def_prop_ro(
          "units",
          [](const Session& s) {
            const Units& u = s.job().context().units;
            return std::vector{u.length, u.mass, u.time};
          },
          "of length, mass and time; empty texts in reduced units")
      .def_prop_ro("job_text", [](const Session& s) { return s.job().record().job; })
      .def(
          "state", [](nb::handle self) { return nb::cast<Session&>(self).state(self); },
          nb::keep_alive<0, 1>())
      .def("add_callback", &Session::add_callback, nb::arg("stride"), nb::arg("function"))
      .def("remove_callback", &Session::remove_callback, nb::arg("number"));
}

}  // namespace perrin::python
