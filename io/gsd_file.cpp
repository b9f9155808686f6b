#include "io/gsd_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "engine/base/error.h"
#include "engine/system/changed_since.h"
#include "io/continued_file.h"
#include "io/file_orientations.h"
#include "io/gsd_chunks.h"
#include "io/new_file.h"

namespace perrin::io {
namespace {

using namespace gsd;

constexpr std::uint64_t page = 4096;

/// Keeps them.
class ChunkList : public Chunks {
 public:
  using Chunks::Chunks;
  void put(const std::string& name, Type type, std::size_t rows, std::size_t columns,
           const void* data) override {
    if (rows == 0) return;
    const auto* bytes = static_cast<const char*>(data);
    list.push_back({name, type, rows, columns, {bytes, bytes + rows * columns * type_size[type]}});
  }
  bool in_first(const std::string&) const override { return false; }

  std::vector<Chunk> list;
};

/// The types of bonds, angles, dihedrals and impropers.
Topology names_alone(const Topology& t) {
  Topology names;
  names.bond_types = t.bond_types, names.angle_types = t.angle_types;
  names.dihedral_types = t.dihedral_types, names.improper_types = t.improper_types;
  return names;
}

void put_attribute(const std::string& name, const std::vector<double>& values, ChunkList& out) {
  if (name == "charge" || name == "diameter")
    out.put_reals("particles/" + name, values);
  else
    out.put(particle_logs + name, f64, values.size(), 1, values.data());
}

/// Of particles: how many, and what they keep.
void put_particles(const Configuration& c, const GsdLayout& layout, ChunkList& out) {
  const auto put = [&](const std::string& name, const std::vector<double>& values) {
    if (std::ranges::count(layout.changing_attributes, name) == 0) put_attribute(name, values, out);
  };
  const auto n = std::uint32_t(c.type.size());
  out.put("particles/N", u32, 1, 1, &n);
  out.put("particles/typeid", u32, n, 1, c.type.data());
  out.put_reals("particles/mass", c.mass);
  put("charge", c.charge), put("diameter", c.diameter);
  for (const auto& [name, values] : c.attributes) put(name, values);
  out.put(id_chunk, u32, c.id.size(), 1, c.id.data());
}

std::vector<Chunk> constants_of(const std::string& path, const Configuration& c,
                                const GsdLayout& layout, const JobRecord& record) {
  ChunkList out(path, layout.fine);
  if (!layout.changing_number) put_particles(c, layout, out);
  std::vector<std::string> types = c.types;
  types.erase(std::ranges::find_if(types, is_absent), types.end());
  out.put_names("particles/types", types);
  if (layout.orientation && has_moments(c)) {
    std::vector<double> moments;
    for (const auto& m : c.moment_of_inertia) moments.insert(moments.end(), {m.x, m.y, m.z});
    out.put_reals("particles/moment_inertia", moments, 3);
  }
  if (!c.topology.body.empty()) out.put_bodies(c.topology, c.topology.body.size());
  out.put_topology(layout.dynamic_bonds ? names_alone(c.topology) : c.topology);
  out.put_periodic(c.box);
  out.put_names(stages_chunk, record.stages);
  out.put_text("perrin/job", record.job);
  out.put_text("perrin/version", record.version);
  out.put_text("perrin/device", record.device);
  out.put_text("perrin/plugins", record.plugins);
  out.put("perrin/seed", u64, 1, 1, &record.seed);
  return std::move(out.list);
}

std::vector<float> hoomd_angular_momenta(const H5mdFrame& frame) {
  const float *q = frame.orientation.data(), *l = frame.angular_momentum.data();
  std::vector<float> momenta;
  for (std::size_t i = 0; i < frame.angular_momentum.size() / 3; ++i, q += 4, l += 3)
    for (const double x : hoomd_angular_momentum({q[1], q[2], q[3], q[0]}, {l[0], l[1], l[2]}))
      momenta.push_back(float(x));
  return momenta;
}

/// Of those of a frame who are there. `columns` numbers of each.
template <class T>
FrameArray<T> present(const FrameArray<T>& values, const FrameArray<std::int32_t>& id,
                      std::size_t columns) {
  if (values.empty()) return values;
  std::vector<T> kept;
  for (std::size_t k = 0; k < id.size(); ++k)
    if (id.data()[k] >= 0)
      kept.insert(kept.end(), values.data() + k * columns, values.data() + (k + 1) * columns);
  return kept;
}

/// What they keep, with their types; `all`: who may be there.
Configuration present(const H5mdFrame& frame, const Configuration& all) {
  Configuration there;
  const auto keep = [&](auto& to, const auto& from) {
    for (std::size_t k = 0; k < frame.id.size() && k < from.size(); ++k)
      if (frame.id.data()[k] >= 0) to.push_back(from[k]);
  };
  keep(there.mass, all.mass), keep(there.charge, all.charge);
  keep(there.diameter, all.diameter);
  for (const auto& [name, values] : all.attributes) keep(there.attributes[name], values);
  for (std::size_t k = 0; k < frame.id.size(); ++k)
    if (frame.id.data()[k] >= 0) {
      there.id.push_back(std::uint32_t(frame.id.data()[k]));
      there.type.push_back(std::uint32_t(frame.species.data()[k]));
    }
  return there;
}

H5mdFrame present(const H5mdFrame& frame) {
  H5mdFrame there = frame;
  there.fine_position = present(frame.fine_position, frame.id, 3);
  there.velocity = present(frame.velocity, frame.id, 3);
  there.image = present(frame.image, frame.id, 3);
  return there;
}

/// `all`: where particles come and go.
std::vector<Chunk> chunks_of(const std::string& path, const H5mdFrame& whole, const Box& like,
                             const GsdLayout& layout, const Configuration& all) {
  ChunkList out(path, layout.fine);
  if (layout.changing_number) put_particles(present(whole, all), layout, out);
  const H5mdFrame frame = layout.changing_number ? present(whole) : whole;
  const auto& e = frame.edges;
  Box box = like;
  box.length = {e[0], e[4], e[8]};
  box.xy = e[3], box.xz = e[6], box.yz = e[7];
  const bool flat = box.dimension == 2;
  const double middle[3] = {0.5 * (e[0] + e[3] + e[6]), 0.5 * (e[4] + e[7]), 0.5 * e[8]};
  const auto step = std::uint64_t(frame.step);
  out.put("configuration/step", u64, 1, 1, &step);
  out.put_box(box);
  std::vector<double> position(frame.fine_position.begin(), frame.fine_position.end());
  for (std::size_t k = 0; k < position.size(); ++k)
    position[k] = flat && k % 3 == 2 ? 0 : position[k] - middle[k % 3];
  out.put_reals("particles/position", position, 3);
  if (layout.velocity)
    out.put("particles/velocity", f32, frame.velocity.size() / 3, 3, frame.velocity.data());
  if (layout.image) out.put("particles/image", i32, frame.image.size() / 3, 3, frame.image.data());
  if (layout.orientation)
    out.put("particles/orientation", f32, frame.orientation.size() / 4, 4,
            frame.orientation.data());
  if (layout.angular_momentum) {
    const std::vector<float> momenta = hoomd_angular_momenta(frame);
    out.put("particles/angmom", f32, momenta.size() / 4, 4, momenta.data());
  }
  for (std::size_t k = 0; k < layout.changing_attributes.size(); ++k) {
    const FrameArray<double>& values = frame.attributes.at(k);
    put_attribute(layout.changing_attributes[k], {values.begin(), values.end()}, out);
  }
  out.put(time_chunk, f64, 1, 1, &frame.time);
  out.put(stage_chunk, u32, 1, 1, &frame.stage);
  if (layout.dynamic_bonds && frame.topology) out.put_members(*frame.topology);
  return std::move(out.list);
}

/// A frame with one particle and all chunks that a frame can have.
H5mdFrame largest_frame(const Configuration& c, const GsdLayout& layout) {
  H5mdFrame frame;
  frame.fine_position = std::vector<double>(3);
  frame.velocity = std::vector<float>(3);
  frame.image = std::vector<std::int32_t>(3);
  frame.orientation = std::vector<float>{1, 0, 0, 0};
  frame.angular_momentum = std::vector<float>(3);
  frame.attributes.assign(layout.changing_attributes.size(), std::vector<double>(1));
  frame.id = std::vector<std::int32_t>(1), frame.species = std::vector<std::int32_t>(1);
  frame.set_box(c.box);
  Topology all = names_alone(c.topology);
  if (!all.bond_types.empty()) all.bonds.resize(1);
  if (!all.angle_types.empty()) all.angles.resize(1);
  if (!all.dihedral_types.empty()) all.dihedrals.resize(1);
  if (!all.improper_types.empty()) all.impropers.resize(1);
  frame.topology = std::make_shared<const Topology>(std::move(all));
  return frame;
}

/// Names of empty chunks. They make the entries of every frame but the first as many as a power of
/// two, which divides a page.
std::vector<std::string> padding(std::size_t chunks) {
  std::vector<std::string> names;
  for (std::size_t k = 0; k < chunks; ++k) names.push_back(fmt::format("perrin/padding/{}", k));
  return names;
}

/// The file as it is, for those who look at it whole.
struct Contents {
  template <class File>
  Contents(const std::string& path, File& file) {
    if (file.size() >= sizeof(header)) file.read(0, &header, sizeof(header));
    const auto inside = [&](std::uint64_t at, std::uint64_t n, std::uint64_t size) {
      return at <= file.size() && n <= (file.size() - at) / size;
    };
    if (header.magic != magic || !inside(header.index_location, header.index_entries, 32) ||
        !inside(header.names_location, header.names_entries, name_size))
      throw UserError(path + ": cannot be continued: it is not a complete GSD file");
    std::string text(header.names_entries * name_size, '\0');
    file.read(header.names_location, text.data(), text.size());
    for (std::size_t at = 0; at < text.size() && text[at] != '\0'; at += names.back().size() + 1)
      names.emplace_back(text.c_str() + at);
    index.resize(header.index_entries);
    file.read(header.index_location, index.data(), index.size() * sizeof(Entry));
    index.erase(std::ranges::find(index, 0, &Entry::location), index.end());
  }
  std::int64_t frames() const { return index.empty() ? 0 : std::int64_t(index.back().frame) + 1; }

  Header header{};
  std::vector<std::string> names;
  std::vector<Entry> index;  // what is used of it
};

/// Throws UserError where the frames of a file are not such of n particles.
void check_layout(const std::string& path, std::size_t n, const GsdLayout& layout) {
  finish_changes(path);
  const RawFile<UserError> file(path, O_RDONLY);
  const Contents contents(path, file);
  const auto need = [&](bool good, const std::string& what) {
    if (!good) refuse_to_continue(path, what);
  };
  need(contents.header.schema_version == header_of(layout.fine).schema_version,
       fmt::format("it is not in {} precision", layout.fine ? "double" : "single"));
  for (const auto& [name, wanted] :
       {std::pair("velocity", layout.velocity), std::pair("image", layout.image),
        std::pair("orientation", layout.orientation), std::pair("angmom", layout.angular_momentum)})
    need((std::ranges::count(contents.names, std::string("particles/") + name) > 0) == wanted,
         fmt::format("it has {}{}", wanted ? "no " : "", name));
  for (const Entry& e : contents.index)
    if (e.frame == 0 && e.name < contents.names.size() && !layout.changing_number &&
        contents.names[e.name] == "particles/position")
      need(e.rows == n, fmt::format("it has {} particles, expected {}", e.rows, n));
}

void check_last(const std::string& path, const RawFile<UserError>& file, const Contents& contents,
                std::int64_t frames, std::int64_t last_step) {
  if (contents.frames() < frames)
    throw UserError(
        fmt::format("{}: cannot be continued: the checkpoint counts {} frames, the file has {}",
                    path, frames, contents.frames()));
  if (frames == 0) return;
  std::uint64_t step = 0;
  for (const Entry& e : contents.index)
    if (std::int64_t(e.frame) == frames - 1 && e.name < contents.names.size() &&
        contents.names[e.name] == "configuration/step")
      file.read(std::uint64_t(e.location), &step, sizeof(step));
  if (std::int64_t(step) != last_step)
    throw UserError(fmt::format(
        "{}: cannot be continued: its frame {} is of step {}, the checkpoint's of step {}", path,
        frames - 1, step, last_step));
}

}  // namespace

void GsdAppender::create(const std::string& path, const Configuration& c, const GsdLayout& layout,
                         const JobRecord& record, bool overwrite) {
  const H5mdFrame like = largest_frame(c, layout);
  const auto moving = chunks_of(path, like, c.box, layout, c);
  const auto constants = constants_of(path, c, layout, record);
  std::string names;
  for (const auto* list : {&moving, &constants})
    for (const Chunk& chunk : *list) names += chunk.name + '\0';
  // Frames without bonds have fewer chunks.
  std::size_t least = moving.size();
  if (layout.dynamic_bonds) {
    H5mdFrame bare = like;
    bare.topology = std::make_shared<const Topology>(names_alone(c.topology));
    least = chunks_of(path, bare, c.box, layout, c).size();
  }
  if (layout.changing_number) {
    H5mdFrame empty = like;
    empty.id = std::vector<std::int32_t>{-1};
    least = chunks_of(path, empty, c.box, layout, c).size();
  }
  for (const std::string& name : padding(std::bit_ceil(moving.size()) - least))
    names += name + '\0';
  Header header = header_of(layout.fine);
  header.names_location = sizeof(header);
  header.names_entries = names.size() / name_size + 1;
  names.resize(header.names_entries * name_size, '\0');
  // The index begins so that the second frame's entries are where they divide a page.
  const std::uint64_t first = (moving.size() + constants.size()) * sizeof(Entry);
  const std::uint64_t frame = std::bit_ceil(moving.size()) * sizeof(Entry);
  const std::uint64_t behind = header.names_location + names.size();
  header.index_location = (behind + page - 1) / page * page + (frame - first % frame) % frame;
  header.index_entries = (2 * page - header.index_location % page) / sizeof(Entry);
  PERRIN_ASSERT(header.index_location % page + first <= page);
  NewFile place(path);
  {
    RawFile<> file(place.aside(), O_RDWR | O_CREAT | O_EXCL);
    file.write(0, &header, sizeof(header));
    file.write(header.names_location, names.data(), names.size());
    file.set_size(header.index_location + header.index_entries * sizeof(Entry));
    file.sync_and_close();
  }
  place.put_in_place(overwrite);
}

void GsdAppender::trim(const std::string& path, const JobRecord&, std::int64_t frames,
                       std::int64_t last_step) {
  finish_changes(path);
  FileChanges changes;
  {
    const RawFile<UserError> file(path, O_RDONLY);
    const Contents contents(path, file);
    check_last(path, file, contents, frames, last_step);
    const Header& h = contents.header;
    changes.size = std::max(h.index_location + h.index_entries * sizeof(Entry),
                            h.names_location + h.names_entries * name_size);
    std::uint64_t at = h.index_location;
    for (const Entry& e : contents.index) {
      if (std::int64_t(e.frame) < frames) {
        const std::uint64_t bytes = e.rows * e.columns * type_size[std::min<int>(e.type, 11)];
        changes.size = std::max(changes.size, std::uint64_t(e.location) + bytes);
      } else {
        const auto [it, is_new] = changes.pages.try_emplace(at / page);
        if (is_new) {
          it->second.fill(0);
          file.read(at / page * page, it->second.data(),
                    std::min(page, file.size() - at / page * page));
        }
        std::memset(it->second.data() + at % page, 0, sizeof(Entry));
      }
      at += sizeof(Entry);
    }
  }
  make_changes(path, changes);
}

GsdAppender::GsdAppender(const std::string& path, const Configuration& c, const GsdLayout& layout,
                         const JobRecord& record)
    : file_(path), layout_(layout), box_(c.box), end_(file_.size()) {
  Contents contents(path, file_);
  header_ = contents.header;
  names_ = std::move(contents.names);
  frames_ = std::uint64_t(contents.frames());
  entries_ = contents.index.size();
  most_chunks_ = chunks_of(path, largest_frame(c, layout), c.box, layout, c).size();
  if (layout.changing_number) all_ = c;
  if (frames_ == 0) constants_ = constants_of(path, c, layout, record);
}

void GsdAppender::append(const H5mdFrame& frame) {
  file_.write_frame([&] { write(frame); });
}

void GsdAppender::write(const H5mdFrame& frame) {
  auto chunks = chunks_of(file_.path(), frame, box_, layout_, all_);
  // Readers take what a frame is silent about from the first one, of which nothing is left out.
  PERRIN_ASSERT(chunks.size() <= most_chunks_);
  const std::size_t all = frames_ == 0 ? most_chunks_ : std::bit_ceil(most_chunks_);
  for (const std::string& name : padding(all - chunks.size()))
    chunks.push_back({name, u8, 1, 1, {0}});
  if (frames_ == 0) std::ranges::move(std::exchange(constants_, {}), std::back_inserter(chunks));
  std::vector<Entry> entries;
  for (const Chunk& chunk : chunks) {
    const auto id = std::ranges::find(names_, chunk.name) - names_.begin();
    PERRIN_ASSERT(id < std::ssize(names_));
    entries.push_back({frames_, chunk.rows, std::int64_t(end_), std::uint32_t(chunk.columns),
                       std::uint16_t(id), chunk.type, 0});
    file_.write(end_, chunk.bytes.data(), chunk.bytes.size());
    end_ += chunk.bytes.size();
  }
  std::ranges::sort(entries, {}, &Entry::name);
  make_room(entries.size());
  file_.write(header_.index_location + entries_ * sizeof(Entry), entries.data(),
              entries.size() * sizeof(Entry));
  entries_ += entries.size();
  ++frames_;
}

void GsdAppender::make_room(std::size_t entries) {
  if (entries_ + entries <= header_.index_entries) return;
  Header header = header_;
  header.index_location = (end_ + page - 1) / page * page + header_.index_location % page;
  header.index_entries = 2 * header_.index_entries + entries;
  end_ = header.index_location + header.index_entries * sizeof(Entry);
  file_.set_size(end_);
  std::vector<Entry> old(entries_);
  file_.read(header_.index_location, old.data(), entries_ * sizeof(Entry));
  file_.write(header.index_location, old.data(), entries_ * sizeof(Entry));
  file_.write(0, &header, sizeof(header));
  header_ = header;
}

GsdFile::GsdFile(std::filesystem::path path, const GsdLayout& layout, const Setup& setup)
    : OutputFile(std::move(path), setup, setup.units()), layout_(layout) {}

void GsdFile::open(bool resumed, const Configuration& c) {
  const std::string path = path_.string();
  make_or_trim(
      resumed, [&] { GsdAppender::create(path, c, layout_, *record_, overwrite_); },
      [&] { return std::make_shared<GsdAppender>(path, c, layout_, *record_); },
      [&] { check_layout(path, c.position.size(), layout_); });
}

void GsdFile::append(H5mdFrame frame) {
  const std::int64_t step = frame.step;
  const std::size_t bytes = frame.bytes();
  push(step, bytes,
       [frame = std::move(frame)](GsdAppender& file) { file.append(frame.arrived()); });
}

void GsdFile::state(Archive& archive) {
  save_or_restore(archive, "frames");
  const int now = layout_.velocity + 2 * layout_.image + 4 * layout_.fine +
                  8 * layout_.dynamic_bonds + 16 * layout_.orientation +
                  32 * layout_.angular_momentum + 64 * layout_.changing_number +
                  128 * int(layout_.changing_attributes.size());
  if (changed_since(archive, "layout", now) && !path_.empty())
    throw UserError(path_.string() +
                    ": a resumed run cannot change the quantities, or the kind or precision of "
                    "positions, in it");
}

}  // namespace perrin::io
