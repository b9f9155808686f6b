#include "keyed_transport.h"
#include "engine/base/error.h"

namespace neutron {
namespace {

template <class Generator>
std::unique_ptr<Transport> keyed_transport(const Device& device, const TransportSettings& s) {
  const bool observe = !s.edges.empty() || s.angles > 0;
  if (s.weighted && observe)
    return std::make_unique<KeyedTransport<Generator, OneSpeed<true, true>>>(device, s);
  if (s.weighted)
    return std::make_unique<KeyedTransport<Generator, OneSpeed<true, false>>>(device, s);
  if (observe) return std::make_unique<KeyedTransport<Generator, OneSpeed<false, true>>>(device, s);
  return std::make_unique<KeyedTransport<Generator, OneSpeed<false, false>>>(device, s);
}

/// Neutrons of one speed.
std::unique_ptr<Transport> make_keyed(const Device& device, const TransportSettings& s) {
  if (s.generator == "saru") return keyed_transport<perrin::Saru>(device, s);
  if (s.generator == "tea") return keyed_transport<perrin::Tea>(device, s);
  if (s.generator == "sarutea") return keyed_transport<perrin::SaruTea>(device, s);
  if (s.generator == "philox") return keyed_transport<perrin::Philox>(device, s);
  if (s.generator == "threefry") return keyed_transport<perrin::Threefry>(device, s);
  return nullptr;
}

}  // namespace

const std::vector<std::string>& generators() {
  static const std::vector<std::string> names = {
      "saru",        "tea",  "sarutea", "philox",      "threefry", "saru_state",
      "hybrid_taus", "ran2", "lcg",     "park_miller", "mt607",    "mt19937"};
  return names;
}

bool is_keyed(const std::string& g) {
  return g == "saru" || g == "tea" || g == "sarutea" || g == "philox" || g == "threefry";
}

std::unique_ptr<Transport> make_transport(const Device& device, const TransportSettings& s) {
  if (auto transport = s.problem ? make_keyed_energies(device, s) : make_keyed(device, s))
    return transport;
  if (auto transport = s.problem ? make_stream_energies(device, s) : make_stream(device, s))
    return transport;
  std::string known;
  for (const std::string& name : generators()) known += (known.empty() ? "" : ", ") + name;
  throw perrin::UserError("unknown generator '" + s.generator + "', expected one of " + known);
}

}  // namespace neutron
