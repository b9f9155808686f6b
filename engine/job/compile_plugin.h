// Plug-ins that are compiled while Perrin runs, by the compiler that built it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace perrin {

/// A plug-in (engine/job/plugin_api.h) from the text of its source file; `about` says in one line
/// what is being compiled. What was compiled before, by the same command for the same processor, is
/// taken from the cache (engine/job/cache.h), where it is whole. Several processes may ask for the
/// same one at the same time. In a CUDA build where there is no GPU it is compiled for the CPU
/// alone, unless $PERRIN_GPU_ARCHITECTURE names one. $PERRIN_COMPILER takes the place of the
/// compiler. Nothing where there is none; throws UserError with the compiler's words where it
/// fails, or where it takes longer than $PERRIN_COMPILER_SECONDS (300).
std::optional<std::filesystem::path> compile_plugin(const std::string& source,
                                                    const std::string& about);

/// Compiles one of compile_plugin() anew, which cannot be loaded. False: it is none of this
/// process.
bool compile_again(const std::filesystem::path& plugin);

/// Whether compile_plugin() says on standard error what it compiles; it does, unless told not to.
void say_what_is_compiled(bool say);

/// A file of this name with this text, in a folder of the cache that the text names.
std::filesystem::path keep_text(const std::string& text, const std::string& name);

}  // namespace perrin
