// Potentials of atoms, ions and molecules.
#include "forces/formula/library.h"

namespace perrin::formula {
namespace {

using enum Number::Kind;

constexpr const char* coulomb_help =
    "e^2/(4 pi epsilon_0) in units of the job: 14.399645 eV angstrom, 138.93546 kJ/mol nm, "
    "332.06371 kcal/mol angstrom";
constexpr const char* bohr_help =
    "Bohr radius in units of the job: 0.52917721 angstrom, 0.052917721 nm";

/// Of two nuclei, Moliere and ZBL.
std::vector<Parameter> nuclei() {
  return {{"z_1", Positive{}, "", "atomic number of one nucleus"},
          {"z_2", Positive{}, "", "atomic number of the other nucleus"},
          {"coulomb", Positive{}, "energy · length", coulomb_help},
          {"bohr", Positive{}, "length", bohr_help}};
}

Potential moliere() {
  return {
      .type = "pair_formula",
      .name = "moliere",
      .title = "Molière: Coulomb repulsion of two nuclei, screened by their electrons",
      .energy =
          "coulomb*z_1*z_2/r*(0.35*exp(-0.3*x) + 0.55*exp(-1.2*x) + 0.1*exp(-6*x)); x = r/a; "
          "a = 0.8853*bohr/(sqrt(z_1) + sqrt(z_2))^(2/3)",
      .parameters = nuclei(),
      .source =
          "G. Molière, Z. Naturforsch. A 2, 133 (1947); screening length of O. B. Firsov, "
          "Sov. Phys. JETP 6, 534 (1958); both as in R. Smith, Atomic and Ion Collisions in "
          "Solids and at Surfaces (Cambridge, 1997)",
      // x = 1 at r = a: with unit charges, a = 0.8853 / 2^(2/3).
      .samples = {{"one screening length of unit charges",
                   {{"z_1", 1}, {"z_2", 1}, {"coulomb", 1}, {"bohr", 1}},
                   {{energy_at, 0.5577040527359657, 0.7623955159050595, 1e-12},
                    // The screening function begins at 1: the bare charges are left.
                    {energy_at, 1e-6, 1e6, 3e-6}}}},
  };
}

Potential zbl() {
  return {
      .type = "pair_formula",
      .name = "zbl",
      .title = "Ziegler, Biersack, Littmark: universal screened repulsion of two nuclei",
      .energy =
          "coulomb*z_1*z_2/r*(0.18175*exp(-3.1998*x) + 0.50986*exp(-0.94229*x) + "
          "0.28022*exp(-0.4029*x) + 0.02817*exp(-0.20162*x)); x = r/a; "
          "a = 0.8854*bohr/(z_1^0.23 + z_2^0.23)",
      .parameters = nuclei(),
      .source =
          "J. F. Ziegler, J. P. Biersack, U. Littmark, The Stopping and Range of Ions in "
          "Matter, vol. 1 (Pergamon, 1985), chapter 2; digits of the screening function as "
          "in LAMMPS (pair_style zbl)",
      .samples = {{"one screening length of unit charges",
                   {{"z_1", 1}, {"z_2", 1}, {"coulomb", 1}, {"bohr", 1}},
                   {{energy_at, 0.4427, 0.9406808463524342, 1e-12}, {energy_at, 1e-6, 1e6, 5e-6}}}},
  };
}

Potential bmhtf() {
  return {
      .type = "pair_formula",
      .name = "bmhtf",
      .title = "Born, Mayer, Huggins, Tosi, Fumi: ions of alkali halides, without their charges",
      .energy = "a*exp(b*(sigma - r)) - c/r^6 - d/r^8",
      .parameters = {{"a", NonNegative{}, "energy", "repulsion at the distance sigma"},
                     {"b", Positive{}, "1/length", "steepness of the repulsion"},
                     {"sigma", Positive{}, "length", "sum of the radii of the ions"},
                     {"c", NonNegative{}, "energy · length^6", "attraction of dipoles"},
                     {"d", NonNegative{}, "energy · length^8",
                      "attraction of a dipole and a quadrupole"}},
      .source =
          "M. P. Tosi, F. G. Fumi, J. Phys. Chem. Solids 25, 45 (1964); numbers of NaCl in "
          "J. Anwar, D. Frenkel, M. G. Noro, J. Chem. Phys. 118, 728 (2003), table I",
      // At sigma the exponential is 1: a - c/sigma^6 - d/sigma^8, worked out with these digits.
      .samples =
          {{"Na and Na of NaCl, kJ/mol and angstrom",
            {{"a", 25.4435}, {"b", 3.1546}, {"sigma", 2.34}, {"c", 101.1719}, {"d", 48.1771}},
            {{energy_at, 2.34, 24.77364518364001, 1e-12}}},
           {"Na and Cl of NaCl, kJ/mol and angstrom",
            {{"a", 20.3548}, {"b", 3.1546}, {"sigma", 2.755}, {"c", 674.4793}, {"d", 837.077}},
            {{energy_at, 2.755, 18.56002327926519, 1e-12}}},
           {"Cl and Cl of NaCl, kJ/mol and angstrom",
            {{"a", 15.2661}, {"b", 3.1546}, {"sigma", 3.17}, {"c", 6985.6786}, {"d", 14031.5785}},
            {{energy_at, 3.17, 7.005862807053553, 1e-12}}}},
      .note = "Charges interact by another force.",
  };
}

Potential girifalco() {
  return {
      .type = "pair_formula",
      .name = "girifalco",
      .title = "Girifalco: two spheres smeared with atoms that attract and repel, C60",
      .energy =
          "alpha*(2/s^4 - 1/(s*(s - 1)^3) - 1/(s*(s + 1)^3)) + "
          "beta*(1/(s*(s - 1)^9) + 1/(s*(s + 1)^9) - 2/s^10); s = r/diameter",
      .parameters = {{"alpha", Positive{}, "energy", "strength of the attraction"},
                     {"beta", Positive{}, "energy", "strength of the repulsion"},
                     {"diameter", Positive{}, "length", "diameter of the spheres of atoms, 2a"}},
      .source = "L. A. Girifalco, J. Phys. Chem. 96, 858 (1992), eq. 4",
      // Of C60 the well is 3218 K deep at 10.056 angstrom; k_B is 8.617333e-5 eV/K.
      .samples = {{"C60, eV and angstrom",
                   {{"alpha", 0.04677}, {"beta", 8.485e-5}, {"diameter", 7.1}},
                   {{minimum, 10.056, -0.27731, 1e-4, 0.001}, {zero, 9.593, 0, 1e-12, 0.001}}}},
      .from = "diameter",
  };
}

Potential saap() {
  return {
      .type = "pair_formula",
      .name = "saap",
      .title = "SAAP of Deiters and Sadus: noble gases, from ab initio energies",
      .energy =
          "epsilon*(a_0/x*exp(a_1*x + a_6*x^2) + a_2*exp(a_3*x) + a_4)/(1 + a_5*x^6); "
          "x = r/sigma",
      .parameters = {{"epsilon", Positive{}, "energy", "depth of the well"},
                     {"sigma", Positive{}, "length", "distance where the energy is zero"},
                     {"a_0", Positive{}, "", "strength of the repulsion"},
                     {"a_1", Any{}, "", "decay of the repulsion"},
                     {"a_2", Any{}, "", "strength of the attraction at short range"},
                     {"a_3", Any{}, "", "decay of the attraction at short range"},
                     {"a_4", Any{}, "", "strength of the dispersion"},
                     {"a_5", Positive{}, "", "damping of the dispersion"},
                     {"a_6", Any{}, "", "quadratic decay of the repulsion, of helium", 0}},
      .source =
          "U. K. Deiters, R. J. Sadus, J. Chem. Phys. 150, 134504 (2019); parameters of "
          "its table in units of epsilon and sigma",
      // By the meaning of epsilon and sigma the well is 1 deep and the energy 0 at 1, as far as the
      // table has digits.
      .samples = {{"neon (epsilon/k_B = 42.3616508 K, sigma = 0.2759124561 nm)",
                   {{"epsilon", 1},
                    {"sigma", 1},
                    {"a_0", 211781.8544},
                    {"a_1", -10.89769496},
                    {"a_2", -20.94225988},
                    {"a_3", -2.317079421},
                    {"a_4", -1.854049559},
                    {"a_5", 0.7454617542}},
                   {{zero, 1, 0, 1e-12, 1e-9}, {minimum, 1.118, -1, 1e-8, 1e-3}}},
                  {"argon (epsilon/k_B = 143.4899372 K, sigma = 0.3355134529 nm)",
                   {{"epsilon", 1},
                    {"sigma", 1},
                    {"a_0", 65214.64725},
                    {"a_1", -9.45234334},
                    {"a_2", -19.42488828},
                    {"a_3", -1.958381959},
                    {"a_4", -2.379111084},
                    {"a_5", 1.051490962}},
                   {{zero, 1, 0, 1e-12, 1e-9}, {minimum, 1.119, -1, 1e-9, 1e-3}}},
                  {"krypton (epsilon/k_B = 201.0821392 K, sigma = 0.357999364 nm)",
                   {{"epsilon", 1},
                    {"sigma", 1},
                    {"a_0", 60249.13228},
                    {"a_1", -9.456080572},
                    {"a_2", -24.40996013},
                    {"a_3", -2.182279261},
                    {"a_4", -1.95918047},
                    {"a_5", 0.874092399}},
                   {{zero, 1, 0, 1e-12, 1e-9}, {minimum, 1.121, -1, 1e-8, 1e-3}}}},
  };
}

Potential stockmayer() {
  return {
      .type = "pair_formula",
      .name = "stockmayer",
      .title = "Stockmayer, averaged over orientations: Lennard-Jones and Keesom's attraction",
      .energy = "4*epsilon*((sigma/r)^12 - (sigma/r)^6) - mu^4/(3*kt*r^6)",
      .parameters = {{"epsilon", Positive{}, "energy", "depth of the well without dipoles"},
                     {"sigma", Positive{}, "length", "distance where that energy is zero"},
                     {"mu", NonNegative{}, "(energy · length^3)^(1/2)",
                      "dipole moment over (4 pi epsilon_0)^(1/2)"},
                     {"kt", Positive{}, "energy", "k_B T of the orientations"}},
      .source =
          "W. H. Stockmayer, J. Chem. Phys. 9, 398 (1941); average over the orientations of "
          "two dipoles to the first order in 1/T: W. H. Keesom, Phys. Z. 22, 129 (1921)",
      // Lennard-Jones with the depth epsilon (1 + x)^2 and sigma^6/(1 + x), x = mu^4/(12 kt epsilon
      // sigma^6): x = 1/12.
      .samples = {{"mu* = 1 and T* = 1",
                   {{"epsilon", 1}, {"sigma", 1}, {"mu", 1}, {"kt", 1}},
                   {{minimum, 1.1075873363274982, -169.0 / 144, 1e-12, 1e-9},
                    {zero, 0.986748138162641, 0, 1e-12, 1e-9}}}},
      .note =
          "It holds where the energy of two dipoles is below k_B T. With mu = 0 it is the "
          "Lennard-Jones potential.",
  };
}

Potential fourier() {
  return {
      .type = "dihedral_formula",
      .name = "fourier",
      .title = "Fourier series of a dihedral angle: k_n (1 + cos(n phi - d_n)), n = 1 to 4",
      .energy =
          "k_1*(1 + cos(phi - d_1*pi/180)) + k_2*(1 + cos(2*phi - d_2*pi/180)) + "
          "k_3*(1 + cos(3*phi - d_3*pi/180)) + k_4*(1 + cos(4*phi - d_4*pi/180))",
      .parameters = {{"k_1", Any{}, "energy", "half the barrier of the term of 360°", 0},
                     {"k_2", Any{}, "energy", "half the barrier of the term of 180°", 0},
                     {"k_3", Any{}, "energy", "half the barrier of the term of 120°", 0},
                     {"k_4", Any{}, "energy", "half the barrier of the term of 90°", 0},
                     {"d_1", Any{}, "degrees", "phase of the term of 360°", 0},
                     {"d_2", Any{}, "degrees", "phase of the term of 180°", 0},
                     {"d_3", Any{}, "degrees", "phase of the term of 120°", 0},
                     {"d_4", Any{}, "degrees", "phase of the term of 90°", 0}},
      .source =
          "W. D. Cornell et al., J. Am. Chem. Soc. 117, 5179 (1995), eq. 1; butane by "
          "W. L. Jorgensen, J. D. Madura, C. J. Swenson, J. Am. Chem. Soc. 106, 6638 (1984), "
          "in kelvin as of M. G. Martin, J. I. Siepmann, J. Phys. Chem. B 102, 2569 (1998)",
      // cis: 2 (k_1 + k_3), 4.56 kcal/mol; eclipsed, 120°: (k_1 + 3 k_2)/2 + 2 k_3; trans: 0.
      .samples = {{"butane, kelvin",
                   {{"k_1", 355.03}, {"k_2", -68.19}, {"d_2", 180}, {"k_3", 791.32}},
                   {{energy_at, 0, 2292.7, 1e-9},
                    {energy_at, 2.0943951023932, 1657.87, 1e-9},
                    {minimum, 3.14159265358979, 0, 1e-9, 1e-6}}}},
      .note = "Trans is 180°. Terms of any order are those of dihedral_periodic, which is faster.",
  };
}

}  // namespace

std::vector<Potential> atoms() {
  return {bmhtf(), fourier(), girifalco(), moliere(), saap(), stockmayer(), zbl()};
}

}  // namespace perrin::formula
