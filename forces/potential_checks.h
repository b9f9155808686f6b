// What is missing of a potential, said in a sentence by the compiler: register_pair_potential<P>(),
// register_bond<P>(), … ask it first.
#pragma once

#include <concepts>
#include <string>

#include "engine/settings/settings.h"

namespace perrin {

template <class P>
concept NamesSettings = requires {
  typename P::Settings;
};
template <class P>
concept NamesCoefficients = requires {
  typename P::Coefficients;
};
template <class P>
concept HasType = requires {
  { P::type } -> std::convertible_to<const char*>;
};
template <class P>
concept HasHelp = requires {
  { P::help } -> std::convertible_to<const char*>;
};
template <class P>
concept MakesCoefficients = requires(const typename P::Settings& settings) {
  { P::coefficients(settings) } -> std::same_as<typename P::Coefficients>;
};

/// Always true; what is not so does not compile, and says why.
template <class P>
constexpr bool check_potential() {
  static_assert(NamesSettings<P>,
                "a potential needs a struct Settings, its settings in a job: struct Settings { "
                "double epsilon = 1; };");
  static_assert(NamesCoefficients<P>,
                "a potential needs a struct Coefficients, what its loop reads: "
                "struct Coefficients { Real epsilon; };");
  static_assert(HasType<P>,
                "a potential needs its name in jobs: static constexpr const char* type = \"...\";");
  static_assert(HasHelp<P>,
                "a potential needs a line for perrin help: "
                "static constexpr const char* help = \"...\";");
  if constexpr (NamesSettings<P>)
    static_assert(Described<typename P::Settings>,
                  "the Settings of a potential need, in the namespace of the potential: "
                  "template <class D> void describe(D& d, Potential::Settings& s)");
  if constexpr (NamesSettings<P> && NamesCoefficients<P>)
    static_assert(MakesCoefficients<P>,
                  "a potential needs: static Coefficients coefficients(const Settings&);");
  return true;
}

}  // namespace perrin
