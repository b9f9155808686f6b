#include "app/rng_numbers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>

#include "engine/formula/parse.h"
#include "io/text_lines.h"
#include "rng/density.h"

namespace perrin {
namespace {

/// The words of a source with what every generator can be asked for.
class Words : public Distributions<Words> {
 public:
  explicit Words(WordSource& source) : source_(source) {}
  std::uint32_t next() { return source_.next(); }

 private:
  WordSource& source_;
};

/// Writes numbers until there are enough, or nobody reads any more.
class Writer {
 public:
  explicit Writer(std::uint64_t count) : count_(count) {}
  /// False when it has had enough.
  bool write(double value) {
    text_ += fmt::format("{:.17g}\n", value);
    ++written_;
    if (written_ != count_ && text_.size() < 65536) return true;
    const bool taken = std::fwrite(text_.data(), 1, text_.size(), stdout) == text_.size() &&
                       std::fflush(stdout) == 0;
    text_.clear();
    if (!taken && errno != EPIPE)
      throw RunError(std::string("cannot write to standard output: ") + std::strerror(errno));
    return taken && written_ != count_;
  }

 private:
  std::uint64_t count_, written_ = 0;
  std::string text_;
};

/// `draw` gives one number.
template <class Draw>
void write_each(std::uint64_t count, const Draw& draw) {
  Writer writer(count);
  while (writer.write(draw())) {
  }
}
/// `draw` gives two.
template <class Draw>
void write_pairs(std::uint64_t count, const Draw& draw) {
  Writer writer(count);
  for (;;) {
    const Pair<double> two = draw();
    if (!writer.write(two.first) || !writer.write(two.second)) return;
  }
}

void write_normals(Words& g, const std::string& method, std::uint64_t count) {
  if (method.empty() || method == "inversion")
    return write_each(count, [&] { return double(g.normal_quantile()); });
  if (method == "box_muller") return write_pairs(count, [&] { return g.normal_pair<double>(); });
  if (method == "polar") return write_pairs(count, [&] { return g.normal_pair_polar<double>(); });
  if (method == "ziggurat") return write_each(count, [&] { return g.normal_ziggurat<double>(); });
  throw UserError("--method " + method + ": expected inversion, box_muller, polar or ziggurat");
}

formula::Formula formula_of(const std::string& option, const std::string& text,
                            const std::vector<std::string>& variables) {
  try {
    auto parsed = formula::parse(text, variables);
    if (parsed.parameters.empty()) return parsed;
    throw UserError(fmt::format("unknown name \"{}\", expected the variables {}",
                                parsed.parameters[0], fmt::join(variables, ", ")));
  } catch (const UserError& e) {
    throw UserError(option + ": " + e.what());
  }
}

/// Points of the density that a formula gives, so close that its integral is right to 10^-7 where
/// it does not jump, and at most a million.
Density<double> tabulated(const std::string& text, const std::vector<double>& range) {
  if (range.size() != 2 || !(range[1] > range[0]) || !std::isfinite(range[1] - range[0]))
    throw UserError("--density needs --range LOW,HIGH, two numbers that increase");
  const auto parsed = formula_of("--density", text, {"x"});
  const auto value = [&](double x) {
    const double v = formula::evaluate(parsed.value, {{"x", x}});
    if (!std::isfinite(v) || v < 0)
      throw UserError(
          fmt::format("--density: must be finite and not negative, got {:g} at x = {:g}", v, x));
    return v;
  };
  const double length = range[1] - range[0];
  std::vector<double> p{value(range[0]), value(range[1])};
  for (std::size_t n = 1;;) {  // intervals
    // Halve them: what the middles say beside the trapezes is three quarters of the error.
    std::vector<double> finer{p[0]};
    double trapezes = 0, middles = 0;
    for (std::size_t k = 0; k < n; ++k) {
      const double middle = value(range[0] + length * (double(k) + 0.5) / double(n));
      trapezes += (p[k] + p[k + 1]) / 2;
      middles += middle;
      finer.push_back(middle);
      finer.push_back(p[k + 1]);
    }
    p = std::move(finer);
    n *= 2;
    const bool close = std::abs(middles - trapezes) <= 1e-7 * (middles + trapezes);
    if ((close && n >= 4096) || n >= (std::size_t(1) << 20)) break;
  }
  std::vector<double> x;
  for (std::size_t k = 0; k < p.size(); ++k)
    x.push_back(range[0] + length * double(k) / double(p.size() - 1));
  return Density<double>::of(x, p);
}

Density<double> from_file(const std::string& path) {
  io::TextLines lines(path);
  std::vector<double> x, p;
  while (lines.next()) {
    const auto words = lines.words(true);
    if (words.empty()) continue;
    if (words.size() != 2) lines.fail("expected two numbers, x and the density there");
    x.push_back(lines.real(words[0], "x"));
    p.push_back(lines.real(words[1], "a density"));
  }
  try {
    return Density<double>::of(x, p);
  } catch (const UserError& e) {
    throw UserError(path + ": " + e.what());
  }
}

void measure_figure(Words& g, const NumberArguments& a, std::uint64_t count) {
  static const std::vector<std::string> names{"x", "y", "z"};
  const std::size_t dimensions = a.box.size() / 2;
  if (a.box.size() % 2 != 0 || dimensions < 1 || dimensions > names.size())
    throw UserError(fmt::format(
        "--figure needs --box LOW,HIGH of x, then of y, then of z: 2, 4 or 6 numbers, got {}",
        a.box.size()));
  double size = 1;
  for (std::size_t k = 0; k < dimensions; ++k) {
    const double edge = a.box[2 * k + 1] - a.box[2 * k];
    if (!(edge > 0) || !std::isfinite(edge))
      throw UserError(fmt::format("--box: {} must go from a smaller to a larger number, got {}, {}",
                                  names[k], a.box[2 * k], a.box[2 * k + 1]));
    size *= edge;
  }
  const auto parsed =
      formula_of("--figure", a.figure, {names.begin(), names.begin() + std::ptrdiff_t(dimensions)});
  if (count == 0) count = 1000000;
  std::uint64_t within = 0;
  std::map<std::string, double> point;
  for (std::uint64_t i = 0; i < count; ++i) {
    for (std::size_t k = 0; k < dimensions; ++k)
      point[names[k]] = a.box[2 * k] + g.uniform<double>() * (a.box[2 * k + 1] - a.box[2 * k]);
    const double v = formula::evaluate(parsed.value, point);
    if (std::isnan(v))
      throw UserError("--figure: the formula has no value at some points of the box");
    if (v > 0) ++within;
  }
  const double n = double(count), share = double(within) / n;
  const char* const what[] = {"length", "area", "volume"};
  // Of a share of 0 or 1 the points tell a bound alone: (1 - 3/n)^n is 5 %.
  const bool certain = within == 0 || within == count;
  const double error = certain ? 3 / n : std::sqrt(share * (1 - share) / n);
  fmt::print("{} {:.8g} ± {:.2g} ({} of {} points in a box of {:g}{})\n", what[dimensions - 1],
             share * size, error * size, within, count, size,
             certain ? "; ±: with a confidence of 95 %" : "");
}

}  // namespace

void write_numbers(WordSource& source, const NumberArguments& a, std::uint64_t count) {
  const int given = int(!a.distribution.empty()) + int(!a.density.empty()) +
                    int(!a.density_file.empty()) + int(!a.figure.empty());
  if (given > 1)
    throw UserError("give one of --distribution, --density, --density-file and --figure");
  if (!a.method.empty() && a.distribution != "normal")
    throw UserError("--method is for --distribution normal");
  if (!a.range.empty() && a.density.empty()) throw UserError("--range is for --density");
  if (!a.box.empty() && a.figure.empty()) throw UserError("--box is for --figure");
  Words g(source);
  if (!a.figure.empty()) return measure_figure(g, a, count);
  if (!a.density.empty() || !a.density_file.empty()) {
    const auto density =
        a.density.empty() ? from_file(a.density_file) : tabulated(a.density, a.range);
    return write_each(count, [&, view = density.view()] { return view.draw(g); });
  }
  if (a.distribution == "normal") return write_normals(g, a.method, count);
  if (a.distribution == "uniform") return write_each(count, [&] { return g.uniform<double>(); });
  if (a.distribution == "exponential")
    return write_each(count, [&] { return g.exponential<double>(); });
  throw UserError("--distribution " + a.distribution + ": expected uniform, normal or exponential");
}

}  // namespace perrin
