// What "ewald" chooses from a wanted error of forces, and the errors that are predicted.
#pragma once

#include <cmath>
#include <optional>
#include <string>

#include "engine/components/setup.h"
#include "forces/charges/charge_pairs.h"
#include "forces/charges/ewald_error.h"
#include "forces/charges/ewald_settings.h"
#include "forces/charges/mesh_terms.h"

namespace perrin {

/// Of forces, rms: energy/length.
struct PredictedErrors {
  double of_pairs, of_rest, of_clouds;
  double all() const { return std::hypot(of_pairs, of_rest, of_clouds); }
};

PredictedErrors predicted_errors(const EwaldSettings& s, const ChargedSystem& system,
                                 const EwaldParameters& p, const std::optional<MeshTerms>& mesh,
                                 const Box& cell);

struct EwaldChoice {
  EwaldParameters parameters;
  std::optional<MeshTerms> mesh;
  std::string text;  // with the predicted errors
};
/// For the cell that is repeated. Nothing after an error, which is reported.
std::optional<EwaldChoice> ewald_choice(const EwaldSettings& s, const ChargedSystem& system,
                                        const ChargeSums& charges, const Box& cell, Setup& setup);

}  // namespace perrin
