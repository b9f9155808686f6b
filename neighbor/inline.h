// The mark of what loops on the CPU are made of: compiled into each of them, for its instruction
// set.
#pragma once

#define PERRIN_INLINE inline __attribute__((always_inline))
