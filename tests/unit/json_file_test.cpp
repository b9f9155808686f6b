// JSON with comments and line numbers, and --set.
#include "engine/settings/json_file.h"

#include <gtest/gtest.h>

#include "engine/base/error.h"

namespace perrin {
namespace {

std::string message_of(const std::string& text) {
  try {
    JsonFile::parse(text, "job.json");
  } catch (const UserError& e) {
    return e.what();
  }
  return "";
}

TEST(JsonFile, KeepsTheLineOfEveryValue) {
  const auto file = JsonFile::parse(
      "{ // first\n"
      "  \"a\": 1\n"
      "  , \"list\": [10,\n"
      "    20\n"
      "  ], /* two\n"
      "lines */\n"
      "  \"object\": {\"x\": true,\n"
      "             \"y z\": 1.5\n"
      "  }\n"
      "}\n",
      "job.json");
  EXPECT_EQ(file.line(""), 1);
  EXPECT_EQ(file.line("a"), 2);
  EXPECT_EQ(file.line("list"), 3);
  EXPECT_EQ(file.line("list[0]"), 3);
  EXPECT_EQ(file.line("list[1]"), 4);  // the parser has read the newline behind it by then
  EXPECT_EQ(file.line("object"), 7);
  EXPECT_EQ(file.line("object.x"), 7);
  EXPECT_EQ(file.line(join_path("object", "y z")), 8);
  EXPECT_EQ(file.line("object.missing.deeper"), 7);  // the nearest value around it
  EXPECT_EQ(file.place("list[1]"), "job.json:4");
  EXPECT_EQ(file.value().dump(), R"({"a":1,"list":[10,20],"object":{"x":true,"y z":1.5}})");
}

TEST(JsonFile, SaysWhereTheTextIsNoJson) {
  EXPECT_EQ(message_of("{\n  \"a\": [1, 2").rfind("job.json:2:13: ", 0), 0u)
      << message_of("{\n  \"a\": [1, 2");
  EXPECT_NE(message_of("{\n  \"a\": [1, 2").find("unexpected end of input"), std::string::npos);
  EXPECT_EQ(message_of("{\"a\": tru}").rfind("job.json:1:10: ", 0), 0u)
      << message_of("{\"a\": tru}");
  EXPECT_NE(message_of(""), "");
  EXPECT_NE(message_of("{} {}"), "");
  EXPECT_EQ(message_of("{\"a\": 1e999}"), "job.json:1:12: this number is too large");
  EXPECT_EQ(message_of("{\n\"a\": 1,\n\"b\": 2,\n\"a\": 3}"),
            "job.json:4: a: this key is given twice");
}

TEST(JsonFile, EveryTruncationOfAJobIsOneMessage) {
  const std::string text =
      "{\"system\": {\"type\": \"lattice\", \"n\": [1, -2.5e3]}, // c\n \"b\": [true, null]}";
  for (std::size_t n = 0; n + 1 < text.size(); ++n) {
    const std::string what = message_of(text.substr(0, n));
    ASSERT_EQ(what.rfind("job.json:", 0), 0u) << n;
    ASSERT_EQ(what.find('\n'), std::string::npos) << n;
  }
}

TEST(JsonFile, SetChangesAndAddsValues) {
  auto file = JsonFile::parse("{\"stages\": [{\"steps\": 5, \"x\": {\"y\": 1}}]}", "job.json");
  file.set("stages[0].steps=1000");
  file.set("stages[0].x=[1, 2]");
  file.set("neighbors.skin=0.4");
  file.set("title=some words = one");
  file.set("stages[1].steps=7");
  file.set("observers[0]={\"type\": \"thermo\"}");
  EXPECT_EQ(file.value().dump(), R"({"stages":[{"steps":1000,"x":[1,2]},{"steps":7}],)"
                                 R"("neighbors":{"skin":0.4},"title":"some words = one",)"
                                 R"("observers":[{"type":"thermo"}]})");
  EXPECT_EQ(file.place("stages[0].steps"), "--set");
  EXPECT_EQ(file.place("stages[0].x[1]"), "--set");
  EXPECT_EQ(file.place("stages[0]"), "job.json:1");
}

TEST(JsonFile, EntriesAreCountedFromTheEndOfLists) {
  const auto file =
      JsonFile::parse("{\"stages\": [{\"x\": [1, 2]}, {\"x\": [3]}], \"a\": {}}", "job.json");
  const auto of = [&](const char* text) { return from_start(file.value(), text); };
  EXPECT_EQ(of("stages[-1].steps=5"), "stages[1].steps=5");
  EXPECT_EQ(of("stages[-2].x[-2]=[-1]"), "stages[0].x[0]=[-1]");
  EXPECT_EQ(of("stages[0].x[-1]=a[-1]"), "stages[0].x[1]=a[-1]");
  EXPECT_EQ(of("seed=-1"), "seed=-1");
  // One spelling of each path.
  EXPECT_EQ(of(R"(["seed"]=99)"), "seed=99");
  EXPECT_EQ(of("stages[00].steps=5"), "stages[0].steps=5");
  EXPECT_EQ(of(R"(["stages"][-1]["steps"]=["x"])"), R"(stages[1].steps=["x"])");
  EXPECT_EQ(of(R"(stages[0]["two words"].z=1)"), R"(stages[0]["two words"].z=1)");
  for (const char* far : {"stages[-3].steps=5", "stages[-0]=1", "stages[1].x[-2]=5"})
    EXPECT_THROW(of(far), UserError) << far;
  for (const char* bad : {"a[-1]=2", "b[-1]=2", "stages[-x]=2", "stages[-1=2", "[-1]=2"}) {
    EXPECT_EQ(of(bad), bad);
    EXPECT_THROW(JsonFile(file).set(of(bad)), UserError) << bad;
  }
}

TEST(JsonFile, SetRefusesPathsThatLeadNowhere) {
  auto file = JsonFile::parse("{\"a\": 1, \"list\": [1]}", "job.json");
  for (const char* bad : {"a", "=1", "list[2]=2", "list[x]=2", "a.b=2", "list.b=2", "a[0]=2",
                          "[0]=1", ".a=1", "a..b=1", "list[0=1"})
    EXPECT_THROW(file.set(bad), UserError) << bad;
  for (const char* bad : {"list.0=2", "list.0.steps=2", "list.x=2"}) try {
      file.set(bad);
      FAIL() << bad;
    } catch (const UserError& e) {
      EXPECT_NE(std::string(e.what()).find("list is a list: name its entries by index, such as "
                                           "list[0]"),
                std::string::npos)
          << e.what();
    }
  EXPECT_EQ(file.value().dump(), R"({"a":1,"list":[1]})");
}

}  // namespace
}  // namespace perrin
