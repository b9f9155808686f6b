// perrin-randomness: the battery over a generator of the library, or over words from standard
// input.
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <iostream>

#include "rng/word_source.h"
#include "tests/statistics/battery.h"

int main(int argc, char** argv) {
  using namespace perrin;
  CLI::App app(
      "Statistical tests of random words: birthday spacings, collision, gap, linear "
      "complexity, Hamming weight, matrix rank, serial pairs");
  WordSourceSettings settings;
  settings.generator.clear();
  double count = 1e9;
  bool json = false;
  app.add_option("name", settings.generator, "generator; without one, words come from stdin");
  app.add_option("--seed", settings.seed, "64-bit seed");
  app.add_option("--scheme", settings.scheme, "keyed, phillips, state, shared or shared:LAG");
  app.add_option("--pattern", settings.pattern,
                 "particles, particle, pairs, rows, columns or sequence");
  app.add_option("--count", count, "number of words")->check(CLI::Range(2e6, 1e12));
  app.add_flag("--json", json, "one line of JSON for each test");
  CLI11_PARSE(app, argc, argv);
  try {
    std::function<void(std::uint32_t*, std::size_t)> fill;
    std::unique_ptr<WordSource> source;
    if (settings.generator.empty()) {
      fill = [](std::uint32_t* words, std::size_t n) {
        if (std::fread(words, 4, n, stdin) != n)
          throw RunError("standard input ended before --count words");
      };
    } else {
      source = std::make_unique<WordSource>(settings);
      settings.scheme = source->scheme();
      fill = [&](std::uint32_t* words, std::size_t n) { source->fill(words, n); };
    }
    const auto start = std::chrono::steady_clock::now();
    const auto results = statistics::run_battery(fill, count);
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    int failed = 0, suspects = 0;
    for (const auto& r : results) {
      const bool fails = r.p < statistics::failing,
                 suspect = !fails && r.p < statistics::suspicious;
      failed += fails, suspects += suspect;
      const char* verdict = fails ? "FAIL" : suspect ? "suspicious" : "pass";
      if (json)
        std::printf(
            "{\"generator\": \"%s\", \"scheme\": \"%s\", \"pattern\": \"%s\", "
            "\"seed\": %llu, \"test\": \"%s\", \"numbers\": %.0f, \"statistic\": %.6g, "
            "\"p\": %.3g, \"verdict\": \"%s\"}\n",
            settings.generator.c_str(), settings.scheme.c_str(), settings.pattern.c_str(),
            static_cast<unsigned long long>(settings.seed), r.test.c_str(), r.numbers, r.statistic,
            r.p, verdict);
      else
        std::printf("%-42s %12.0f %14.6g  p = %-10.3g %s\n", r.test.c_str(), r.numbers, r.statistic,
                    r.p, verdict);
    }
    if (!json)
      std::printf("%zu tests, %d failed, %d suspicious, %.1f s\n", results.size(), failed, suspects,
                  seconds);
    return failed ? 1 : 0;
  } catch (const UserError& e) {
    std::cerr << "perrin-randomness: " << e.what() << "\n";
    return 2;
  } catch (const RunError& e) {
    std::cerr << "perrin-randomness: " << e.what() << "\n";
    return 3;
  }
}
