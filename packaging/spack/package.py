# A recipe for Spack 1.0 and newer: in a repository of one's own (`spack repo create`), as
# packages/perrin/package.py, with the address of a clone in place of REPOSITORY.
#   spack install perrin            spack install perrin+cuda cuda_arch=90
from spack_repo.builtin.build_systems.cmake import CMakePackage, generator
from spack_repo.builtin.build_systems.cuda import CudaPackage

from spack.package import *


class Perrin(CMakePackage, CudaPackage):
    """A particle engine for soft matter: molecular dynamics, Langevin and Brownian dynamics, DPD
    and Monte Carlo, on CPU threads and NVIDIA GPUs."""

    homepage = "REPOSITORY"
    git = "REPOSITORY"

    license("BSD-3-Clause")

    version("main", branch="main")

    variant("mpi", default=True, description="Several processes")
    variant("native", default=False, description="Compile for the processor of this machine alone")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("hdf5@1.10:~mpi")
    depends_on("fmt@9:")
    depends_on("nlohmann-json@3.10:")
    depends_on("cli11")
    depends_on("mpi", when="+mpi")
    depends_on("cuda@13.0:", when="+cuda")

    conflicts("%gcc@:11", msg="Perrin is written in C++20: GCC 12 or newer")
    conflicts("cuda_arch=none", when="+cuda", msg="name the GPU, as in cuda_arch=90")
    for arch in ("72", "75"):  # Spack knows that CUDA 13 has none below
        conflicts(f"cuda_arch={arch}", when="+cuda", msg="compute capability 8.0 or newer")

    generator("ninja")

    def cmake_args(self):
        args = [
            self.define("PERRIN_BUILD_TESTS", False),
            self.define("PERRIN_DEVICE", "cuda" if self.spec.satisfies("+cuda") else "cpu"),
            self.define("PERRIN_MPI", "on" if self.spec.satisfies("+mpi") else "off"),
            self.define(
                "PERRIN_INSTRUCTION_SETS", "native" if self.spec.satisfies("+native") else "all"
            ),
        ]
        if self.spec.satisfies("+cuda"):
            args.append(
                self.define("CMAKE_CUDA_ARCHITECTURES", self.spec.variants["cuda_arch"].value)
            )
        return args
