//===- Artifact.cpp - Artifacts as bytes ----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Layout, all little-endian:
//   magic[8] version:u32 reserved:u32 size:u64 checksum:u64 payload[size]
// The checksum covers the payload and, as its seed, version and size. Strings
// and lists carry a u64 count. The reader trusts no count: it compares each
// with what is left, so that damaged input costs no memory.
//===----------------------------------------------------------------------===//

#include "terrazzo/Support/Artifact.h"
#include "terrazzo/Support/Checksum.h"

#include <bit>
#include <cstring>

static_assert(std::endian::native == std::endian::little,
              "the format is written in the byte order of the machine");

namespace terrazzo {
namespace {

constexpr char kMagic[8] = {'T', 'Z', 'A', 'R', 'T', 'I', 'F', '\n'};
constexpr uint32_t kVersion = 2;

struct Header {
  char magic[8];
  uint32_t version;
  uint32_t reserved;
  uint64_t size;
  uint64_t checksum;
};
static_assert(sizeof(Header) == 32);

uint64_t checksumOf(const Header &header, const void *payload) {
  uint64_t seed = (uint64_t(header.version) << 32) ^ header.size;
  return checksum64(payload, header.size, seed);
}

class Writer {
public:
  explicit Writer(std::vector<uint8_t> &out) : out(out) {}

  template <typename T>
  void number(T value) {
    const auto *bytes = reinterpret_cast<const uint8_t *>(&value);
    out.insert(out.end(), bytes, bytes + sizeof(T));
  }
  void bytes(const void *data, size_t size) {
    number<uint64_t>(size);
    const auto *begin = static_cast<const uint8_t *>(data);
    out.insert(out.end(), begin, begin + size);
  }
  void string(const std::string &text) { bytes(text.data(), text.size()); }
  void map(const std::map<std::string, std::string> &entries) {
    number<uint64_t>(entries.size());
    for (const auto &[key, value] : entries) {
      string(key);
      string(value);
    }
  }

private:
  std::vector<uint8_t> &out;
};

/// Reads fields; after the first one that does not fit all reads give zero and
/// `failed` names what was being read.
class Reader {
public:
  Reader(const uint8_t *begin, const uint8_t *end) : at(begin), end(end) {}

  template <typename T>
  T number(const char *what) {
    T value{};
    if (need(sizeof(T), what)) {
      std::memcpy(&value, at, sizeof(T));
      at += sizeof(T);
    }
    return value;
  }
  std::string string(const char *what) {
    uint64_t size = number<uint64_t>(what);
    if (!need(size, what))
      return {};
    std::string text(reinterpret_cast<const char *>(at), size);
    at += size;
    return text;
  }
  std::vector<uint8_t> bytes(const char *what) {
    uint64_t size = number<uint64_t>(what);
    if (!need(size, what))
      return {};
    std::vector<uint8_t> data(at, at + size);
    at += size;
    return data;
  }
  bool flag(const char *what) {
    uint8_t value = number<uint8_t>(what);
    if (value > 1)
      reject(what);
    return value != 0;
  }
  /// The count of a list whose elements take at least `least` bytes each.
  uint64_t count(size_t least, const char *what) {
    uint64_t count = number<uint64_t>(what);
    if (failed || count > uint64_t(end - at) / least) {
      reject(what);
      return 0;
    }
    return count;
  }
  std::map<std::string, std::string> map(const char *what) {
    std::map<std::string, std::string> entries;
    for (uint64_t n = count(16, what); n && !failed; --n) {
      std::string key = string(what);
      std::string value = string(what);
      // Written in order: anything else was not written by us.
      if (!entries.empty() && key <= entries.rbegin()->first)
        reject(what);
      entries.emplace_hint(entries.end(), std::move(key), std::move(value));
    }
    return entries;
  }
  void reject(const char *what) {
    if (!failed)
      failed = what;
    at = end;
  }
  bool atEnd() const { return at == end; }

  const char *failed = nullptr;

private:
  bool need(uint64_t size, const char *what) {
    if (!failed && size <= uint64_t(end - at))
      return true;
    reject(what);
    return false;
  }

  const uint8_t *at;
  const uint8_t *end;
};

void write(const std::vector<ArgProduct> &products, Writer &out) {
  out.number<uint64_t>(products.size());
  for (const ArgProduct &product : products) {
    out.number(product.factor);
    out.number<uint64_t>(product.args.size());
    for (uint32_t arg : product.args)
      out.number(arg);
    out.number(product.bytes);
  }
}

void read(Reader &in, std::vector<ArgProduct> &products) {
  products.resize(in.count(17, "tensor map"));
  for (ArgProduct &product : products) {
    product.factor = in.number<int64_t>("tensor map");
    product.args.resize(in.count(4, "tensor map"));
    for (uint32_t &arg : product.args)
      arg = in.number<uint32_t>("tensor map");
    product.bytes = in.number<uint8_t>("tensor map");
  }
}

void writePayload(const Artifact &artifact, Writer &out) {
  out.string(artifact.target);
  out.string(artifact.chip);
  out.string(artifact.entry);
  out.bytes(artifact.code.data(), artifact.code.size());
  out.map(artifact.stages);
  out.number(artifact.sharedBytes);
  out.number(artifact.threadsPerBlock);
  out.number(artifact.registers);
  out.number(artifact.spills);
  out.number(artifact.stackBytes);
  out.number<uint64_t>(artifact.args.size());
  for (const ArgInfo &arg : artifact.args) {
    out.number<uint8_t>(arg.kind);
    out.number(arg.bytes);
    out.string(arg.name);
    out.string(arg.dtype);
    out.number<uint8_t>(arg.written);
  }
  out.number<uint64_t>(artifact.tensorMaps.size());
  for (const TensorMap &map : artifact.tensorMaps) {
    out.number(map.base);
    out.string(map.dtype);
    write(map.shape, out);
    write(map.strides, out);
    out.number<uint64_t>(map.box.size());
    for (uint32_t extent : map.box)
      out.number(extent);
    out.number(map.swizzleBytes);
    out.number<uint8_t>(map.isNanOutside);
  }
  out.number<uint64_t>(artifact.lines.size());
  for (const LineEntry &line : artifact.lines) {
    out.number(line.id);
    out.string(line.file);
    out.number(line.line);
    out.number(line.column);
    out.string(line.text);
  }
  out.map(artifact.metadata);
}

void readPayload(Reader &in, Artifact &artifact) {
  artifact.target = in.string("target");
  artifact.chip = in.string("chip");
  artifact.entry = in.string("entry");
  artifact.code = in.bytes("code");
  artifact.stages = in.map("stages");
  artifact.sharedBytes = in.number<uint32_t>("shared bytes");
  artifact.threadsPerBlock = in.number<uint32_t>("threads per block");
  artifact.registers = in.number<uint32_t>("registers");
  artifact.spills = in.number<uint32_t>("spills");
  artifact.stackBytes = in.number<uint64_t>("stack bytes");
  artifact.args.resize(in.count(19, "arguments"));
  for (ArgInfo &arg : artifact.args) {
    uint8_t kind = in.number<uint8_t>("argument kind");
    if (kind > ArgInfo::Float)
      return in.reject("argument kind");
    arg.kind = ArgInfo::Kind(kind);
    arg.bytes = in.number<uint8_t>("argument size");
    arg.name = in.string("argument name");
    arg.dtype = in.string("argument type");
    arg.written = in.flag("argument flag");
  }
  artifact.tensorMaps.resize(in.count(41, "tensor maps"));
  for (TensorMap &map : artifact.tensorMaps) {
    map.base = in.number<uint32_t>("tensor map");
    map.dtype = in.string("tensor map");
    read(in, map.shape);
    read(in, map.strides);
    map.box.resize(in.count(4, "tensor map"));
    for (uint32_t &extent : map.box)
      extent = in.number<uint32_t>("tensor map");
    map.swizzleBytes = in.number<uint32_t>("tensor map");
    map.isNanOutside = in.flag("tensor map");
  }
  artifact.lines.resize(in.count(28, "line table"));
  for (LineEntry &line : artifact.lines) {
    line.id = in.number<uint32_t>("line table id");
    line.file = in.string("line table file");
    line.line = in.number<uint32_t>("line table line");
    line.column = in.number<uint32_t>("line table column");
    line.text = in.string("line table text");
  }
  artifact.metadata = in.map("metadata");
}

} // namespace

std::vector<uint8_t> serializeArtifact(const Artifact &artifact) {
  std::vector<uint8_t> out(sizeof(Header));
  Writer writer(out);
  writePayload(artifact, writer);
  Header header{};
  std::memcpy(header.magic, kMagic, sizeof(kMagic));
  header.version = kVersion;
  header.size = out.size() - sizeof(Header);
  header.checksum = checksumOf(header, out.data() + sizeof(Header));
  std::memcpy(out.data(), &header, sizeof(Header));
  return out;
}

bool deserializeArtifact(const void *bytes, size_t size, Artifact &artifact,
                         std::string &error) {
  auto reject = [&](const std::string &why) {
    error = "not a valid artifact: " + why;
    return false;
  };
  Header header;
  if (size < sizeof(Header))
    return reject("expected a header of 32 bytes, found " +
                  std::to_string(size) + " bytes");
  std::memcpy(&header, bytes, sizeof(Header));
  if (std::memcmp(header.magic, kMagic, sizeof(kMagic)) != 0)
    return reject("expected the magic 'TZARTIF', found other bytes");
  if (header.version != kVersion || header.reserved != 0)
    return reject("expected version " + std::to_string(kVersion) + ", found " +
                  std::to_string(header.version) +
                  "; compile the kernel again with this build");
  if (header.size != size - sizeof(Header))
    return reject("expected " + std::to_string(header.size) +
                  " bytes after the header, found " +
                  std::to_string(size - sizeof(Header)));
  const uint8_t *payload = static_cast<const uint8_t *>(bytes) + sizeof(Header);
  if (checksumOf(header, payload) != header.checksum)
    return reject("the checksum does not match, the bytes are damaged");
  Reader in(payload, payload + header.size);
  artifact = Artifact();
  readPayload(in, artifact);
  if (in.failed)
    return reject(std::string("malformed field '") + in.failed + "'");
  if (!in.atEnd())
    return reject("expected the end after the metadata, found more bytes");
  return true;
}

} // namespace terrazzo
