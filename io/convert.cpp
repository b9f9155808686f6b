#include "io/convert.h"

#include <unistd.h>

#include <set>

#include "engine/core/error.h"
#include "engine/settings/output_path.h"
#include "io/formats.h"
#include "io/new_file.h"

namespace perrin {
namespace {

io::Format choose(const std::string& name, const std::string& path, bool existing) {
  return name == "auto" ? io::guess_format(path, existing) : io::format_of_name(name);
}

}  // namespace

long long convert(const ConvertOptions& options) {
  const io::Format from = choose(options.from, options.in, true);
  const io::Format to = choose(options.to, options.out, false);
  if (const std::string what =
          why_not_writable(options.out, options.overwrite ? Existing::replaced : Existing::refused);
      !what.empty())
    throw UserError(what);
  const auto reader = io::open_frames(options.in, from);
  std::int64_t first = 0, end = reader->frames();
  if (options.frame || to->one_frame) {
    const std::int64_t wanted = options.frame.value_or(-1);
    first = wanted < 0 ? end + wanted : wanted;
    end = first + 1;
  }
  io::Frame frame = io::read_frame(*reader, options.in, first);
  // Beside a run, or another conversion: no lock, but a name of its own.
  io::NewFile place(options.out, "." + std::to_string(::getpid()));
  const auto writer = to->create(place.aside(), frame);
  std::set<std::string> lost;
  const auto write = [&](const io::Frame& f) {
    for (const std::string& what : io::losses(f, to))
      if (lost.insert(what).second && options.warn) options.warn(options.out + ": " + what);
    writer->write(f);
  };
  write(frame);
  for (std::int64_t k = first + 1; k < end; ++k) write(reader->read(k));
  writer->finish();
  place.put_in_place(options.overwrite);
  return end - first;
}

}  // namespace perrin
