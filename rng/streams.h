// All streams by name, for settings that let the user choose ("rng": "saru").
#pragma once

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "rng/stream.h"
#include "rng/stream_lagged_fibonacci.h"
#include "rng/stream_names.h"

namespace perrin {

/// Calls f(std::type_identity<Stream>{}) with the stream class of that name and returns what f
/// returns. Throws UserError for an unknown name.
template <class F>
auto with_stream(const std::string& name, F&& f) {
  using std::type_identity;
  if (name == "saru") return f(type_identity<KeyedStream<Saru>>{});
  if (name == "tea") return f(type_identity<KeyedStream<Tea>>{});
  if (name == "sarutea") return f(type_identity<KeyedStream<SaruTea>>{});
  if (name == "philox") return f(type_identity<KeyedStream<Philox>>{});
  if (name == "threefry") return f(type_identity<KeyedStream<Threefry>>{});
  if (name == "saru_state") return f(type_identity<ParticleStream<Saru>>{});
  if (name == "hybrid_taus") return f(type_identity<ParticleStream<HybridTaus>>{});
  if (name == "ran2") return f(type_identity<ParticleStream<Ran2>>{});
  if (name == "lcg") return f(type_identity<ParticleStream<Lcg>>{});
  if (name == "park_miller") return f(type_identity<ParticleStream<ParkMiller>>{});
  if (name == "mt607") return f(type_identity<ParticleStream<Mt607Generator>>{});
  if (name == "lagged_fibonacci") return f(type_identity<LaggedFibonacciStream>{});
  std::string known;
  for (const std::string& n : stream_names()) known += (known.empty() ? "" : ", ") + n;
  throw UserError("unknown random generator '" + name + "', expected one of " + known);
}

}  // namespace perrin
