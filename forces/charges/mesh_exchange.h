// A particle mesh in shares, on CPUs: every domain spreads its own charges, transforms some planes
// across x and some lines along x, and is sent the fields around its particles. Whole numbers are
// added and each line is transformed as one process would: bits do not depend on the shares.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/device/device.h"
#include "engine/device/share.h"
#include "engine/domain/decomposition.h"
#include "forces/charges/fft.h"

namespace perrin {

class MeshExchange {
 public:
  MeshExchange() = default;
  /// For transforms of such a mesh. On a GPU, and without other domains, all of it is here.
  MeshExchange(const Device& device, const Fft3& fft);

  bool several() const { return decomposition_ != nullptr; }
  Share planes() const { return planes(own_); }
  /// Of lines along x, in groups (Fft3::line_groups()).
  Share line_groups() const { return line_groups(own_); }
  Share lines() const { return lines(own_); }

  // All domains call these, in this order.
  /// Planes on which this domain spreads charges, and those whose fields it reads: [x], not 0.
  void begin(std::vector<char> spread, std::vector<char> read);
  /// Where there are others: does this domain spread charges on plane x, or have it?
  bool touches(std::int64_t x) const { return planes().meets(x, 1) || spread_[std::size_t(x)]; }
  /// Charges of planes of others go there, and theirs are added to these: `plane` numbers each, of
  /// `copies` meshes, `room` apart, that are added up.
  void collect(std::int64_t* fixed, std::int64_t plane, int copies, std::int64_t room);
  /// Of so many meshes: from whole planes to whole lines, and back.
  void to_lines(Complex* waves, int meshes) { transpose(waves, meshes, true); }
  void to_planes(Complex* waves, int meshes) { transpose(waves, meshes, false); }
  /// The fields of planes that begin() said are read: `plane` numbers each.
  void give_fields(Real4* fields, std::int64_t plane);

 private:
  Share planes(int p) const { return portion(size_[0], p); }
  Share line_groups(int p) const { return portion(groups_, p); }
  Share lines(int p) const;
  Share portion(std::int64_t n, int p) const;
  void transpose(Complex* waves, int meshes, bool to_lines);

  Decomposition* decomposition_ = nullptr;  // nullptr: there are no others
  Fft3::Size size_{};
  std::int64_t groups_ = 0, all_lines_ = 0;
  int own_ = 0;
  std::vector<char> spread_, read_;
  std::vector<std::vector<char>> wanted_;  // [domain]: of which planes of this one it reads fields
  Decomposition::Pieces out_, in_;
};

}  // namespace perrin
