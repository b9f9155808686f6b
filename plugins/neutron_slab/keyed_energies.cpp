// Neutrons with energies, and generators made afresh for every history.
#include "keyed_transport.h"

namespace neutron {
namespace {

template <class Generator>
std::unique_ptr<Transport> keyed_energies(const Device& device, const TransportSettings& s) {
  if (s.weighted) return std::make_unique<KeyedTransport<Generator, WithEnergies<true>>>(device, s);
  return std::make_unique<KeyedTransport<Generator, WithEnergies<false>>>(device, s);
}

}  // namespace

std::unique_ptr<Transport> make_keyed_energies(const Device& device, const TransportSettings& s) {
  if (s.generator == "saru") return keyed_energies<perrin::Saru>(device, s);
  if (s.generator == "tea") return keyed_energies<perrin::Tea>(device, s);
  if (s.generator == "sarutea") return keyed_energies<perrin::SaruTea>(device, s);
  if (s.generator == "philox") return keyed_energies<perrin::Philox>(device, s);
  if (s.generator == "threefry") return keyed_energies<perrin::Threefry>(device, s);
  return nullptr;
}

}  // namespace neutron
