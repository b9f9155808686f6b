#include "app/report/observables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "app/report/lines.h"
#include "app/report/number.h"
#include "app/report/row_means.h"
#include "app/report/series_statistics.h"
#include "engine/base/error.h"
#include "io/hdf5_values.h"

namespace perrin::report {
namespace {

constexpr std::size_t most_series = 16, most_lines = 24;
constexpr std::int64_t most_rows = 1000;  // of a curve

std::string unit_of(const io::Node& node) {
  const auto unit = io::read_text_attribute(node, "unit");
  return unit.empty() ? "" : unit[0];
}

class Observables {
 public:
  Observables(const io::Node& root, const Record& record)
      : root_(root), record_(record), group_(root.open("observables")) {
    for (const std::string& name : group_.children())
      if (group_.has(name + "/value")) shapes_[name] = shape(name);
    // Looked up once: a file may have thousands of observables.
    for (const auto& [name, s] : shapes_)
      if (const std::string axis = read_axis(name); !axis.empty()) axes_[name] = axis;
    for (const auto& [name, axis] : axes_) are_axes_.insert(axis);
    for (const auto& [name, s] : shapes_)
      if (s.size() == 2 && is_axis(name)) plain_axes_.push_back(name);
    if (shapes_.empty()) throw UserError(root.file() + ": no observables with values");
    for (const auto& [name, s] : shapes_) adds_up_ = adds_up_ || is_error(name);
    read_clock();
  }

  Json page() {
    Json series = Json::array(), curves = Json::array(), results = Json::array(),
         no_numbers = Json::array();
    for (const auto& [name, shape] : shapes_) {
      if (shape[0] == 0 || is_axis(name) || is_error(name)) continue;
      const std::size_t width = width_of(shape);
      if (shape.size() > 1 && (!axis_of(name).empty() || width > most_series || is_bins(name)))
        curves.push_back(curve(name));
      else if (width == 1 && (adds_up_ || lags() > 0))
        results.push_back(result(name));
      else
        add_series(name, series, no_numbers);
    }
    return {{"clock", {{"name", counts_ ? "step" : "time"}, {"unit", time_unit_}}},
            {"rows", std::int64_t(steps_.size())},
            {"last_step", steps_.empty() ? Json() : Json(steps_.back())},
            {"stage", stage_},
            {"stride", steps_.size() > 1 ? steps_.back() - steps_[steps_.size() - 2] : 0},
            {"marks", marks()},
            {"series", series},
            {"no_numbers", no_numbers},
            {"curves", curves},
            {"results", results}};
  }

 private:
  io::Shape shape(const std::string& name) const {
    const io::Shape s = io::shape_of_numbers(group_.open(name + "/value"));
    if (s.empty()) throw UserError(fmt::format("{}: {}: no rows", root_.file(), name));
    return s;
  }
  static std::size_t width_of(const io::Shape& s) {
    std::size_t n = 1;
    for (std::size_t k = 1; k < s.size(); ++k) n *= s[k];
    return n;
  }
  io::Node value(const std::string& name) const { return group_.open(name + "/value"); }

  void read_clock() {
    const io::Node any = group_.open(shapes_.begin()->first);
    if (!any.has("step") || !any.has("time"))
      throw UserError(fmt::format("{}: {}: step or time is missing", root_.file(), any.path()));
    steps_ = io::read_integers<std::int64_t>(any.open("step"));
    times_ = io::read_reals(any.open("time"));
    time_unit_ = unit_of(any.open("time"));
    const std::size_t n =
        std::min({steps_.size(), times_.size(), std::size_t(shapes_.begin()->second[0])});
    steps_.resize(n);
    times_.resize(n);
    counts_ = true;
    for (std::size_t k = 0; k < n; ++k) counts_ = counts_ && times_[k] == double(steps_[k]);
    if (counts_) time_unit_ = "";
    for (const auto& [name, begin] : record_.stages)
      if (begin >= 0 && n > 0 && steps_.back() >= begin) {
        first_ = std::size_t(std::ranges::lower_bound(steps_, begin) - steps_.begin());
        // A row at its first step is the last one of the stage before: of its conserved energy.
        drawn_ = first_ + (first_ > 0 && first_ + 1 < n && steps_[first_] == begin ? 1 : 0);
        stage_ = name;
      }
  }

  bool is_axis(const std::string& name) const {
    for (const char* known : {"r", "lag_time", "coordinate", "k"})
      if (name == known && shapes_.at(name).size() == 2) return true;
    return name.ends_with("_edges") || are_axes_.contains(name);
  }
  bool is_error(const std::string& name) const {
    return name.ends_with("_error") && shapes_.contains(name.substr(0, name.size() - 6));
  }
  static bool is_bins(const std::string& name) { return name.ends_with("distribution"); }
  std::string read_axis(const std::string& name) const {
    const auto axis = io::read_text_attribute(group_.open(name), "axis");
    return axis.empty() || axis[0] == name || !shapes_.contains(axis[0]) ? "" : axis[0];
  }
  /// The observable that says where the values of this one are; empty: none.
  std::string axis_of(const std::string& name) const {
    if (const auto named = axes_.find(name); named != axes_.end()) return named->second;
    const io::Shape& own = shapes_.at(name);
    for (const std::string& axis : plain_axes_)
      for (std::size_t k = 1; axis != name && k < own.size(); ++k) {
        const hsize_t n = shapes_.at(axis)[1];
        if (n == own[k] || (axis.ends_with("_edges") && n == own[k] + 1)) return axis;
      }
    return "";
  }

  Json marks() const {
    Json list = Json::array();
    for (const auto& [name, begin] : record_.stages) {
      const auto at = std::ranges::lower_bound(steps_, begin);
      if (begin >= 0 && at != steps_.end())
        list.push_back({{"name", name}, {"x", number(times_[std::size_t(at - steps_.begin())])}});
    }
    return list;
  }

  /// "x", "yz" or the names that the file has for this number of values.
  std::vector<std::string> labels(std::size_t n) const {
    for (const char* path : {"parameters/perrin/pairs", "parameters/perrin/types"})
      if (root_.has(path))
        if (const auto names = io::read_names(root_.open(path)); names.size() == n) return names;
    if (n == 3) return {"x", "y", "z"};
    if (n == 9) return {"xx", "xy", "xz", "yx", "yy", "yz", "zx", "zy", "zz"};
    std::vector<std::string> list;
    for (std::size_t k = 0; k < n; ++k) list.push_back(n == 1 ? "" : fmt::format("{}", k));
    return list;
  }

  Json statistics_of(const std::vector<double>& y) const {
    const auto s = series_statistics(std::span(y).subspan(std::min(first_, y.size())));
    const std::size_t start = std::min(first_ + std::size_t(s.start), times_.size() - 1);
    return {{"mean", number(s.blocked.mean)},
            {"error", number(s.blocked.error)},
            {"block", s.blocked.block},
            {"errors", numbers(s.blocked.errors)},
            {"rows", s.rows},
            {"start", s.start},
            {"start_x", number(times_[start])},
            {"start_step", steps_[start]},
            {"inefficiency", number(s.inefficiency)},
            {"independent", number(s.independent)},
            {"drift", number(s.drift)},
            {"level", s.level},
            {"verdict", s.verdict}};
  }

  /// `no_numbers`: gets how many rows of it are left out, since they are no numbers.
  void add_series(const std::string& name, Json& series, Json& no_numbers) const {
    Json one = this->series(name);
    std::int64_t most = 0;
    for (const Json& count : one["left_out"]) most = std::max(most, count.get<std::int64_t>());
    if (most > 0) no_numbers.push_back({{"name", name}, {"rows", most}});
    if (!one["lines"].empty()) series.push_back(std::move(one));
  }

  Json series(const std::string& name) const {
    const io::Node node = value(name);
    const std::vector<double> all = io::read_reals(node);
    const std::size_t width = width_of(shapes_.at(name));
    const auto names = labels(width);
    Json lines = Json::array(), left_out = Json::array();  // of each component: rows
    for (std::size_t c = 0; c < width; ++c) {
      std::vector<double> y;
      for (std::size_t t = 0; t < steps_.size() && t * width + c < all.size(); ++t)
        y.push_back(all[t * width + c]);
      // Overdamped motion has no kinetic energy and no momentum: rows of no number.
      std::vector<double> x, known;
      for (std::size_t t = 0; t < y.size(); ++t)
        if (std::isfinite(y[t])) x.push_back(times_[t]), known.push_back(y[t]);
      left_out.push_back(y.size() - known.size());
      if (known.empty()) continue;
      const bool whole = std::all_of(y.begin() + std::ptrdiff_t(std::min(first_, y.size())),
                                     y.end(), [](double v) { return std::isfinite(v); });
      lines.push_back(series_line(names[c], x, known));
      const auto later = std::ranges::lower_bound(x, drawn_ < times_.size() ? times_[drawn_] : 0);
      if (const auto skipped = later - x.begin(); skipped > 0 && later != x.end()) {
        const auto from = [&](const auto& list) {
          return std::vector<double>(list.begin() + skipped, list.end());
        };
        lines.back()["last_stage"] = series_line(names[c], from(x), from(known));
      }
      lines.back()["statistics"] =
          name.ends_with("_since_start") || !whole ? Json() : statistics_of(y);
    }
    return {{"name", name},
            {"unit", unit_of(node)},
            {"stage", stage_},
            {"lines", lines},
            {"left_out", left_out}};
  }

  /// Means over the rows of the last stage, with their standard errors.
  struct Means {
    std::vector<double> mean, error;
    std::string what;
  };

  Json result(const std::string& name) const {
    const Means m = last_row(name, std::int64_t(steps_.size()) - 1);
    return {{"name", name},
            {"unit", unit_of(value(name))},
            {"value", number(m.mean.at(0))},
            {"error", m.error.empty() ? Json() : number(m.error[0])}};
  }

  Means means(const std::string& name, const std::string& axis) const {
    const auto last = std::int64_t(std::min<hsize_t>(steps_.size(), shapes_.at(name)[0])) - 1;
    if (axis == "lag_time" || shapes_.contains(name + "_error")) return last_row(name, last);
    const auto first = std::min(std::int64_t(first_), last), rows = last - first + 1,
               used = std::min(rows, most_rows);
    RowMeans sums;
    for (std::int64_t k = 0; k < used; ++k)
      sums.add(io::read_reals(value(name), first + k * rows / used));
    return {sums.mean(), sums.error(),
            fmt::format("mean of {} of {} rows{}", used, rows, sums.text())};
  }

  /// The number of lags of a file that counts time origins; 0: it does not.
  std::size_t lags() const {
    const auto origins = shapes_.find("origins");
    const bool known = origins != shapes_.end() && origins->second.size() == 2;
    return known && shapes_.contains("lag_time") ? std::size_t(origins->second[1]) : 0;
  }

  /// Of rows that are the best estimates yet. Errors: those of the file, or from what each row adds
  /// to the one before, where the file has the numbers of samples, "origins".
  Means last_row(const std::string& name, std::int64_t last) const {
    Means m{io::read_reals(value(name), last), {}, "last row (best estimate)"};
    if (shapes_.contains(name + "_error")) {
      m.error = io::read_reals(value(name + "_error"), last);
      return m;
    }
    const io::Shape& own = shapes_.at(name);
    const bool counted = own.size() == 1 || own.back() == lags();
    if (lags() == 0 || !counted || name == "origins") return m;
    const std::int64_t rows = last + 1, used = std::min(rows, most_rows);
    RowMeans sums;
    for (std::int64_t k = 1; k <= used; ++k) {
      const std::int64_t at = k * rows / used - 1;
      auto samples = io::read_reals(value("origins"), at);
      if (own.size() == 1) samples.resize(1);  // all samples are origins of the shortest lag
      std::vector<double> of_all;              // [type][lag]
      while (of_all.size() < m.mean.size())
        of_all.insert(of_all.end(), samples.begin(), samples.end());
      sums.add_best(io::read_reals(value(name), at), of_all);
    }
    m.error = sums.error();
    m.what += sums.text();
    return m;
  }

  Json curve(const std::string& name) const {
    std::string axis = axis_of(name);
    const io::Shape& own = shapes_.at(name);
    const Means m = means(name, axis);
    std::vector<double> x;
    Json axis_json = {{"name", "bin"}, {"unit", ""}};
    std::size_t n = own.back(), stride = 1, many = m.mean.size() / std::max<std::size_t>(1, n);
    const std::string vectors = "parameters/perrin/wave_vectors";
    if (!axis.empty()) {
      axis_json = {{"name", axis}, {"unit", unit_of(value(axis))}};
      x = io::read_reals(value(axis), std::int64_t(steps_.size()) - 1);
      if (x.size() != n && x.size() != n + 1 && own.size() == 3) {  // [bin][component]
        stride = many = n;
        n = own[1];
      }
      if (x.size() == n + 1) {
        for (std::size_t k = 0; k < n; ++k) x[k] = (x[k] + x[k + 1]) / 2;
        axis_json["name"] = axis.substr(0, axis.size() - 6);
      }
    } else if (root_.has(vectors) && root_.open(vectors).shape() == io::Shape{n, 3}) {
      const auto k = io::read_reals(root_.open(vectors));
      for (std::size_t i = 0; i < n; ++i)
        x.push_back(std::hypot(k[3 * i], k[3 * i + 1], k[3 * i + 2]));
      axis_json = {{"name", "|k|"}, {"unit", unit_of(root_.open(vectors))}};
    }
    while (x.size() < n) x.push_back(double(x.size()));
    Json lines = Json::array();
    const auto names = labels(many);
    for (std::size_t c = 0; c < std::min(many, most_lines); ++c) {
      std::vector<double> y, e;
      for (std::size_t k = 0; k < n; ++k) {
        const std::size_t at = stride == 1 ? c * n + k : k * stride + c;
        y.push_back(m.mean.at(at));
        e.push_back(m.error.empty() ? 0 : m.error.at(at));
      }
      lines.push_back(curve_line(names[c], x, y, e));
    }
    return {{"name", name},   {"unit", unit_of(value(name))},  {"axis", axis_json},
            {"what", m.what}, {"hidden", many - lines.size()}, {"lines", lines}};
  }

  const io::Node& root_;
  const Record& record_;
  io::Node group_;
  std::map<std::string, io::Shape> shapes_;
  std::map<std::string, std::string> axes_;  // of what names one
  std::set<std::string> are_axes_;           // those that are named
  std::vector<std::string> plain_axes_;      // rows of numbers that say where values are
  std::vector<std::int64_t> steps_;
  std::vector<double> times_;
  std::string time_unit_, stage_;
  bool counts_ = false;    // times are steps: cycles, histories
  bool adds_up_ = false;   // rows are the best estimates yet, with their errors
  std::size_t first_ = 0;  // row of the last stage
  std::size_t drawn_ = 0;  // the first one that is drawn of it
};

}  // namespace

Json observables_of(const io::Node& root, const Record& record) {
  return Observables(root, record).page();
}

}  // namespace perrin::report
