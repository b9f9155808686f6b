// perrin-bench state-words: words of its state that each generator reads and writes to draw one,
// three (what a Brownian step draws) and four numbers, on the host (Zhmurov et al. 2011, Table 1).
#include "tests/benchmarks/bench.h"
#include "tests/benchmarks/state_words.h"

namespace perrin::bench {
namespace {

void print(const char* generator, std::int64_t words_kept,
           const std::function<StateWords(int)>& touched, const char* published) {
  nlohmann::json line = {{"subject", "state-words"}, {"generator", generator}};
  if (words_kept > 0) line["bytes_per_thread"] = 4 * words_kept;
  for (const int numbers : {1, 3, 4}) {
    const StateWords words = touched(numbers);
    line["read_write_" + std::to_string(numbers)] = {words.read, words.written};
  }
  if (*published) line["published_1_4"] = published;
  print_line(line);
}

template <class G>
void print_of(const char* published = "") {
  print(PerParticle<G>::name, PerParticle<G>::words, state_words_of<G>, published);
}

}  // namespace

int state_words(const Options&) {
  print_of<Lcg>("1/1, 1/1");
  print_of<HybridTaus>("4/4, 4/4");
  print_of<Ran2>("4/4, 7/7");
  print("lagged_fibonacci", 0, state_words_of_lagged_fibonacci, "3/1, 12/4");
  print_of<Saru>();
  print_of<ParkMiller>();
  print_of<Mt607Generator>();
  print_of<Xorwow>();
  return 0;
}

}  // namespace perrin::bench
