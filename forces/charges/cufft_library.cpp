#include "forces/charges/cufft_library.h"

#include <cuda.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>
#include <vector>

#include "engine/base/error.h"

namespace perrin {
namespace {

namespace fs = std::filesystem;

struct Loaded {
  CufftLibrary functions{};
  std::string missing;
};

std::string file_name() { return fmt::format("libcufft.so.{}", CUFFT_VER_MAJOR); }

/// Where it may be: where the loader looks, in the toolkit of this build, and in NVIDIA's packages
/// for Python (nvidia-cufft) beside this library.
std::vector<fs::path> places() {
  std::vector<fs::path> files{file_name(), fs::path(PERRIN_CUFFT) / file_name()};
  Dl_info here{};
  if (dladdr(reinterpret_cast<const void*>(&CufftLibrary::missing), &here) == 0) return files;
  std::error_code ignored;
  fs::path folder = fs::weakly_canonical(here.dli_fname, ignored).parent_path();
  for (int up = 0; up < 5 && folder.has_relative_path(); ++up, folder = folder.parent_path())
    for (const std::string& package :
         {fmt::format("cu{}", CUDA_VERSION / 1000), std::string("cufft")})
      files.push_back(folder / "nvidia" / package / "lib" / file_name());
  return files;
}

template <class Function>
void find(void* library, const char* name, Function& function, Loaded& loaded) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (!function) loaded.missing = fmt::format("{} has no {}", file_name(), name);
}

Loaded load() {
  Loaded loaded;
  std::string reason;  // of the one that is there and cannot be loaded, if there is one
  for (const fs::path& file : places()) {
    std::error_code ignored;
    void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      if (file.has_parent_path() && fs::exists(file, ignored)) reason = dlerror();
      continue;
    }
    CufftLibrary& f = loaded.functions;
    find(library, "cufftPlan3d", f.plan_3d, loaded);
    find(library, "cufftPlanMany", f.plan_many, loaded);
    find(library, "cufftSetStream", f.set_stream, loaded);
    find(library, "cufftDestroy", f.destroy, loaded);
    find(library, "cufftExecR2C", f.exec_r2c, loaded);
    find(library, "cufftExecD2Z", f.exec_d2z, loaded);
    find(library, "cufftExecC2R", f.exec_c2r, loaded);
    find(library, "cufftExecZ2D", f.exec_z2d, loaded);
    find(library, "cufftGetVersion", f.get_version, loaded);
    return loaded;
  }
  loaded.missing = fmt::format(
      "a mesh on a GPU needs NVIDIA's library cuFFT, and {}: install it (with pip: nvidia-cufft; "
      "it is part of the CUDA toolkit, too) or name its folder in LD_LIBRARY_PATH, or leave the "
      "mesh out",
      reason.empty() ? file_name() + " was not found" : "the loader says: " + reason);
  return loaded;
}

const Loaded& loaded() {
  static const Loaded once = load();
  return once;
}

}  // namespace

const CufftLibrary& CufftLibrary::get() {
  if (!loaded().missing.empty()) throw RunError(loaded().missing);
  return loaded().functions;
}

std::string CufftLibrary::missing() { return loaded().missing; }

}  // namespace perrin
