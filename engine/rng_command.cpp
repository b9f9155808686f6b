#include "engine/rng_command.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "rng/word_source.h"

namespace perrin {

static_assert(std::endian::native == std::endian::little,
              "words are written as they lie in memory");

int rng_command(int argc, char** argv) {
  CLI::App app("Writes raw 32-bit words (little-endian) to standard output, for test batteries",
               "perrin rng");
  WordSourceSettings settings;
  std::uint64_t count = 0;
  bool list = false;
  app.add_option("name", settings.generator, "generator");
  app.add_option("--seed", settings.seed, "64-bit seed");
  app.add_option("--scheme", settings.scheme,
                 "keyed, phillips, state or shared (default: the generator's usual one)");
  app.add_option("--pattern", settings.pattern,
                 "particles, particle, pairs, rows, columns or sequence");
  app.add_option("--count", count, "number of words (default: without end)")
      ->check(CLI::PositiveNumber);
  app.add_flag("--list", list, "print the names of the generators");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  if (list) {
    for (const std::string& name : word_source_generators()) std::printf("%s\n", name.c_str());
    return 0;
  }
  try {
    WordSource source(settings);
    if (isatty(STDOUT_FILENO))
      throw UserError("perrin rng writes binary words: pipe them into a program or a file");
    std::vector<std::uint32_t> words(1 << 16);
    for (std::uint64_t left = count; count == 0 || left > 0;) {
      const std::size_t n =
          count == 0 ? words.size() : std::size_t(std::min<std::uint64_t>(left, words.size()));
      source.fill(words.data(), n);
      if (std::fwrite(words.data(), 4, n, stdout) != n) {
        if (errno == EPIPE) return 0;  // the reader has had enough
        throw RunError(std::string("cannot write to standard output: ") + std::strerror(errno));
      }
      left -= n;
    }
    if (std::fflush(stdout) != 0 && errno != EPIPE)
      throw RunError(std::string("cannot write to standard output: ") + std::strerror(errno));
    return 0;
  } catch (const UserError& e) {
    std::fprintf(stderr, "perrin rng: %s\n", e.what());
    return 2;
  } catch (const RunError& e) {
    std::fprintf(stderr, "perrin rng: %s\n", e.what());
    return 3;
  }
}

}  // namespace perrin
