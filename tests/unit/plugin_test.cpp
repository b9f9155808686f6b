// Which plug-ins are refused, and that none is taken in by half.
#include "engine/job/plugin.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "engine/base/error.h"
#include "engine/job/plugin_api.h"

namespace perrin {
namespace {

struct NoSettings {};
template <class D>
void describe(D&, NoSettings&) {}

struct Nothing : Force {
  void compute(StepContext&, const ForceOutput&) override {}
};

void add_force(Registry& registry, const std::string& type) {
  registry.add<Force, NoSettings>(
      type, "no force", [](const NoSettings&, Setup&) { return std::make_unique<Nothing>(); });
}

PluginDescription good() {
  return {plugin_magic,
          sizeof(PluginDescription),
          PERRIN_API_MAJOR,
          PERRIN_API_MINOR,
          PERRIN_BUILD_TAG,
          "test",
          "1.0",
          nullptr,
          instruction_sets};
}

std::string refusal(const PluginDescription& p) {
  try {
    check_plugin(p);
  } catch (const UserError& e) {
    return e.what();
  }
  return "";
}

TEST(Plugin, MismatchesAreRefusedNamingBothSides) {
  EXPECT_EQ(refusal(good()), "");
  auto p = good();
  p.magic ^= 1;
  EXPECT_NE(refusal(p).find("not a plug-in for Perrin"), std::string::npos);
  p = good();
  p.api_major += 1;
  EXPECT_NE(refusal(p).find(std::to_string(p.api_major) + "." + std::to_string(p.api_minor)),
            std::string::npos);
  EXPECT_NE(refusal(p).find(PERRIN_TEXT(PERRIN_API_MAJOR) "." PERRIN_TEXT(PERRIN_API_MINOR)),
            std::string::npos);
  p = good();
  p.api_minor += 1;
  EXPECT_NE(refusal(p), "");
  p = good();
  p.instruction_sets &= ~(1u << unsigned(instruction_set()));
  EXPECT_NE(refusal(p).find("another processor"), std::string::npos);
  p = good();
  p.struct_size = 8;
  EXPECT_NE(refusal(p).find("8 bytes"), std::string::npos);
  p = good();
  p.build_tag = "gcc-1 c++98 perrin-0.0.1";
  EXPECT_NE(refusal(p).find("gcc-1 c++98 perrin-0.0.1"), std::string::npos);
  EXPECT_NE(refusal(p).find(PERRIN_BUILD_TAG), std::string::npos);
}

TEST(Plugin, AClashTakesInNothing) {
  Registry registry;
  add_force(registry, "taken");
  Registry staged("other");
  add_force(staged, "fresh");
  add_force(staged, "taken");
  try {
    registry.merge(std::move(staged));
    FAIL();
  } catch (const UserError& e) {
    EXPECT_STREQ(e.what(), "the force \"taken\" of plug-in other exists already (from built-in)");
  }
  EXPECT_EQ(registry.find("force", "fresh"), nullptr);
  EXPECT_EQ(registry.rows("force").size(), 1u);
}

TEST(Plugin, RowsKeepTheirProvider) {
  Registry registry;
  Registry staged("other");
  add_force(staged, "fresh");
  registry.merge(std::move(staged));
  ASSERT_NE(registry.find("force", "fresh"), nullptr);
  EXPECT_EQ(registry.find("force", "fresh")->provider, "other");
  EXPECT_EQ(registry.find("integrator", "fresh"), nullptr);
}

TEST(Plugin, DiscoveryRunsOnceAndOnlyForAnUnknownType) {
  Registry registry;
  add_force(registry, "known");
  int calls = 0;
  registry.on_unknown_type([&] {
    ++calls;
    add_force(registry, "late");
  });
  EXPECT_NE(registry.find("force", "known"), nullptr);
  EXPECT_EQ(calls, 0);
  EXPECT_NE(registry.find("force", "late"), nullptr);
  EXPECT_EQ(registry.find("force", "never"), nullptr);
  EXPECT_EQ(calls, 1);
}

TEST(Plugin, AMissingOneListsThePathsTried) {
  setenv("PERRIN_PLUGIN_PATH", "/nowhere/a:/nowhere/b", 1);
  Registry registry;
  PluginLoader loader(registry);
  try {
    loader.load("absent", ".");
    FAIL();
  } catch (const UserError& e) {
    const std::string what = e.what();
    for (const char* path : {"/nowhere/a/absent.so (No such file or directory)",
                             "/nowhere/b/absent.so (No such file or directory)"})
      EXPECT_NE(what.find(path), std::string::npos) << what;
  }
  unsetenv("PERRIN_PLUGIN_PATH");
}

}  // namespace
}  // namespace perrin
