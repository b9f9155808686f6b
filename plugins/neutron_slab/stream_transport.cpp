#include "stream_transport.h"

namespace neutron {
namespace {

struct ChooseOneSpeed {
  const Device& device;
  const TransportSettings& s;
  template <template <class> class Made>
  std::unique_ptr<Transport> operator()() const {
    const bool observe = !s.edges.empty() || s.angles > 0;
    if (s.weighted && observe) return std::make_unique<Made<OneSpeed<true, true>>>(device, s);
    if (s.weighted) return std::make_unique<Made<OneSpeed<true, false>>>(device, s);
    if (observe) return std::make_unique<Made<OneSpeed<false, true>>>(device, s);
    return std::make_unique<Made<OneSpeed<false, false>>>(device, s);
  }
};

}  // namespace

std::unique_ptr<Transport> make_stream(const Device& device, const TransportSettings& s) {
  return with_stream_of(device, s, ChooseOneSpeed{device, s});
}

}  // namespace neutron
