// A file of frames (H5MD) that an observer or a stage owns, plug-ins' too.
#pragma once

#include <utility>

#include "io/h5md_file.h"
#include "io/output_file.h"

namespace perrin::io {

class FrameFile : public OutputFile<H5mdWriter> {
 public:
  /// `path`: what Setup::output_file() returned. `author`: instead of the job's; empty: that.
  FrameFile(std::filesystem::path path, const H5mdLayout& layout, const Setup& setup,
            const Units& units, const std::string& author = {});

  const H5mdLayout& layout() const { return layout_; }
  /// Makes the file with all that does not change of a configuration, or, resumed, cuts that of the
  /// run before to the frames of the checkpoint (the configuration is not looked at). Does nothing
  /// where it is open. Throws UserError as ObservableFile::open() does.
  void open(bool resumed, const Configuration& configuration);
  /// Queues a frame; nothing where the last one is that of this step.
  void append(H5mdFrame frame);
  /// Throws UserError where a resumed run has other frames.
  void state(Archive& archive);

 private:
  H5mdLayout layout_;
};

}  // namespace perrin::io
