#include "engine/formula/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "engine/base/error.h"

namespace perrin::formula {
namespace {

const std::map<std::string, Operation>& operations() {
  static const std::map<std::string, Operation> all{{"sqrt", Operation::sqrt},
                                                    {"exp", Operation::exp},
                                                    {"log", Operation::log},
                                                    {"sin", Operation::sin},
                                                    {"cos", Operation::cos},
                                                    {"tan", Operation::tan},
                                                    {"asin", Operation::asin},
                                                    {"acos", Operation::acos},
                                                    {"atan", Operation::atan},
                                                    {"sinh", Operation::sinh},
                                                    {"cosh", Operation::cosh},
                                                    {"tanh", Operation::tanh},
                                                    {"erf", Operation::erf},
                                                    {"erfc", Operation::erfc},
                                                    {"abs", Operation::abs},
                                                    {"sign", Operation::sign},
                                                    {"step", Operation::step},
                                                    {"min", Operation::min},
                                                    {"max", Operation::max},
                                                    {"pow", Operation::pow},
                                                    {"less", Operation::less},
                                                    {"if", Operation::choose},
                                                    {"log_slope", Operation::log_slope}};
  return all;
}

class Writer {
 public:
  explicit Writer(const std::vector<std::string>& variables) : variables_(variables) {}

  void write(const Expression& e) {
    if (e->terms.empty()) return push({Operation::number, 0, 0});
    for (std::size_t t = 0; t < e->terms.size(); ++t) {
      const Term& term = e->terms[t];
      bool first = term.factors.empty() || term.number != 1;
      if (first) push({Operation::number, 0, term.number});
      for (const Factor& f : term.factors) {
        write(f);
        if (first) join(Operation::multiply, 2);
        first = true;
      }
      if (t > 0) join(Operation::add, 2);
    }
  }
  const std::vector<Instruction>& code() const { return code_; }

 private:
  void write(const Factor& f) {
    const Atom& atom = *f.atom;
    for (const Expression& argument : atom.arguments) write(argument);
    if (atom.kind == Atom::Kind::call) {
      join(operations().at(atom.name), int(atom.arguments.size()));
    } else if (atom.kind != Atom::Kind::sum) {
      const auto at = std::ranges::find(variables_, atom.name);
      PERRIN_ASSERT(at != variables_.end());
      push({Operation::variable, std::uint32_t(at - variables_.begin()), 0});
    }
    if (f.exponent == 2)
      join(Operation::square, 1);
    else if (f.exponent == -1)
      join(Operation::inverse, 1);
    else if (f.exponent == 0.5)
      join(Operation::sqrt, 1);
    else if (f.exponent != 1)
      code_.push_back({Operation::power, 0, f.exponent});
  }
  void push(const Instruction& i) {
    if (++height_ > ProgramView::depth)
      throw UserError(
          fmt::format("parentheses and calls of the formula are nested more than {} "
                      "deep",
                      ProgramView::depth));
    code_.push_back(i);
  }
  /// Takes so many numbers from the stack, and leaves one.
  void join(Operation operation, int taken) {
    height_ -= taken - 1;
    code_.push_back({operation, 0, 0});
  }

  const std::vector<std::string>& variables_;
  std::vector<Instruction> code_;
  int height_ = 0;
};

}  // namespace

std::vector<Instruction> program(const Expression& e, const std::vector<std::string>& variables) {
  Writer writer(variables);
  writer.write(e);
  return writer.code();
}

}  // namespace perrin::formula
