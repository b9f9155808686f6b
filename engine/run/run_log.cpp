#include "engine/run/run_log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "engine/base/error.h"

namespace perrin {
namespace {

/// A descriptor of the file itself, at its end; -1 and errno: there is none to be had.
int open_to_append(const std::filesystem::path& file) {
  // A folder may be another user's: no link is followed, no pipe waited for.
  const int opened =
      open(file.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
  struct stat of = {};
  if (opened < 0 || (fstat(opened, &of) == 0 && S_ISREG(of.st_mode))) return opened;
  close(opened);
  errno = EINVAL;
  return -1;
}

}  // namespace

RunLog::RunLog(const std::filesystem::path& file) {
  const int opened = open_to_append(file);
  if (opened >= 0) file_.reset(fdopen(opened, "a"));
  if (!file_)
    throw UserError(
        fmt::format("{}: cannot open the log: {}", file.string(), std::strerror(errno)));
}

void RunLog::put(const std::string& text) {
  if (!file_ || text.empty()) return;
  std::fputs(text.c_str(), file_.get());
  if (text.back() != '\n') std::fputc('\n', file_.get());
  std::fflush(file_.get());
}

}  // namespace perrin
