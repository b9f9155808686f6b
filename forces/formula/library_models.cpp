// Model potentials of liquids, glasses and quasicrystals.
#include "forces/formula/library.h"

namespace perrin::formula {
namespace {

using enum Number::Kind;

std::vector<Parameter> lennard_jones() {
  return {{"epsilon", Positive{}, "energy", "strength"},
          {"sigma", Positive{}, "length", "distance where the energy is zero"}};
}
constexpr const char* jones =
    "J. E. Jones, Proc. R. Soc. Lond. A 106, 463 (1924), with these exponents";

Potential lennard_jones_12_8() {
  return {
      .type = "pair_formula",
      .name = "lennard_jones_12_8",
      .title = "Lennard-Jones with the exponents 12 and 8",
      .energy = "4*epsilon*((sigma/r)^12 - (sigma/r)^8)",
      .parameters = lennard_jones(),
      .source = jones,
      // The minimum is where (sigma/r)^4 = 2/3: 4 (8/27 - 12/27).
      .samples = {{"the unit of energy and length",
                   {{"epsilon", 1}, {"sigma", 1}},
                   {{zero, 1}, {minimum, 1.1066819197003215, -16.0 / 27}}}},
      .note = "The well is 16/27 epsilon deep.",
  };
}

Potential lennard_jones_8_4() {
  return {
      .type = "pair_formula",
      .name = "lennard_jones_8_4",
      .title = "Lennard-Jones with the exponents 8 and 4",
      .energy = "4*epsilon*((sigma/r)^8 - (sigma/r)^4)",
      .parameters = lennard_jones(),
      .source = jones,
      .samples = {{"the unit of energy and length",
                   {{"epsilon", 1}, {"sigma", 1}},
                   {{zero, 1}, {minimum, 1.18920711500272, -1}}}},
  };
}

Potential expanded_lennard_jones() {
  return {
      .type = "pair_formula",
      .name = "expanded_lennard_jones",
      .title = "Lennard-Jones 12-6 of the distance less delta: particles with a core",
      .energy = "4*epsilon*((sigma/(r - delta))^12 - (sigma/(r - delta))^6)",
      .parameters = {{"epsilon", Positive{}, "energy", "depth of the well"},
                     {"sigma", Positive{}, "length", "where the energy is zero: at delta + sigma"},
                     {"delta", NonNegative{}, "length", "shift of the distance"}},
      .source =
          "J. E. Jones, Proc. R. Soc. Lond. A 106, 463 (1924), of r - delta: lj/expand of "
          "LAMMPS, ExpandedLJ of HOOMD-blue",
      .samples = {{"delta = 0.5",
                   {{"epsilon", 1}, {"sigma", 1}, {"delta", 0.5}},
                   {{zero, 1.5}, {minimum, 1.62246204830937, -1}}}},
      .from = "delta",
  };
}

Potential expanded_mie() {
  return {
      .type = "pair_formula",
      .name = "expanded_mie",
      .title = "Mie of the distance less delta: particles with a core",
      .energy =
          "c*epsilon*((sigma/(r - delta))^repulsive - (sigma/(r - delta))^attractive); "
          "c = n/(n - m)*(n/m)^(m/(n - m)); n = repulsive; m = attractive",
      .parameters = {{"epsilon", Positive{}, "energy", "depth of the well"},
                     {"sigma", Positive{}, "length", "where the energy is zero: at delta + sigma"},
                     {"delta", NonNegative{}, "length", "shift of the distance"},
                     {"repulsive", Positive{}, "", "exponent of the repulsion", 12, "attractive",
                      Parameter::Kind::exponent},
                     {"attractive", Positive{}, "", "exponent of the attraction", 6, "",
                      Parameter::Kind::exponent}},
      .source =
          "G. Mie, Ann. Phys. 316, 657 (1903), of r - delta; constant as in T. Lafitte et "
          "al., J. Chem. Phys. 139, 154504 (2013), eq. 2",
      // At (n/m)^(1/(n - m)) sigma + delta: the square root of 2 for 8 and 4 is 2^(1/4) squared.
      .samples =
          {{"exponents 12 and 6, delta = 0.5",
            {{"epsilon", 1}, {"sigma", 1}, {"delta", 0.5}},
            {{zero, 1.5}, {minimum, 1.62246204830937, -1}}},
           {"exponents 8 and 4",
            {{"epsilon", 1}, {"sigma", 1}, {"delta", 0}, {"repulsive", 8}, {"attractive", 4}},
            {{zero, 1}, {minimum, 1.18920711500272, -1}}}},
      .from = "delta",
  };
}

Potential wang_frenkel() {
  return {
      .type = "pair_formula",
      .name = "wang_frenkel",
      .title = "Wang and Frenkel: like Lennard-Jones, ends smoothly at r_c",
      .energy =
          "epsilon*alpha*((sigma/r)^(2*mu) - 1)*((r_c/r)^(2*mu) - 1)^(2*nu); "
          "alpha = 2*nu*x*((1 + 2*nu)/(2*nu*(x - 1)))^(2*nu + 1); x = (r_c/sigma)^(2*mu)",
      .parameters = {{"epsilon", Positive{}, "energy", "depth of the well"},
                     {"sigma", Positive{}, "length", "distance where the energy is zero"},
                     {"r_c", Positive{}, "length",
                      "range; 2 sigma for liquids and 1.2 sigma for colloids in the publication",
                      std::nullopt, "sigma"},
                     {"mu", Positive{}, "", "half the exponent of distances", 1, "",
                      Parameter::Kind::whole_exponent},
                     {"nu", Positive{}, "", "half the exponent of the end", 1, "",
                      Parameter::Kind::whole_exponent}},
      .source =
          "X. Wang, S. Ramírez-Hinestrosa, J. Dobnikar, D. Frenkel, Phys. Chem. Chem. Phys. "
          "22, 10624 (2020), eqs. 1 to 3",
      // The minimum is at r_c ((1 + 2 nu)/(1 + 2 nu x))^(1/(2 mu)), x = (r_c/sigma)^(2 mu).
      .samples = {{"liquids",
                   {{"epsilon", 1}, {"sigma", 1}, {"r_c", 2}},
                   {{zero, 1}, {minimum, 1.15470053837925, -1}, {slope_at, 1, -18}}},
                  {"colloids",
                   {{"epsilon", 1}, {"sigma", 1}, {"r_c", 1.2}},
                   {{zero, 1}, {minimum, 1.0551786871689883, -1}}},
                  {"mu = 2, nu = 3",
                   {{"epsilon", 1}, {"sigma", 1}, {"r_c", 2}, {"mu", 2}, {"nu", 3}},
                   {{zero, 1}, {minimum, 1.0366008774039652, -1}}}},
      .range = "r_c",
      .smooth = true,
  };
}

Potential lennard_jones_gauss() {
  return {
      .type = "pair_formula",
      .name = "lennard_jones_gauss",
      .title = "Lennard-Jones-Gauss: a second well at r_0, quasicrystals and clathrates",
      .energy = "epsilon*((r_m/r)^12 - 2*(r_m/r)^6) - epsilon_g*exp(-(r - r_0)^2/(2*sigma_g^2))",
      .parameters = {{"epsilon", Positive{}, "energy", "depth of the Lennard-Jones well"},
                     {"r_m", Positive{}, "length", "distance of the Lennard-Jones well"},
                     {"epsilon_g", Any{}, "energy", "depth of the Gaussian well"},
                     {"r_0", Positive{}, "length", "distance of the Gaussian well"},
                     {"sigma_g", Positive{}, "length",
                      "width of the Gaussian well; 0.02^(1/2) r_m in the publication"}},
      .source = "M. Engel, H.-R. Trebin, Phys. Rev. Lett. 98, 225505 (2007), eq. 1",
      // The Gaussian is 1 at r_0 and exp(-12.5) at 1.
      .samples = {{"without the second well",
                   {{"epsilon", 1},
                    {"r_m", 1},
                    {"epsilon_g", 0},
                    {"r_0", 1.5},
                    {"sigma_g", 0.1414213562373095}},
                   {{minimum, 1, -1}, {zero, 0.890898718140339}}},
                  {"a well at 1.5",
                   {{"epsilon", 1}, {"r_m", 1}, {"epsilon_g", 1.5}, {"r_0", 1.5}, {"sigma_g", 0.1}},
                   {{energy_at, 1.5, -1.6678756437685462}, {energy_at, 1, -1.000005589979758}}}},
  };
}

Potential oscillating_pair() {
  return {
      .type = "pair_formula",
      .name = "oscillating_pair",
      .title = "oscillating pair potential: Friedel's oscillations of metals and quasicrystals",
      .energy = "c_1/r^eta_1 + c_2/r^eta_2*cos(k*r + phi)",
      .parameters = {{"c_1", Any{}, "energy · length^eta_1", "strength of the repulsion"},
                     {"eta_1", Positive{}, "", "exponent of the repulsion", std::nullopt, "",
                      Parameter::Kind::exponent},
                     {"c_2", Any{}, "energy · length^eta_2", "strength of the oscillation"},
                     {"eta_2", Positive{}, "", "exponent of the oscillation", std::nullopt, "",
                      Parameter::Kind::exponent},
                     {"k", Any{}, "1/length", "wave number, twice that of Fermi in a metal"},
                     {"phi", Any{}, "radians", "phase"}},
      .source =
          "M. Mihalkovič, C. L. Henley, Phys. Rev. B 85, 092102 (2012), eq. 1; exponents 15 "
          "and 3 for icosahedral order: M. Engel et al., Nat. Mater. 14, 109 (2015)",
      // The cosine is 1 at 1.25, -1 half a wavelength on, and 0 a quarter before.
      .samples = {{"k = 2 pi, phi = -2 pi 1.25",
                   {{"c_1", 1},
                    {"eta_1", 15},
                    {"c_2", 1},
                    {"eta_2", 3},
                    {"k", 6.283185307179586},
                    {"phi", -7.853981633974483}},
                   {{energy_at, 1, 1},
                    {energy_at, 1.25, 0.547184372088832},
                    {energy_at, 1.75, -0.18636275426595214}}}},
  };
}

std::vector<Parameter> zetterling_parameters() {
  return {{"a", Any{}, "energy · length^3", "strength of the oscillation"},
          {"alpha", Any{}, "1/length", "growth of the oscillation"},
          {"k_f", Positive{}, "1/length", "wave number of Fermi"},
          {"b", NonNegative{}, "energy", "strength of the repulsion"},
          {"sigma", Positive{}, "length", "length of the repulsion"},
          {"n", Positive{}, "", "exponent of the repulsion", std::nullopt, "",
           Parameter::Kind::exponent},
          {"v_0", Any{}, "energy", "constant that makes the energy zero at r_c"},
          {"r_c", Positive{}, "length", "range, a maximum of the oscillation"}};
}

Potential zetterling() {
  return {
      .type = "pair_formula",
      .name = "zetterling",
      .title = "Zetterling and Dzugutov, Z1 and Z2: model metals with Friedel's oscillations",
      .energy = "a*exp(alpha*r)/r^3*cos(2*k_f*r) + b*(sigma/r)^n + v_0",
      .parameters = zetterling_parameters(),
      .source =
          "F. H. M. Zetterling, M. Dzugutov, S. Lidin, MRS Symp. Proc. 643, K9.5 (2000); "
          "J. P. K. Doye, D. J. Wales, F. H. M. Zetterling, M. Dzugutov, J. Chem. Phys. 118, "
          "2792 (2003), eq. 1 and table I",
      // v_0 and r_c of the table: energy and slope vanish at r_c, as far as it has digits.
      .samples = {{"Z1",
                   {{"a", 1.58},
                    {"alpha", -0.22},
                    {"k_f", 4.12},
                    {"b", 4.2e8},
                    {"sigma", 0.331},
                    {"n", 18},
                    {"v_0", 0.04682632},
                    {"r_c", 2.64909}},
                   {{energy_at, 2.64909, 0, 1e-8}, {slope_at, 2.64909, 0, 3e-5}}},
                  {"Z2",
                   {{"a", 1.04},
                    {"alpha", 0.33},
                    {"k_f", 4.139},
                    {"b", 4.2e6},
                    {"sigma", 0.348},
                    {"n", 14.5},
                    {"v_0", 0.13391543},
                    {"r_c", 2.64488}},
                   {{energy_at, 2.64488, 0, 1e-8}, {slope_at, 2.64488, 0, 3e-5}}}},
      .range = "r_c",
      .smooth = true,
  };
}

Potential jagla() {
  return {
      .type = "pair_formula",
      .name = "jagla",
      .title = "Jagla: repulsive and attractive ramps, anomalies of water",
      .energy = "if(r < b, u_r - (u_r + u_a)*(r - a)/(b - a), -u_a*(c - r)/(c - b))",
      .parameters = {{"u_r", NonNegative{}, "energy", "energy at the hard core"},
                     {"u_a", NonNegative{}, "energy", "depth of the well", 0},
                     {"a", Positive{}, "length", "diameter of the hard core"},
                     {"b", Positive{}, "length", "distance of the well", std::nullopt, "a"},
                     {"c", Positive{}, "length", "range", std::nullopt, "b"}},
      .source =
          "E. A. Jagla, J. Chem. Phys. 111, 8980 (1999), and Phys. Rev. E 63, 061501 (2001); "
          "numbers of L. Xu et al., Proc. Natl. Acad. Sci. USA 102, 16558 (2005)",
      .samples = {{"two liquids",
                   {{"u_r", 3.5}, {"u_a", 1}, {"a", 1}, {"b", 1.72}, {"c", 3}},
                   {{energy_at, 1, 3.5},
                    {slope_at, 1.3, -6.25},
                    {zero, 1.56},
                    {energy_at, 1.72, -1},
                    {energy_at, 2.36, -0.5},
                    {slope_at, 2.5, 0.78125}}},
                  {"repulsion alone",
                   {{"u_r", 1}, {"a", 1}, {"b", 1.75}, {"c", 2}},
                   {{energy_at, 1, 1}, {energy_at, 1.375, 0.5}, {energy_at, 1.9, 0}}}},
      .range = "c",
      .note =
          "The hard core is another force (wca, lennard_jones_12_8, …): below a the ramp goes "
          "on. Forces jump at b and c: take short time steps.",
  };
}

}  // namespace

std::vector<Potential> models() {
  return {expanded_lennard_jones(), expanded_mie(),      jagla(),
          lennard_jones_12_8(),     lennard_jones_8_4(), lennard_jones_gauss(),
          oscillating_pair(),       wang_frenkel(),      zetterling()};
}

}  // namespace perrin::formula
