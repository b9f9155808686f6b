// From one describe(): parsing with every kind of mistake, the record, the schema, help.
#include "engine/settings/settings.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "engine/components/registry.h"
#include "engine/formula/parse.h"
#include "engine/settings/settings_parse.h"
#include "engine/settings/settings_schema.h"

namespace perrin {
namespace {

struct Inner {
  double sigma = 1;
  std::string name = "A";
};
template <class D>
void describe(D& d, Inner& s) {
  d.required("sigma", s.sigma, Positive{}, "length");
  d.optional("name", s.name, Any{}, "a name");
}

/// Settings of which one is needed.
struct Either {
  std::optional<std::string> potential, energy;
};
template <class D>
void describe(D& d, Either& s) {
  d.optional("potential", s.potential, Any{}, "a name");
  d.optional("energy", s.energy, Any{}, "a formula");
  d.any_of({"potential", "energy"});
}

struct Outer {
  bool flag = false;
  std::int32_t small = 3;
  std::int64_t steps = 0;
  std::uint64_t seed = 0;
  double cutoff = 2.5, fraction = 0.5;
  std::string rng = "saru";
  Vec3<double> direction{0, 0, 1};
  std::array<int, 2> pair{1, 2};
  std::vector<Inner> list;
  std::optional<double> maybe;
  std::map<std::string, double> by_name;
  std::vector<std::string> words{"bonds"};
  Json anything = nullptr;
};
template <class D>
void describe(D& d, Outer& s) {
  d.optional("flag", s.flag, Any{}, "a switch");
  d.optional("small", s.small, Any{}, "a small number");
  d.optional("steps", s.steps, NonNegative{}, "steps");
  d.optional("seed", s.seed, Any{}, "seed");
  d.required("cutoff", s.cutoff, Positive{}, "cut-off");
  d.optional("fraction", s.fraction, Between{0, 1}, "a fraction");
  d.optional("rng", s.rng, OneOf{"saru", "tea", "philox"}.formerly("tiny", "tea"), "generator");
  d.gone("slow", false, "nothing is slow");
  d.optional("direction", s.direction, Any{}, "a vector");
  d.optional("pair", s.pair, Any{}, "two numbers");
  d.optional("list", s.list, Any{}, "inner things");
  d.optional("maybe", s.maybe, Positive{}, "may be absent");
  d.optional("by_name", s.by_name, NonNegative{}, "by name");
  d.optional("words", s.words, OneOf{"bonds", "angles"}, "words");
  d.optional("anything", s.anything, Any{}, "anything");
}

struct Parsed {
  Outer settings;
  Problems problems;
  std::string notes;
  std::string text() const {
    std::string all;
    for (const auto& p : problems.list()) all += p.text() + "\n";
    return all;
  }
};

Parsed parse(const std::string& text) {
  Parsed result;
  const Registry registry;
  const auto file = JsonFile::parse(text, "job.json");
  SettingsParser parser(
      registry,
      [&](const std::string& path, const std::string& what) {
        result.problems.add(file.problem(path, what));
      },
      [&](const std::string& path, const std::string& what) {
        result.notes += path + ": " + what + "\n";
      });
  parser.compute_with(formula::value_of_numbers);
  parser.parse(file.value(), "", result.settings);
  return result;
}

TEST(Settings, KeysAndValuesOfEarlierVersions) {
  const auto p = parse(R"({"cutoff": 3, "rng": "tiny", "slow": false})");
  EXPECT_EQ(p.text(), "");
  EXPECT_EQ(p.settings.rng, "tea");
  EXPECT_EQ(p.notes,
            "rng: \"tiny\" is now called \"tea\"\n"
            "slow: this key has been removed, leave it out: nothing is slow\n");
  EXPECT_EQ(parse(R"({"cutoff": 3, "slow": true})").text(),
            "job.json:1: slow: this key has been removed, expected false or nothing, got true: "
            "nothing is slow\n");
}

TEST(Settings, ReadsEveryKindOfField) {
  const auto p = parse(R"({"flag": true, "small": -7, "steps": 1e6, "seed": 18446744073709551615,
    "cutoff": 3, "fraction": 1, "rng": "tea", "direction": [1, 2.5, -3], "pair": [4, 5],
    "list": [{"sigma": 2}, {"sigma": 3, "name": "B"}], "maybe": 0.25, "by_name": {"A": 1, "B": 2},
    "words": ["angles", "bonds"], "anything": {"x": [1]}})");
  EXPECT_EQ(p.text(), "");
  const Outer& s = p.settings;
  EXPECT_TRUE(s.flag);
  EXPECT_EQ(s.small, -7);
  EXPECT_EQ(s.steps, 1000000);
  EXPECT_EQ(s.seed, 18446744073709551615u);
  EXPECT_EQ(s.cutoff, 3);
  EXPECT_EQ(s.fraction, 1);
  EXPECT_EQ(s.rng, "tea");
  EXPECT_EQ(s.direction, (Vec3<double>{1, 2.5, -3}));
  EXPECT_EQ(s.pair[1], 5);
  ASSERT_EQ(s.list.size(), 2u);
  EXPECT_EQ(s.list[0].name, "A");
  EXPECT_EQ(s.list[1].sigma, 3);
  EXPECT_EQ(s.maybe, 0.25);
  EXPECT_EQ(s.by_name.at("B"), 2);
  EXPECT_EQ(s.words.front(), "angles");
  EXPECT_EQ(s.anything["x"][0], 1);
}

TEST(Settings, NumbersMayBeFormulasOfNumbers) {
  const auto p = parse(R"_({"cutoff": "2^(1/6)", "steps": "2*10^3", "maybe": "sqrt(2)",
    "fraction": "a/4; a = 3", "direction": ["-pi", 2, "1e-3"], "by_name": {"A": "1/3"}})_");
  EXPECT_EQ(p.text(), "");
  EXPECT_DOUBLE_EQ(p.settings.cutoff, std::pow(2.0, 1.0 / 6));
  EXPECT_EQ(p.settings.steps, 2000);
  EXPECT_DOUBLE_EQ(*p.settings.maybe, std::sqrt(2.0));
  EXPECT_EQ(p.settings.fraction, 0.75);
  EXPECT_DOUBLE_EQ(p.settings.direction.x, -std::numbers::pi);
  EXPECT_DOUBLE_EQ(p.settings.by_name.at("A"), 1.0 / 3);
  EXPECT_EQ(parse(R"({"cutoff": "1 - 2"})").text(),
            "job.json:1: cutoff: must be positive, got -1.0\n");
  EXPECT_EQ(parse(R"({"cutoff": "long"})").text(),
            "job.json:1: cutoff: must be a number, positive, got the text \"long\"\n");
  EXPECT_EQ(
      parse(R"({"cutoff": "2*sigma"})").text(),
      "job.json:1: cutoff: must be a number, positive, got the text \"2*sigma\" (as a formula of "
      "numbers: \"sigma\" is no number)\n");
  EXPECT_EQ(parse(R"({"cutoff": "1/0"})").text().find("job.json:1: cutoff: must be a number, "),
            0u);
  EXPECT_EQ(parse(R"({"cutoff": 1, "steps": "1/3"})").text(),
            "job.json:1: steps: must be an integer, got 0.3333333333333333\n");
}

TEST(Settings, LeavesDefaultsAlone) {
  const auto p = parse(R"({"cutoff": 1})");
  EXPECT_EQ(p.text(), "");
  EXPECT_EQ(p.settings.small, 3);
  EXPECT_FALSE(p.settings.maybe.has_value());
  EXPECT_EQ(p.settings.words.size(), 1u);
}

TEST(Settings, ReportsAllMistakesTogether) {
  const auto p = parse(
      "{\"cutoff\": -2.5,\n\"fracton\": 0.5,\n\"rng\": \"sari\",\n\"small\": 1.5,\n"
      "\"list\": [{\"name\": 3}],\n\"direction\": [1, 2, 3, 4]}");
  EXPECT_EQ(
      p.text(),
      "job.json:4: small: must be an integer, got 1.5\n"
      "job.json:1: cutoff: must be positive, got -2.5\n"
      "job.json:3: rng: must be one of saru, tea, philox, got the text \"sari\"; did you mean "
      "\"saru\"?\n"
      "job.json:6: direction: must be a list of 3 numbers (in two dimensions: 2 or 3), got the "
      "list "
      "[1,2,3,4]\n"
      "job.json:5: list[0]: the key \"sigma\" is missing: a number, positive (length)\n"
      "job.json:5: list[0].name: must be text, got 3\n"
      "job.json:2: fracton: unknown key; did you mean \"fraction\"?\n");
  // In the order of the file when they are shown.
  try {
    p.problems.throw_if_any();
    FAIL();
  } catch (const UserError& e) {
    EXPECT_EQ(std::string(e.what()).rfind("job.json:1: cutoff", 0), 0u);
  }
}

TEST(Settings, IntegersAreExactAndInRange) {
  for (const char* bad :
       {"2147483648", "-2147483649", "1e10", "0.5", "\"a\"", "true", "[1]", "null"})
    EXPECT_NE(parse(std::string(R"({"cutoff": 1, "small": )") + bad + "}").text(), "") << bad;
  EXPECT_EQ(parse(R"({"cutoff": 1, "small": 2147483647})").settings.small, 2147483647);
  EXPECT_EQ(parse(R"({"cutoff": 1, "small": -2147483648})").settings.small, -2147483648);
  for (const char* bad : {"-1", "18446744073709551616", "1e17"})
    EXPECT_NE(parse(std::string(R"({"cutoff": 1, "seed": )") + bad + "}").text(), "") << bad;
  EXPECT_NE(parse(R"({"cutoff": 1, "steps": -1})").text(), "");
}

TEST(Settings, BoundsHoldAtTheirEdges) {
  EXPECT_NE(parse(R"({"cutoff": 0})").text(), "");
  EXPECT_EQ(parse(R"({"cutoff": 1e-37, "fraction": 0, "steps": 0})").text(), "");
  EXPECT_EQ(parse(R"({"cutoff": 1e37})").text(), "");
  // Beyond what single precision holds.
  for (const char* extreme : {"1e-38", "1e-320", "1.1e37", "1e300"})
    EXPECT_NE(parse(std::string(R"({"cutoff": )") + extreme + "}").text(), "") << extreme;
  EXPECT_NE(parse(R"({"cutoff": 1, "fraction": 1.0000001})").text(), "");
  EXPECT_NE(parse(R"({"cutoff": 1, "by_name": {"A": -1}})").text(), "");
  EXPECT_NE(parse(R"({"cutoff": 1, "maybe": 0})").text(), "");
  EXPECT_EQ(parse(R"({"cutoff": 1, "maybe": null})").text(), "");
}

TEST(Settings, TheRecordIsAJobAgain) {
  const auto p = parse(R"({"cutoff": 0.1, "list": [{"sigma": 2}], "by_name": {"A": 1}})");
  const Json once = record(p.settings);
  EXPECT_EQ(once["rng"], "saru");
  EXPECT_EQ(once["list"][0]["name"], "A");
  const auto again = parse(once.dump());
  EXPECT_EQ(again.text(), "");
  EXPECT_EQ(record(again.settings), once);
}

TEST(Settings, TheSchemaSaysTheSame) {
  const Json s = schema<Outer>();
  EXPECT_EQ(s["additionalProperties"], false);
  EXPECT_EQ(s["required"], Json::array({"cutoff"}));
  EXPECT_EQ(s["properties"]["cutoff"]["exclusiveMinimum"], 0);
  EXPECT_FALSE(s["properties"]["cutoff"].contains("default"));
  EXPECT_EQ(s["properties"]["fraction"]["maximum"], 1.0);
  EXPECT_EQ(s["properties"]["rng"]["enum"].size(), 3u);
  EXPECT_EQ(s["properties"]["rng"]["default"], "saru");
  EXPECT_EQ(s["properties"]["direction"]["minItems"], 2);
  EXPECT_EQ(s["properties"]["words"]["items"]["enum"].size(), 2u);
  EXPECT_EQ(s["properties"]["list"]["items"]["required"], Json::array({"sigma"}));
  EXPECT_EQ(s["properties"]["by_name"]["additionalProperties"]["minimum"], 0);
}

TEST(Settings, OneOfSeveralKeysIsNeeded) {
  const auto mistakes = [](const char* text) {
    Either settings;
    std::string all;
    const Registry registry;
    SettingsParser(registry, [&](const std::string& path, const std::string& what) {
      all += path + ": " + what;
    }).parse(Json::parse(text), "", settings);
    return all;
  };
  EXPECT_EQ(mistakes(R"({"energy": "r"})"), "");
  EXPECT_EQ(mistakes(R"({"energy": "r", "potential": "x"})"), "");
  EXPECT_EQ(mistakes("{}"), ": one of the keys potential, energy is missing");
  EXPECT_EQ(schema<Either>()["anyOf"].dump(),
            R"([{"required":["potential"]},{"required":["energy"]}])");
  Either settings;
  Fields fields;
  describe(fields, settings);
  EXPECT_NE(help_fields(fields).find("energy  (text, required without potential)"),
            std::string::npos);
}

TEST(Settings, SuggestsTheNearestWord) {
  EXPECT_EQ(edit_distance("cutoff", "cutof"), 1);
  EXPECT_EQ(edit_distance("cutoff", "cuotff"), 1);  // one swap
  EXPECT_EQ(edit_distance("", "abc"), 3);
  EXPECT_EQ(closest_word("trucation", {"cutoff", "truncation"}), "truncation");
  EXPECT_EQ(closest_word("zebra", {"cutoff", "truncation"}), "");
  EXPECT_EQ(suggest("zebra", {"a1", "b2"}), "expected one of a1, b2");
}

}  // namespace
}  // namespace perrin
