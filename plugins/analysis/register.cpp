#include "register.h"

#include "chain_size.h"
#include "profile.h"
#include "structure_factor.h"

namespace perrin {

void register_analysis(Registry& registry) {
  analysis::register_profile(registry);
  analysis::register_structure_factor(registry);
  analysis::register_chain_size(registry);
}

}  // namespace perrin
