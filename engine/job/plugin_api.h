// What a plug-in includes, and what its one symbol returns.
//
//     namespace { void register_components(perrin::Registry& registry) { registry.add<…>(…); } }
//     PERRIN_PLUGIN("example", "1.0", register_components)
#pragma once

#include <cstdint>

#include "engine/base/instruction_set.h"
#include "engine/components/registry.h"
#include "perrin/version.h"

#define PERRIN_TEXT_OF(x) #x
#define PERRIN_TEXT(x) PERRIN_TEXT_OF(x)

// Everything that decides whether two compilations agree on the layout of the engine's classes.
#if defined(__clang__)
#define PERRIN_TAG_COMPILER "clang-" PERRIN_TEXT(__clang_major__)
#else
#define PERRIN_TAG_COMPILER "gcc-" PERRIN_TEXT(__GNUC__)
#endif
#if defined(PERRIN_FOR_CPU_OF_CUDA)  // for the CPU alone, in a build for GPUs: the same layout
#define PERRIN_TAG_CUDA "cuda-" PERRIN_TEXT(PERRIN_FOR_CPU_OF_CUDA)
#elif defined(PERRIN_CUDA)
#define PERRIN_TAG_CUDA "cuda-" PERRIN_TEXT(CUDART_VERSION)
#else
#define PERRIN_TAG_CUDA "cpu-only"
#endif
#ifdef PERRIN_DOUBLE
#define PERRIN_PRECISION_NAME "double"
#else
#define PERRIN_PRECISION_NAME "mixed"
#endif
#define PERRIN_TAG_HEADERS " headers-"
#define PERRIN_BUILD_TAG                                                        \
  PERRIN_TAG_COMPILER                                                           \
  " c++" PERRIN_TEXT(__cplusplus) " " PERRIN_TAG_CUDA " " PERRIN_PRECISION_NAME \
                                  " perrin-" PERRIN_VERSION PERRIN_TAG_HEADERS PERRIN_HEADERS

namespace perrin {

/// Plain data: read before anything else of the plug-in is trusted. New members go to the end.
struct PluginDescription {
  std::uint64_t magic;        // plugin_magic
  std::uint32_t struct_size;  // sizeof(PluginDescription) where the plug-in was built
  std::uint32_t api_major, api_minor;
  const char* build_tag;
  const char* name;
  const char* version;
  void (*register_components)(Registry&);
  std::uint32_t instruction_sets;  // that its loops are compiled for (instruction_set.h)
};

constexpr std::uint64_t plugin_magic = 0x315f6e6972726570;  // "perrin_1"

}  // namespace perrin

#define PERRIN_PLUGIN(NAME, VERSION, REGISTER)                                                \
  extern "C" __attribute__((visibility("default"))) const ::perrin::PluginDescription*        \
  perrin_plugin() {                                                                           \
    static const ::perrin::PluginDescription description{::perrin::plugin_magic,              \
                                                         sizeof(::perrin::PluginDescription), \
                                                         PERRIN_API_MAJOR,                    \
                                                         PERRIN_API_MINOR,                    \
                                                         PERRIN_BUILD_TAG,                    \
                                                         NAME,                                \
                                                         VERSION,                             \
                                                         REGISTER,                            \
                                                         ::perrin::instruction_sets};         \
    return &description;                                                                      \
  }
