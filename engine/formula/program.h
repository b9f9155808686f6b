// A formula that kernels evaluate as it stands, in double precision and without a compiler: for
// what is computed once in a step, or once for each particle, but not for pairs.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/base/real.h"
#include "engine/formula/expression.h"

namespace perrin::formula {

enum class Operation : std::uint32_t {
  number,
  variable,
  add,
  multiply,
  power,
  square,
  inverse,
  sqrt,
  exp,
  log,
  sin,
  cos,
  tan,
  asin,
  acos,
  atan,
  sinh,
  cosh,
  tanh,
  erf,
  erfc,
  abs,
  sign,
  step,
  min,
  max,
  pow,
  less,
  choose,
  log_slope
};

/// One operation of a machine with a stack.
struct Instruction {
  Operation operation;
  std::uint32_t variable;  // its place among those that evaluate() is given
  double number;           // a number, or an exponent
};

/// What kernels are given: its instructions in memory of their device.
struct ProgramView {
  static constexpr int depth = 24;  // of the stack

  const Instruction* code = nullptr;
  int length = 0;

  PERRIN_HD explicit operator bool() const { return length > 0; }
  /// `value`; NaN, where x is that.
  PERRIN_HD static double number_or(double x, double value) { return x == x ? value : x; }
  PERRIN_HD double evaluate(const double* variables) const {
    double stack[depth];
    int top = -1;
    for (int k = 0; k < length; ++k) {
      const Instruction& i = code[k];
      switch (i.operation) {
        case Operation::number:
          stack[++top] = i.number;
          break;
        case Operation::variable:
          stack[++top] = variables[i.variable];
          break;
        case Operation::add:
          --top, stack[top] += stack[top + 1];
          break;
        case Operation::multiply:
          --top, stack[top] *= stack[top + 1];
          break;
        case Operation::power:
          stack[top] = std::pow(stack[top], i.number);
          break;
        case Operation::square:
          stack[top] *= stack[top];
          break;
        case Operation::inverse:
          stack[top] = 1 / stack[top];
          break;
        case Operation::sqrt:
          stack[top] = std::sqrt(stack[top]);
          break;
        case Operation::exp:
          stack[top] = std::exp(stack[top]);
          break;
        case Operation::log:
          stack[top] = std::log(stack[top]);
          break;
        case Operation::sin:
          stack[top] = std::sin(stack[top]);
          break;
        case Operation::cos:
          stack[top] = std::cos(stack[top]);
          break;
        case Operation::tan:
          stack[top] = std::tan(stack[top]);
          break;
        case Operation::asin:
          stack[top] = std::asin(stack[top]);
          break;
        case Operation::acos:
          stack[top] = std::acos(stack[top]);
          break;
        case Operation::atan:
          stack[top] = std::atan(stack[top]);
          break;
        case Operation::sinh:
          stack[top] = std::sinh(stack[top]);
          break;
        case Operation::cosh:
          stack[top] = std::cosh(stack[top]);
          break;
        case Operation::tanh:
          stack[top] = std::tanh(stack[top]);
          break;
        case Operation::erf:
          stack[top] = std::erf(stack[top]);
          break;
        case Operation::erfc:
          stack[top] = std::erfc(stack[top]);
          break;
        case Operation::abs:
          stack[top] = std::fabs(stack[top]);
          break;
        case Operation::sign:
          stack[top] = number_or(stack[top], stack[top] > 0 ? 1 : stack[top] < 0 ? -1 : 0);
          break;
        case Operation::step:
          stack[top] = number_or(stack[top], stack[top] >= 0 ? 1 : 0);
          break;
        case Operation::min:
          --top, stack[top] = number_or(
                     stack[top], number_or(stack[top + 1], std::fmin(stack[top], stack[top + 1])));
          break;
        case Operation::max:
          --top, stack[top] = number_or(
                     stack[top], number_or(stack[top + 1], std::fmax(stack[top], stack[top + 1])));
          break;
        case Operation::pow:
          --top, stack[top] = std::pow(stack[top], stack[top + 1]);
          break;
        case Operation::less:
          --top, stack[top] = number_or(
                     stack[top], number_or(stack[top + 1], stack[top] < stack[top + 1] ? 1 : 0));
          break;
        case Operation::choose:
          top -= 2;
          stack[top] = number_or(stack[top], stack[top] != 0 ? stack[top + 1] : stack[top + 2]);
          break;
        case Operation::log_slope:
          stack[top] = stack[top] >= 0 ? 1 / stack[top] : NAN;
          break;
      }
    }
    return stack[0];
  }
};

/// `variables`: every name that is in the formula, in the order in which evaluate() takes them.
/// Throws UserError where calls are nested too deeply.
std::vector<Instruction> program(const Expression& e, const std::vector<std::string>& variables);

}  // namespace perrin::formula
