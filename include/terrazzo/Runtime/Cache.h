//===- Cache.h - A byte store on disk ----------------------------*- C++
//-*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One file an entry, named by its key, with a header and a checksum. A file is
// written under a temporary name and renamed, so readers see all of it or
// nothing; it is not synced, because a file that a power cut damaged fails its
// checksum and is then just a miss. Any number of processes and threads may
// share a directory.
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_RUNTIME_CACHE_H
#define TERRAZZO_RUNTIME_CACHE_H

#include "terrazzo/Runtime/PrivateFolder.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace terrazzo::runtime {

struct CacheOptions {
  /// Entries are removed, least recently used first, beyond this size.
  uint64_t maxBytes = uint64_t(2) << 30;
  /// Temporary files older than this were left by a process that died.
  uint64_t temporarySeconds = 600;
};

struct CacheStats {
  uint64_t entries = 0, bytes = 0;
  uint64_t hits = 0, misses = 0, rejected = 0, puts = 0, evicted = 0;
};

class Cache {
public:
  /// Opens a PrivateFolder, which makes it if need be. Throws Unavailable, with
  /// the reason, if it cannot be made or is not private to the user.
  explicit Cache(const std::string &directory, CacheOptions options = {});
  Cache(const Cache &) = delete;
  Cache &operator=(const Cache &) = delete;

  enum class Lookup { Hit, Miss, Rejected };
  /// Fills `bytes` on a hit. Rejected is a miss with a `reason` worth a
  /// warning: the entry was damaged (and has been removed), foreign or
  /// unreadable.
  Lookup get(std::string_view key, std::vector<uint8_t> &bytes,
             std::string &reason);

  /// Stores bytes. Throws Unavailable or OutOfResources, leaving the cache as
  /// it was, if that is not possible.
  void put(std::string_view key, const void *bytes, size_t size);

  /// Removes stale temporary files and, if need be, the oldest entries.
  void trim();
  /// Removes every entry.
  void clear();
  CacheStats stats();

private:
  void trimLocked(uint64_t limit);

  PrivateFolder folder;
  CacheOptions options;
  std::mutex mutex;
  // What the last scan found, and what this handle has added since.
  bool scanned = false;
  uint64_t knownBytes = 0, addedBytes = 0;
  std::atomic<uint64_t> hits{0}, misses{0}, rejected{0}, puts{0}, evicted{0};
};

} // namespace terrazzo::runtime

#endif // TERRAZZO_RUNTIME_CACHE_H
