// The exchange that an ensemble asks for.
#pragma once

#include <memory>

#include "app/ensemble/exchange.h"
#include "engine/communicator/communicator.h"
#include "engine/job/variations.h"

namespace perrin {

/// nullptr: systems exchange nothing. `all`: the processes that have systems; it must live as long.
/// `threads`: of this process.
std::unique_ptr<Exchange> make_exchange(const Variations& variations, Communicator& all,
                                        int threads);

}  // namespace perrin
