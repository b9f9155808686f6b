// perrin-testu01: TestU01's batteries over a generator of the library. TestU01 (P. L'Ecuyer, R.
// Simard, ACM Trans. Math. Softw. 33, 22 (2007)) is no dependency of Perrin: scripts/testu01 builds
// both.
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <chrono>
#include <cstdio>
#include <iostream>
#include <numeric>

#include "rng/word_source.h"

extern "C" {
#include <bbattery.h>
#include <swrite.h>
#include <unif01.h>
}

namespace {

perrin::WordSource* words = nullptr;  // TestU01 calls a plain function

unsigned int next_word() { return words->next(); }
unsigned int next_reversed_word() {
  unsigned int x = words->next();
  x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
  x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
  x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
  return __builtin_bswap32(x);
}

}  // namespace

int main(int argc, char** argv) {
  using namespace perrin;
  CLI::App app(
      "TestU01's batteries over the words of a generator, one line of JSON for each p value");
  WordSourceSettings settings;
  std::string battery = "smallcrush";
  std::vector<int> tests;
  bool reversed = false;
  app.add_option("name", settings.generator, "generator")->required();
  app.add_option("--seed", settings.seed, "64-bit seed");
  app.add_option("--scheme", settings.scheme, "keyed, phillips, state, shared or shared:LAG");
  app.add_option("--pattern", settings.pattern,
                 "particles, particle, pairs, rows, columns or sequence");
  app.add_option("--battery", battery, "smallcrush, crush or bigcrush")
      ->check(CLI::IsMember({"smallcrush", "crush", "bigcrush"}));
  app.add_option("--tests", tests, "tests of the battery by number, as in 1,2,5 (default: all)")
      ->delimiter(',');
  app.add_flag("--reversed", reversed, "with the bits of every word in the opposite order");
  CLI11_PARSE(app, argc, argv);
  try {
    const int most = battery == "smallcrush" ? 10 : battery == "crush" ? 96 : 106;
    if (tests.empty()) {
      tests.resize(std::size_t(most));
      std::iota(tests.begin(), tests.end(), 1);
    }
    for (const int number : tests)
      if (number < 1 || number > most)
        throw UserError("--tests " + std::to_string(number) + ": " + battery + " has tests 1 to " +
                        std::to_string(most));
    swrite_Basic = FALSE;
    // Its reports go to standard output, too: to standard error with them.
    std::fflush(stdout);
    std::FILE* const out = fdopen(dup(STDOUT_FILENO), "w");
    dup2(STDERR_FILENO, STDOUT_FILENO);
    for (const int number : tests) {
      // Each test reads the stream from its beginning: what it finds depends on no other.
      WordSource source(settings);
      words = &source;
      std::string title = settings.generator + " " + source.scheme() + " " + settings.pattern;
      unif01_Gen* gen =
          unif01_CreateExternGenBits(title.data(), reversed ? next_reversed_word : next_word);
      std::vector<int> times(std::size_t(most) + 1, 0);
      times[std::size_t(number)] = 1;
      const auto start = std::chrono::steady_clock::now();
      if (battery == "smallcrush")
        bbattery_RepeatSmallCrush(gen, times.data());
      else if (battery == "crush")
        bbattery_RepeatCrush(gen, times.data());
      else
        bbattery_RepeatBigCrush(gen, times.data());
      unif01_DeleteExternGenBits(gen);
      const double seconds =
          std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      for (int k = 0; k < bbattery_NTests; ++k) {
        // TestU01 reports what lies outside of [0.001, 0.999]; beyond 1e-10 or so it is clear.
        const double p = bbattery_pVal[k], tail = p < 0.5 ? p : 1 - p;
        std::fprintf(out,
                     "{\"suite\": \"%s\", \"generator\": \"%s\", \"scheme\": \"%s\", \"pattern\": "
                     "\"%s\", \"seed\": %llu, \"reversed\": %s, \"number\": %d, \"test\": \"%s\", "
                     "\"p\": %.3g, \"seconds\": %.1f, \"verdict\": \"%s\"}\n",
                     battery.c_str(), settings.generator.c_str(), source.scheme().c_str(),
                     settings.pattern.c_str(), static_cast<unsigned long long>(settings.seed),
                     reversed ? "true" : "false", number, bbattery_TestNames[k], p, seconds,
                     tail < 1e-10  ? "FAIL"
                     : tail < 1e-3 ? "suspicious"
                                   : "pass");
      }
      std::fflush(out);
    }
    std::fclose(out);
    return 0;
  } catch (const std::exception& e) {
    std::cerr << "perrin-testu01: " << e.what() << "\n";
    return 2;
  }
}
