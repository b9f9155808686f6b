#include "app/rng_command.h"

#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "rng/word_source.h"

namespace perrin {

static_assert(std::endian::native == std::endian::little,
              "words are written as they lie in memory");

void rng_command(const RngArguments& a) {
  if (a.list) {
    for (const std::string& name : word_source_generators()) std::printf("%s\n", name.c_str());
    return;
  }
  WordSource source({a.generator, a.scheme, a.pattern, a.seed});
  if (a.numbers.any()) return write_numbers(source, a.numbers, a.count);
  if (!a.numbers.method.empty() || !a.numbers.range.empty() || !a.numbers.box.empty())
    throw UserError("--method, --range and --box need --distribution, --density or --figure");
  if (isatty(STDOUT_FILENO))
    throw UserError(
        "perrin rng writes binary words: pipe them into a program or a file, or ask for numbers "
        "(--distribution)");
  std::vector<std::uint32_t> words(1 << 16);
  const auto check = [](bool written) {
    if (!written && errno != EPIPE)
      throw RunError(std::string("cannot write to standard output: ") + std::strerror(errno));
    return written;  // else the reader has had enough
  };
  for (std::uint64_t left = a.count; a.count == 0 || left > 0;) {
    const std::size_t n =
        a.count == 0 ? words.size() : std::size_t(std::min<std::uint64_t>(left, words.size()));
    source.fill(words.data(), n);
    if (!check(std::fwrite(words.data(), 4, n, stdout) == n)) return;
    left -= n;
  }
  check(std::fflush(stdout) == 0);
}

}  // namespace perrin
