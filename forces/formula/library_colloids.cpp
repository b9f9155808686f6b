// Potentials of colloids, soft spheres and coarse-grained lipids.
#include "forces/formula/library.h"

namespace perrin::formula {
namespace {

using enum Number::Kind;

Potential asakura_oosawa() {
  return {
      .type = "pair_formula",
      .name = "asakura_oosawa",
      .title = "Asakura and Oosawa: depletion attraction of colloids among polymers",
      .energy = "-kt*phi_p*(d/sigma_p)^3*(1 - x)^2*(1 + x/2); x = r/d; d = sigma + sigma_p",
      .parameters = {{"kt", Positive{}, "energy", "k_B T of the polymers"},
                     {"phi_p", NonNegative{}, "", "packing fraction of polymers in the reservoir"},
                     {"sigma", Positive{}, "length", "diameter of the colloids"},
                     {"sigma_p", Positive{}, "length", "diameter of the polymers"}},
      .source =
          "S. Asakura, F. Oosawa, J. Chem. Phys. 22, 1255 (1954); A. Vrij, Pure Appl. Chem. "
          "48, 471 (1976)",
      // At contact -phi_p kt (1 + 3/(2 q)), q = sigma_p/sigma.
      .samples = {{"polymers as large as the colloids",
                   {{"kt", 1}, {"phi_p", 0.2}, {"sigma", 1}, {"sigma_p", 1}},
                   {{energy_at, 1, -0.5}, {energy_at, 2, 0}}},
                  {"q = 0.1",
                   {{"kt", 1}, {"phi_p", 0.2}, {"sigma", 1}, {"sigma_p", 0.1}},
                   {{energy_at, 1, -3.2, 1e-11}, {energy_at, 1.1, 0}}}},
      .range = "sigma + sigma_p",
      .smooth = true,
      .note =
          "The hard core of the colloids is another force (wca, lennard_jones_12_8, …): below "
          "sigma the attraction goes on.",
  };
}

Potential dlvo() {
  return {
      .type = "pair_formula",
      .name = "dlvo",
      .title = "DLVO: van der Waals attraction and screened repulsion of charged spheres",
      .energy =
          "-hamaker/6*(p/(r^2 - s^2) + p/(r^2 - d^2) + log((r^2 - s^2)/(r^2 - d^2))) + "
          "a_1*a_2/s*z*exp(-kappa*(r - s)); p = 2*a_1*a_2; s = a_1 + a_2; d = a_1 - a_2",
      .parameters = {{"hamaker", NonNegative{}, "energy", "Hamaker's constant"},
                     {"a_1", Positive{}, "length", "radius of one sphere"},
                     {"a_2", Positive{}, "length", "radius of the other sphere"},
                     {"z", NonNegative{}, "energy/length", "strength of the repulsion"},
                     {"kappa", NonNegative{}, "1/length", "inverse Debye length"}},
      .source =
          "B. Derjaguin, L. Landau, Acta Physicochim. URSS 14, 633 (1941); E. J. W. Verwey, "
          "J. T. G. Overbeek, Theory of the Stability of Lyophobic Colloids (Elsevier, 1948); "
          "attraction: H. C. Hamaker, Physica 4, 1058 (1937); form and names of "
          "J. N. Israelachvili, Intermolecular and Surface Forces, 3rd ed. (2011), chapter 14",
      // Hamaker: -A/12 (1/(u^2 + 2u) + 1/(u + 1)^2 + 2 log((u^2 + 2u)/(u + 1)^2)), u = (r - 2a)/2a.
      .samples = {{"attraction of equal spheres",
                   {{"hamaker", 12}, {"a_1", 1}, {"a_2", 1}, {"z", 0}, {"kappa", 1}},
                   {{energy_at, 4, -0.007969188429771457, 1e-11},
                    // Near contact Derjaguin's -A a/(12 gap), but for the order of gap/a.
                    {energy_at, 2.000001, -1e6, 5e-5}}},
                  // -A/6 (6/20 + 6/32 + log(20/32)).
                  {"attraction of a sphere and a larger one",
                   {{"hamaker", 6}, {"a_1", 1}, {"a_2", 3}, {"z", 0}, {"kappa", 1}},
                   {{energy_at, 6, -0.017496370754264412, 1e-12}}},
                  {"repulsion of a sphere and a larger one",
                   {{"hamaker", 0}, {"a_1", 1}, {"a_2", 3}, {"z", 8}, {"kappa", 0.5}},
                   {{energy_at, 6, 2.207276647028654}, {energy_at, 4.0000001, 6, 1e-7}}}},
      .from = "a_1 + a_2",
      .note = "Spheres must not touch: there the attraction has no bound.",
  };
}

Potential hertz() {
  return {
      .type = "pair_formula",
      .name = "hertz",
      .title = "Hertz: elastic spheres that touch, zero beyond sigma",
      .energy = "epsilon*max(1 - r/sigma, 0)^2.5",
      .parameters = {{"epsilon", Positive{}, "energy", "energy of full overlap"},
                     {"sigma", Positive{}, "length", "diameter of the spheres"}},
      .source =
          "H. Hertz, J. reine angew. Math. 92, 156 (1881); J. C. Pàmies, A. Cacciuto, "
          "D. Frenkel, J. Chem. Phys. 131, 044514 (2009), eq. 1",
      .samples = {{"the unit of energy and length",
                   {{"epsilon", 1}, {"sigma", 1}},
                   {{energy_at, 0.5, 0.1767766952966369}, {slope_at, 0.75, -0.3125}}}},
      .range = "sigma",
      .smooth = true,
  };
}

Potential hat() {
  return {
      .type = "pair_formula",
      .name = "hat",
      .title = "hat: soft repulsion with a force that falls linearly to zero at r_c",
      .energy = "f_max*(r_c - r)^2/(2*r_c)",
      .parameters = {{"f_max", Any{}, "energy/length", "force at the distance 0"},
                     {"r_c", Positive{}, "length", "range"}},
      .source =
          "conservative force of R. D. Groot, P. B. Warren, J. Chem. Phys. 107, 4423 (1997), "
          "eq. 4; under this name in ESPResSo",
      .samples =
          {{"DPD of water, a = 25",
            {{"f_max", 25}, {"r_c", 1}},
            {{energy_at, 0.5, 3.125}, {slope_at, 0.5, -12.5}, {energy_at, 0.0001, 12.497500125}}}},
      .range = "r_c",
      .smooth = true,
  };
}

/// Of Cooke, Kremer and Deserno: both begin with the distance where the repulsion ends.
std::vector<Parameter> lipids() {
  return {
      {"epsilon", Positive{}, "energy", "depth of the well"},
      {"sigma", Positive{}, "length", "diameter of the beads; the well begins at 2^(1/6) sigma"},
      {"w_c", Positive{}, "length", "width of the attraction; 1.6 sigma in the publication"}};
}
constexpr const char* lipids_source =
    "I. R. Cooke, K. Kremer, M. Deserno, Phys. Rev. E 72, 011506 (2005), eqs. 1 and 4";
constexpr const char* lipids_range = "r_c + w_c; r_c = 2^(1/6)*sigma";

Potential cosine_squared() {
  return {
      .type = "pair_formula",
      .name = "cosine_squared",
      .title = "cosine-squared attraction of Cooke and Deserno, without the core",
      .energy = "if(r < r_c, -epsilon, -epsilon*cos(pi*(r - r_c)/(2*w_c))^2); r_c = 2^(1/6)*sigma",
      .parameters = lipids(),
      .source = lipids_source,
      // Half the depth in the middle of the attraction, where it is steepest: pi/(2 w_c) epsilon.
      .samples = {{"tails of lipids",
                   {{"epsilon", 1}, {"sigma", 1}, {"w_c", 1.6}},
                   {{energy_at, 0.5, -1},
                    {energy_at, 1.12246204830937, -1},
                    {energy_at, 1.92246204830937, -0.5},
                    {slope_at, 1.92246204830937, 0.9817477042468103}}}},
      .range = lipids_range,
      .smooth = true,
      .note = "The core is another force, wca with the same sigma; cooke_deserno has both.",
  };
}

Potential cooke_deserno() {
  return {
      .type = "pair_formula",
      .name = "cooke_deserno",
      .title = "Cooke and Deserno: tails of lipids, a WCA core with cosine-squared attraction",
      .energy =
          "if(r < r_c, 4*epsilon*((sigma/r)^12 - (sigma/r)^6), "
          "-epsilon*cos(pi*(r - r_c)/(2*w_c))^2); r_c = 2^(1/6)*sigma",
      .parameters = lipids(),
      .source = lipids_source,
      .samples = {{"tails of lipids",
                   {{"epsilon", 1}, {"sigma", 1}, {"w_c", 1.6}},
                   {{energy_at, 1, 0},
                    {slope_at, 1, -24},
                    {energy_at, 1.12246204830937, -1},
                    {energy_at, 1.92246204830937, -0.5},
                    {slope_at, 1.92246204830937, 0.9817477042468103}}}},
      .range = lipids_range,
      .smooth = true,
      .note =
          "In the publication sigma is 1 between tails, 0.95 between heads and between heads "
          "and tails, which have the core alone (wca).",
  };
}

}  // namespace

std::vector<Potential> colloids() {
  return {asakura_oosawa(), cooke_deserno(), cosine_squared(), dlvo(), hat(), hertz()};
}

}  // namespace perrin::formula
