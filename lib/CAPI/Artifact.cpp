//===- Artifact.cpp - C API of artifacts ----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Status.h"

#include <memory>

using namespace terrazzo;
using namespace terrazzo::runtime;
using namespace terrazzo::capi;

namespace {

/// The entry at `index` of a map in order of its keys.
const std::pair<const std::string, std::string> &
entryAt(const std::map<std::string, std::string> &entries, size_t index) {
  if (index >= entries.size())
    throw Error(Status::InvalidArgument,
                "expected an index below " + std::to_string(entries.size()) +
                    ", found " + std::to_string(index));
  return *std::next(entries.begin(), index);
}

template <typename T>
const T &itemAt(const std::vector<T> &items, size_t index) {
  if (index >= items.size())
    throw Error(Status::InvalidArgument,
                "expected an index below " + std::to_string(items.size()) +
                    ", found " + std::to_string(index));
  return items[index];
}

/// "[a, b]" of what `text` says of each.
template <typename T, typename Text>
std::string listed(const std::vector<T> &items, Text text) {
  std::string list;
  for (const T &item : items)
    list += (list.empty() ? "" : ", ") + text(item);
  return "[" + list + "]";
}

std::string jsonOf(const std::vector<ArgProduct> &products) {
  return listed(products, [](const ArgProduct &product) {
    return "{\"factor\": " + std::to_string(product.factor) +
           ", \"arguments\": " +
           listed(product.args,
                  [](uint32_t arg) { return std::to_string(arg); }) +
           ", \"bytes\": " + std::to_string(product.bytes) + "}";
  });
}

std::string jsonOf(const TensorMap &map) {
  return "{\"base\": " + std::to_string(map.base) + ", \"dtype\": \"" +
         map.dtype + "\", \"shape\": " + jsonOf(map.shape) +
         ", \"strides\": " + jsonOf(map.strides) + ", \"box\": " +
         listed(map.box, [](uint32_t n) { return std::to_string(n); }) +
         ", \"swizzle_bytes\": " + std::to_string(map.swizzleBytes) +
         ", \"padding\": " + (map.isNanOutside ? "\"nan\"" : "\"zero\"") + "}";
}

} // namespace

Artifact capi::parseArtifact(const void *bytes, size_t size) {
  Artifact artifact;
  std::string error;
  if (!deserializeArtifact(bytes, size, artifact, error))
    throw Error(Status::Corrupt, "read artifact: " + error);
  return artifact;
}

TzStatus tzArtifactParse(const void *bytes, size_t size, TzArtifact **out) {
  return guard([&] { *out = wrap(new Artifact(parseArtifact(bytes, size))); });
}

TzStatus tzArtifactCreate(const char *target, const char *chip,
                          const char *entry, const void *code, size_t codeSize,
                          TzArtifact **out) {
  return guard([&] {
    auto result = std::make_unique<Artifact>();
    result->target = checkText(target, "a target");
    result->chip = checkText(chip, "a chip");
    result->entry = checkText(entry, "an entry");
    const auto *begin = static_cast<const uint8_t *>(code);
    result->code.assign(begin, begin + codeSize);
    *out = wrap(result.release());
  });
}

TzStatus tzArtifactAddArg(TzArtifact *artifact, int32_t kind, uint8_t bytes,
                          const char *name, const char *dtype, bool written) {
  return guard([&] {
    if (kind < TzArgPointer || kind > TzArgFloat)
      throw Error(Status::InvalidArgument,
                  "add argument: expected a kind from 0 to 2, found " +
                      std::to_string(kind));
    unwrap(artifact).args.push_back(
        {ArgInfo::Kind(kind), bytes, checkText(name, "a parameter name"),
         checkText(dtype, "a parameter type"), written});
  });
}

TzStatus tzArtifactSetMetadata(TzArtifact *artifact, const char *key,
                               const char *value) {
  return guard([&] {
    unwrap(artifact).metadata[checkText(key, "a key")] =
        checkText(value, "a value");
  });
}

TzStatus tzArtifactSerialize(const TzArtifact *artifact, TzWrite write,
                             void *userData) {
  return guard([&] {
    std::vector<uint8_t> bytes = serializeArtifact(unwrap(artifact));
    write(reinterpret_cast<const char *>(bytes.data()), bytes.size(), userData);
  });
}

TzStatus tzArtifactTensorMaps(const TzArtifact *artifact, TzWrite write,
                              void *userData) {
  return guard([&] {
    std::string text = listed(unwrap(artifact).tensorMaps,
                              [](const TensorMap &map) { return jsonOf(map); });
    write(text.data(), text.size(), userData);
  });
}

void tzArtifactDestroy(TzArtifact *artifact) { delete &unwrap(artifact); }

const char *tzArtifactTarget(const TzArtifact *artifact) {
  return unwrap(artifact).target.c_str();
}

const char *tzArtifactChip(const TzArtifact *artifact) {
  return unwrap(artifact).chip.c_str();
}

const char *tzArtifactEntry(const TzArtifact *artifact) {
  return unwrap(artifact).entry.c_str();
}

const void *tzArtifactCode(const TzArtifact *artifact, size_t *size) {
  *size = unwrap(artifact).code.size();
  return unwrap(artifact).code.data();
}

size_t tzArtifactStageCount(const TzArtifact *artifact) {
  return unwrap(artifact).stages.size();
}

TzStatus tzArtifactStage(const TzArtifact *artifact, size_t index,
                         const char **name, const char **text,
                         size_t *textSize) {
  return guard([&] {
    const auto &[key, value] = entryAt(unwrap(artifact).stages, index);
    *name = key.c_str();
    *text = value.data();
    *textSize = value.size();
  });
}

size_t tzArtifactMetadataCount(const TzArtifact *artifact) {
  return unwrap(artifact).metadata.size();
}

TzStatus tzArtifactMetadata(const TzArtifact *artifact, size_t index,
                            const char **key, const char **value) {
  return guard([&] {
    const auto &entry = entryAt(unwrap(artifact).metadata, index);
    *key = entry.first.c_str();
    *value = entry.second.c_str();
  });
}

size_t tzArtifactArgCount(const TzArtifact *artifact) {
  return unwrap(artifact).args.size();
}

TzStatus tzArtifactArg(const TzArtifact *artifact, size_t index,
                       TzArgInfo *out) {
  return guard([&] {
    const ArgInfo &arg = itemAt(unwrap(artifact).args, index);
    *out = {TzArgKind(arg.kind), arg.bytes, arg.name.c_str(), arg.dtype.c_str(),
            arg.written};
  });
}

size_t tzArtifactLineCount(const TzArtifact *artifact) {
  return unwrap(artifact).lines.size();
}

TzStatus tzArtifactLine(const TzArtifact *artifact, size_t index,
                        TzLineInfo *out) {
  return guard([&] {
    const LineEntry &line = itemAt(unwrap(artifact).lines, index);
    *out = {line.id, line.line, line.column, line.file.c_str(),
            line.text.c_str()};
  });
}

void tzArtifactResources(const TzArtifact *artifact, TzResources *out) {
  const Artifact &from = unwrap(artifact);
  *out = {from.sharedBytes, from.threadsPerBlock, from.registers, from.spills,
          from.stackBytes};
}
