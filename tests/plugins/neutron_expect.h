// Comparisons of estimates of neutron_slab with exact results.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "plugins/neutron_slab/results.h"
#include "tests/plugins/neutron_reference.h"

namespace neutron {

constexpr double allowed = 4.5;  // standard errors

inline void expect_near(const Estimate& e, double exact, const std::string& what) {
  EXPECT_GT(e.error, 0) << what;
  EXPECT_LT(std::abs(e.mean - exact), allowed * e.error)
      << what << ": " << e.mean << " ± " << e.error << ", exact " << exact;
}

inline void expect_solution(const Results& r, const reference::Solution& s,
                            const std::string& what) {
  expect_near(r.transmission(), s.transmission, what + ", transmission");
  expect_near(r.reflection(), s.reflection, what + ", reflection");
  expect_near(r.absorption(), s.absorption, what + ", absorption");
  expect_near(r.collisions(), s.collisions, what + ", collisions");
}

}  // namespace neutron
