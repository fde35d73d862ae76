//===- Cache.cpp - A byte store on disk -----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files:
//   <key>.tz   header, bytes
// in a PrivateFolder, which says who may touch them. The modification time of
// an entry is the time of its last use.
//===----------------------------------------------------------------------===//

#include "terrazzo/Runtime/Cache.h"
#include "terrazzo/Runtime/Error.h"
#include "terrazzo/Support/Checksum.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <unistd.h>

namespace terrazzo::runtime {
namespace {

constexpr char kMagic[8] = {'T', 'Z', 'C', 'A', 'C', 'H', 'E', '\n'};
constexpr uint32_t kVersion = 1;
constexpr std::string_view kSuffix = ".tz";
/// A use is noted at most this often, to keep hits from writing to the disk.
constexpr int64_t kTouchSeconds = 60;

struct Header {
  char magic[8];
  uint32_t version;
  uint32_t reserved;
  uint64_t size;
  uint64_t checksum;
};
static_assert(sizeof(Header) == 32);

/// Covers the key, so that an entry under another name is not believed.
uint64_t checksumOf(std::string_view key, const void *bytes, uint64_t size) {
  uint64_t seed = checksum64(key.data(), key.size(), kVersion);
  return checksum64(bytes, size, seed);
}

void checkKey(std::string_view key) {
  auto isAllowed = [](unsigned char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
           (c >= 'A' && c <= 'Z') || c == '-' || c == '_';
  };
  if (key.size() < 16 || key.size() > 128 ||
      !std::all_of(key.begin(), key.end(), isAllowed))
    throw Error(Status::InvalidArgument,
                "cache: expected a key of 16 to 128 letters, digits, '-' or "
                "'_', found '" +
                    std::string(key) + "'");
}

/// Reads exactly `size` bytes.
bool readAll(int file, void *bytes, size_t size) {
  char *at = static_cast<char *>(bytes);
  while (size) {
    ssize_t count = ::read(file, at, size);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0) {
      if (count == 0)
        errno = EIO;
      return false;
    }
    at += count;
    size -= count;
  }
  return true;
}

int64_t now() { return std::time(nullptr); }

} // namespace

Cache::Cache(const std::string &directory, CacheOptions options)
    : folder(directory, "open cache"), options(options) {}

//===----------------------------------------------------------------------===//
// Get and put
//===----------------------------------------------------------------------===//

Cache::Lookup Cache::get(std::string_view key, std::vector<uint8_t> &bytes,
                         std::string &reason) {
  checkKey(key);
  std::string name = std::string(key) + std::string(kSuffix);
  auto reject = [&](const std::string &why) {
    ++rejected;
    bytes.clear();
    reason = "cache entry '" + folder.path(name) + "' is not used: " + why;
    return Lookup::Rejected;
  };
  Descriptor file = folder.open(name.c_str());
  if (!file) {
    if (errno != ENOENT)
      return reject("cannot open it: " + errnoText(errno));
    ++misses;
    return Lookup::Miss;
  }
  struct stat info;
  if (std::string why = PrivateFolder::distrust(file, info); !why.empty())
    return reject(why);
  auto removeDamaged = [&](const std::string &why) {
    folder.remove(name);
    return reject(why + "; it has been removed");
  };
  Header header;
  uint64_t size = info.st_size;
  if (size < sizeof(header) || size - sizeof(header) > options.maxBytes)
    return removeDamaged("expected a header and at most " +
                         std::to_string(options.maxBytes) + " bytes, found " +
                         std::to_string(size) + " bytes");
  bytes.resize(size - sizeof(header));
  if (!readAll(file.get(), &header, sizeof(header)) ||
      !readAll(file.get(), bytes.data(), bytes.size()))
    return reject("cannot read it: " + errnoText(errno));
  if (std::memcmp(header.magic, kMagic, sizeof(kMagic)) != 0 ||
      header.version != kVersion || header.reserved != 0)
    return removeDamaged("expected a cache entry of version " +
                         std::to_string(kVersion) + ", found other bytes");
  if (header.size != bytes.size() ||
      header.checksum != checksumOf(key, bytes.data(), bytes.size()))
    return removeDamaged("the bytes do not match their checksum");
  if (now() - info.st_mtim.tv_sec > kTouchSeconds)
    PrivateFolder::touch(file);
  ++hits;
  return Lookup::Hit;
}

void Cache::put(std::string_view key, const void *bytes, size_t size) {
  checkKey(key);
  std::string name = std::string(key) + std::string(kSuffix);
  if (size + sizeof(Header) > options.maxBytes)
    throw Error(Status::OutOfResources,
                "cache put '" + folder.path(name) + "': the entry has " +
                    std::to_string(size) + " bytes, the cache may have " +
                    std::to_string(options.maxBytes) +
                    "; raise the size of the cache");
  Header header{};
  std::memcpy(header.magic, kMagic, sizeof(kMagic));
  header.version = kVersion;
  header.size = size;
  header.checksum = checksumOf(key, bytes, size);

  folder.write(name,
               {std::string_view(reinterpret_cast<const char *>(&header),
                                 sizeof(header)),
                std::string_view(static_cast<const char *>(bytes), size)},
               "cache put");
  ++puts;

  std::lock_guard lock(mutex);
  addedBytes += size + sizeof(Header);
  // Others add too: look again after each 64th part of the size.
  if (!scanned || addedBytes > options.maxBytes / 64 ||
      knownBytes + addedBytes > options.maxBytes)
    trimLocked(options.maxBytes);
}

//===----------------------------------------------------------------------===//
// Size
//===----------------------------------------------------------------------===//

/// Brings the entries down to nine tenths of the limit if they exceed it, so
/// that a full cache does not scan at every put.
void Cache::trimLocked(uint64_t limit) {
  PrivateFolder::Trimmed found =
      folder.trim(kSuffix, limit, int64_t(options.temporarySeconds));
  evicted += found.removed;
  scanned = true;
  knownBytes = found.bytes;
  addedBytes = 0;
}

void Cache::trim() {
  std::lock_guard lock(mutex);
  trimLocked(options.maxBytes);
}

void Cache::clear() {
  std::lock_guard lock(mutex);
  trimLocked(0);
}

CacheStats Cache::stats() {
  CacheStats stats;
  for (const auto &file :
       folder.files(kSuffix, int64_t(options.temporarySeconds))) {
    ++stats.entries;
    stats.bytes += file.bytes;
  }
  stats.hits = hits;
  stats.misses = misses;
  stats.rejected = rejected;
  stats.puts = puts;
  stats.evicted = evicted;
  return stats;
}

} // namespace terrazzo::runtime
