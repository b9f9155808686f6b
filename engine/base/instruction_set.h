// Which instructions of the processor loops are compiled for, and which are taken.
#pragma once

namespace perrin {

enum class InstructionSet { baseline, avx2, avx512 };
/// The best of this processor, or less where PERRIN_ISA=baseline|avx2 says so, of those that this
/// build has. Throws UserError where that leaves none.
InstructionSet instruction_set();
/// Those of this build, a bit for each: all, unless CMake's PERRIN_INSTRUCTION_SETS says otherwise.
#ifdef PERRIN_SETS
constexpr unsigned instruction_sets = PERRIN_SETS;
#else
constexpr unsigned instruction_sets = 7;
#endif
constexpr bool has_instruction_set(InstructionSet set) {
  return (instruction_sets >> unsigned(set) & 1u) != 0;
}

}  // namespace perrin
