#include "engine/run/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "engine/base/printable.h"
#include "engine/run/warnings_heard.h"

namespace perrin {
namespace {

double seconds_between(std::chrono::steady_clock::time_point a,
                       std::chrono::steady_clock::time_point b) {
  return std::chrono::duration<double>(b - a).count();
}

constexpr double terminal_interval = 0.2;  // seconds between updates of the line
constexpr double plain_interval = 60;      // and between plain lines; also at every tenth

}  // namespace

std::string clock_text(double seconds) {
  const auto s = static_cast<std::int64_t>(std::llround(std::max(0.0, seconds)));
  if (s >= 3600) return fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
  return fmt::format("{}:{:02}", s / 60, s % 60);
}

void Progress::start(const std::string& stage, const std::string& unit, std::int64_t done,
                     std::int64_t total) {
  stage_ = printable_line(stage), unit_ = unit, first_ = done, total_ = total;
  begin_ = shown_at_ = plain_at_ = Clock::now();
  const double fraction = total > 0 ? double(done) / double(total) : 0;
  next_fraction_ = std::floor(10 * fraction + 1) / 10;
}

std::string Progress::line(std::int64_t done) const {
  const double seconds = seconds_between(begin_, Clock::now());
  const double rate = seconds > 0 ? double(done - first_) / seconds : 0;
  std::string text = fmt::format("{}: {} of {} {}", stage_, done, total_, unit_);
  if (total_ > 0)
    text += fmt::format(" ({:.0f} %)", std::floor(100 * double(done) / double(total_)));
  if (rate > 0) {
    text += fmt::format(", {:.{}f} {}/s", rate, rate < 10 ? 2 : rate < 1000 ? 1 : 0, unit_);
    if (done < total_) text += fmt::format(", {} left", clock_text(double(total_ - done) / rate));
  }
  return text;
}

void Progress::show(const std::string& text) {
  if (terminal_) {
    // The line is wiped and written in one go, so that it does not flicker.
    std::fputs(("\r\033[K" + text).c_str(), stdout);
    shown_ = text;
  } else {
    std::puts(text.c_str());
  }
  std::fflush(stdout);
}

void Progress::update(std::int64_t done) {
  if (quiet_ && log_ == nullptr) return;
  if (done == total_) return;  // finish() shows the end
  const auto now = Clock::now();
  const double since = seconds_between(plain_at_, now);
  const double fraction = total_ > 0 ? double(done) / double(total_) : 0;
  // A short run needs no plain lines in between.
  const bool plain = since >= plain_interval || (fraction >= next_fraction_ && since >= 5);
  if (plain) {
    while (next_fraction_ <= fraction) next_fraction_ += 0.1;
    plain_at_ = now;
    note(line(done));
  }
  if (quiet_) return;
  if (terminal_ ? seconds_between(shown_at_, now) < terminal_interval : !plain) return;
  shown_at_ = now;
  show(line(done));
}

void Progress::finish(std::int64_t done, const std::string& remark) {
  total_ = done;
  const std::string text = remark.empty() ? line(done) : line(done) + ", " + remark;
  note(text);
  if (quiet_) return;
  show(text);
  if (terminal_) {
    std::puts("");
    shown_.clear();
  }
}

void Progress::print(const std::string& text) {
  note(printable(text));
  if (WarningsHeard::tell(printable(text))) return;
  if (quiet_) {  // what may make numbers wrong is said all the same
    if (WarningsHeard::is_warning(text)) fmt::print(stderr, "{}\n", printable(text));
    return;
  }
  const std::string again = shown_;
  if (!again.empty()) std::fputs("\r\033[K", stdout);
  std::puts(printable(text).c_str());
  if (!again.empty()) std::fputs(again.c_str(), stdout);
  std::fflush(stdout);
}

void Progress::clear() {
  if (shown_.empty()) return;
  std::puts("");
  std::fflush(stdout);
  shown_.clear();
}

}  // namespace perrin
