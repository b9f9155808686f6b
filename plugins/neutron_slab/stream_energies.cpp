// Neutrons with energies, and generators with a state.
#include "stream_transport.h"

namespace neutron {
namespace {

struct ChooseEnergies {
  const Device& device;
  const TransportSettings& s;
  template <template <class> class Made>
  std::unique_ptr<Transport> operator()() const {
    if (s.weighted) return std::make_unique<Made<WithEnergies<true>>>(device, s);
    return std::make_unique<Made<WithEnergies<false>>>(device, s);
  }
};

}  // namespace

std::unique_ptr<Transport> make_stream_energies(const Device& device, const TransportSettings& s) {
  return with_stream_of(device, s, ChooseEnergies{device, s});
}

}  // namespace neutron
