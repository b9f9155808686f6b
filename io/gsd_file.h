// A file of frames in GSD with the schema hoomd that an observer owns.
//
// It opens at every moment, also after a kill: chunks are written before the entries of the index
// that say where they are, and the entries of a frame lie in one page of the operating system, so
// that they are written together or not at all. GSD file layer 2.0: the index is searched by
// (frame, name); an index that is full is copied to the end of the file with twice its room, before
// the header points there.
#pragma once

#include <string>
#include <vector>

#include "io/appended_file.h"
#include "io/gsd_layout.h"
#include "io/h5md_file.h"
#include "io/output_file.h"

namespace perrin::io {

struct GsdLayout {
  bool velocity = false, image = true;
  bool orientation = false, angular_momentum = false;  // the latter with orientations alone
  bool fine = false;           // positions and box in double precision: schema 2.0, else 1.4
  bool dynamic_bonds = false;  // in every frame, else in the first
  /// Particles come and go: frames have those whose H5mdFrame::id is not -1, with all that is
  /// theirs. There are no bonds.
  bool changing_number = false;
  /// As H5mdLayout has them: in every frame, else in the first.
  std::vector<std::string> changing_attributes{};
};

class GsdAppender {
 public:
  /// A file without frames, with room for what `configuration` and the layout need.
  static void create(const std::string& path, const Configuration& configuration,
                     const GsdLayout& layout, const JobRecord& record, bool overwrite);
  /// Cuts the file to `frames` frames, the last of which must be that of `last_step`. Throws
  /// UserError.
  static void trim(const std::string& path, const JobRecord& record, std::int64_t frames,
                   std::int64_t last_step);

  /// Opens for appending. What does not change comes with the first frame.
  GsdAppender(const std::string& path, const Configuration& configuration, const GsdLayout& layout,
              const JobRecord& record);
  void append(const H5mdFrame& frame);
  void flush_to_disk() { file_.sync(); }

 private:
  void write(const H5mdFrame& frame);
  void make_room(std::size_t entries);

  AppendedFile file_;
  gsd::Header header_{};
  GsdLayout layout_;
  Box box_;  // periodic axes and dimension
  std::vector<std::string> names_;
  std::vector<gsd::Chunk> constants_;  // until they are written
  Configuration all_;                  // where particles come and go: all that may be there
  std::size_t most_chunks_ = 0;        // of a frame, without these
  std::uint64_t frames_ = 0, entries_ = 0, end_ = 0;
};

class GsdFile : public OutputFile<GsdAppender> {
 public:
  /// `path`: what Setup::output_file() returned.
  GsdFile(std::filesystem::path path, const GsdLayout& layout, const Setup& setup);
  void open(bool resumed, const Configuration& configuration);
  /// Queues a frame, with its positions in double precision.
  void append(H5mdFrame frame);
  void state(Archive& archive);

 private:
  GsdLayout layout_;
};

}  // namespace perrin::io
