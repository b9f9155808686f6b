#include "engine/run/integrator.h"

#include "engine/run/simulation.h"

namespace perrin {

void Integrator::measure_heat(Simulation& simulation, double* heat) {
  simulation.device().zero(heat, sizeof *heat);
}

double Integrator::heat(Simulation& simulation) {
  Buffer<double> heat(simulation.device(), 1);
  measure_heat(simulation, heat.data());
  return heat.to_host(0);
}

}  // namespace perrin
