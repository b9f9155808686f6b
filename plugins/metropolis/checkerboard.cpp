#include "checkerboard.h"

#include <fmt/format.h>

#include "checkerboard_engine.h"

namespace perrin::metropolis {
namespace {

/// The longest cut-off. Throws where a pair has none.
double longest_range(const Model& model) {
  double range = 0;
  const auto rows = make_rows<double>(model, model.kT);
  for (std::size_t k = 0; k < model.pairs.size(); ++k) {
    if (model.pairs[k].cutoff <= 0 && model.pairs[k].kind != PairKind::wca)
      throw UserError(fmt::format(
          "engine \"checkerboard\" needs a cut-off for every pair of types; {}, {} has none",
          model.types[k / model.types.size()], model.types[k % model.types.size()]));
    range = std::max({range, std::sqrt(rows[k].cutoff2), std::sqrt(rows[k].core2)});
  }
  return range;
}

bool only_lennard_jones(const Model& model) {
  return std::all_of(model.pairs.begin(), model.pairs.end(), [](const PairParameters& p) {
    return p.kind == PairKind::lennard_jones && p.core == 0;
  });
}

template <class P>
std::unique_ptr<CheckerboardEngine> make(System& system, const ChainOptions& chain,
                                         const CheckerboardOptions& options, double range) {
  if (chain.single_precision)
    return std::make_unique<CheckerboardOf<P, float>>(system, chain, options, range);
  return std::make_unique<CheckerboardOf<P, double>>(system, chain, options, range);
}

}  // namespace

std::unique_ptr<CheckerboardEngine> make_checkerboard(System& system, const ChainOptions& chain,
                                                      const CheckerboardOptions& options) {
  const Model& model = system.model();
  if (!model.atoms_only())
    throw UserError(
        "engine \"checkerboard\" moves only atoms (molecules of one site at the centre); use "
        "\"pipelined\" for molecules");
  if (system.replicas() > 1)
    throw UserError(fmt::format(
        "engine \"checkerboard\" is for one large system, not {} replicas; use \"pipelined\"",
        system.replicas()));
  if (chain.random_order)
    throw UserError(
        "engine \"checkerboard\" moves the atoms of a domain in order: order \"random\" is for the "
        "other engines");
  const double range = longest_range(model);
  return only_lennard_jones(model) ? make<CutLennardJones>(system, chain, options, range)
                                   : make<AnyPair>(system, chain, options, range);
}

}  // namespace perrin::metropolis
