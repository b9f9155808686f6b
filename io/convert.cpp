#include "io/convert.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <iostream>

#include "engine/error.h"
#include "io/formats.h"
#include "io/h5md_file.h"

namespace perrin {
namespace {

io::Format choose(const std::string& name, const std::string& path, bool existing) {
  return name == "auto" ? io::guess_format(path, existing) : io::format_of_name(name);
}

}  // namespace

long long convert(const ConvertOptions& options) {
  const io::Format from = choose(options.from, options.in, true);
  const io::Format to = choose(options.to, options.out, false);
  if (!options.overwrite && ::access(options.out.c_str(), F_OK) == 0)
    throw UserError(options.out + ": exists; --overwrite replaces it");
  const auto reader = io::open_frames(options.in, from);
  std::int64_t first = 0, end = reader->frames();
  if (options.frame || to == io::Format::lammps) {
    const std::int64_t wanted = options.frame.value_or(-1);
    first = wanted < 0 ? end + wanted : wanted;
    end = first + 1;
  }
  io::Frame frame = io::read_frame(*reader, options.in, first);
  const std::string aside = io::name_aside(options.out);
  ::unlink(aside.c_str());
  try {
    const auto writer = io::make_frame_writer(aside, to, frame);
    writer->write(frame);
    for (std::int64_t k = first + 1; k < end; ++k) writer->write(reader->read(k));
    writer->finish();
  } catch (...) {
    ::unlink(aside.c_str());
    throw;
  }
  io::move_into_place(aside, options.out, options.overwrite);
  return end - first;
}

int convert_command(int argc, char** argv) {
  CLI::App app(
      "Converts configurations and trajectories between H5MD, GSD, LAMMPS data and "
      "extended XYZ",
      "perrin convert");
  ConvertOptions options;
  std::vector<std::string> formats = io::format_names();
  formats.push_back("auto");
  app.add_option("IN", options.in, "file to be read")->required();
  app.add_option("OUT", options.out, "file to be made")->required();
  app.add_option("--frame", options.frame,
                 "one frame, from 0; negative from the end (default: all; LAMMPS data: the last)");
  app.add_option("--from", options.from, "format of IN: h5md, gsd, lammps, xyz")
      ->check(CLI::IsMember(formats));
  app.add_option("--to", options.to, "format of OUT")->check(CLI::IsMember(formats));
  app.add_flag("--overwrite", options.overwrite, "replace OUT where it exists");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  try {
    const long long frames = convert(options);
    std::cout << options.out << ": " << frames << (frames == 1 ? " frame\n" : " frames\n");
    return 0;
  } catch (const UserError& error) {
    std::cerr << error.what() << "\n";
    return 2;
  } catch (const RunError& error) {
    std::cerr << "perrin convert: " << error.what() << "\n";
    return 3;
  }
}

}  // namespace perrin
