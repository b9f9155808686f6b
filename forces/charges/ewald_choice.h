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
  double of_pairs, of_rest, of_clouds = 0;
  double all() const { return std::hypot(of_pairs, of_rest, of_clouds); }
};

PredictedErrors predicted_errors(const EwaldSettings& s, const ChargedSystem& system,
                                 const EwaldParameters& p, const std::optional<MeshTerms>& mesh,
                                 const Box& cell);

/// As given, or chosen for an error of forces by both sums together. Reports what does not go
/// together, and more waves than are summed up; nothing after an error. `on_mesh`: there is no sum
/// over waves, and k_max is not asked for.
std::optional<EwaldParameters> ewald_parameters(const SplittingSettings& s,
                                                const ChargedSystem& system, double cutoff,
                                                double error, const Box& cell, bool on_mesh,
                                                Setup& setup);

/// For the log. `rest`: what there is beside the sum over pairs, with its size.
std::string parameters_text(const EwaldParameters& p, const PredictedErrors& errors,
                            const ChargedSystem& system, const std::string& rest,
                            const char* name_of_rest, bool clouds = false);
std::string waves_text(const Box& cell, const EwaldParameters& p);

/// What ForceRemark says where the predicted error has more than doubled; else empty.
std::string outgrown(const char* type, double volume, double volume_before, double error,
                     double error_before, const char* advice);

struct EwaldChoice {
  EwaldParameters parameters;
  std::optional<MeshTerms> mesh;
  std::string text;  // with the predicted errors
};
/// For the cell that is repeated. Nothing after an error, which is reported.
std::optional<EwaldChoice> ewald_choice(const EwaldSettings& s, const ChargedSystem& system,
                                        const ChargeSums& charges, const Box& cell, Setup& setup);

}  // namespace perrin
