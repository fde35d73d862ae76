//===- Cache.cpp - A byte store on disk -----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files:
//   <key>.tz        header, bytes
//   .tmp-<pid>-<n>-<random>   being written
// All names are resolved relative to the directory that was checked when it was
// opened, so exchanging it later gains nothing. The modification time of an
// entry is the time of its last use.
//===----------------------------------------------------------------------===//

#include "terrazzo/Runtime/Cache.h"
#include "terrazzo/Runtime/Error.h"
#include "terrazzo/Support/Checksum.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <random>
#include <sys/stat.h>
#include <unistd.h>

namespace terrazzo::runtime {
namespace {

constexpr char kMagic[8] = {'T', 'Z', 'C', 'A', 'C', 'H', 'E', '\n'};
constexpr uint32_t kVersion = 1;
constexpr std::string_view kSuffix = ".tz";
constexpr std::string_view kTemporary = ".tmp-";
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

class Descriptor {
public:
  explicit Descriptor(int value) : value(value) {}
  ~Descriptor() {
    if (value >= 0)
      ::close(value);
  }
  Descriptor(const Descriptor &) = delete;
  Descriptor &operator=(const Descriptor &) = delete;
  explicit operator bool() const { return value >= 0; }
  int get() const { return value; }

private:
  int value;
};

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

/// Why a file or directory is not to be trusted; empty if it is.
std::string distrust(const struct stat &info) {
  if (info.st_uid != geteuid())
    return "expected it to belong to user " + std::to_string(geteuid()) +
           ", it belongs to user " + std::to_string(info.st_uid);
  if (info.st_mode & (S_IWGRP | S_IWOTH))
    return "expected that only its owner can write to it, others can too; "
           "remedy: chmod go-w";
  return "";
}

/// mkdir -p with mode 0700.
int makeDirectories(const std::string &path) {
  for (size_t at = 1; at <= path.size(); ++at)
    if (at == path.size() || path[at] == '/')
      if (::mkdir(path.substr(0, at).c_str(), 0700) != 0 && errno != EEXIST)
        // A parent that exists on a read-only file system says EROFS.
        if (struct stat info; ::stat(path.substr(0, at).c_str(), &info) != 0)
          return errno;
  return 0;
}

bool writeAll(int file, const void *bytes, size_t size) {
  const char *at = static_cast<const char *>(bytes);
  while (size) {
    ssize_t written = ::write(file, at, size);
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return false;
    at += written;
    size -= written;
  }
  return true;
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

/// Unique among the processes and threads that share a directory.
std::string temporaryName() {
  static std::atomic<uint64_t> counter{0};
  thread_local std::mt19937_64 random{std::random_device{}()};
  return std::string(kTemporary) + std::to_string(::getpid()) + "-" +
         std::to_string(counter.fetch_add(1)) + "-" + std::to_string(random());
}

} // namespace

struct Cache::File {
  std::string name;
  uint64_t bytes;
  timespec used;
};

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

Cache::Cache(std::string where, CacheOptions options)
    : directory(std::move(where)), options(options) {
  auto refuse = [&](const std::string &why) {
    if (folder >= 0)
      ::close(folder);
    throw Error(Status::Unavailable, "open cache '" + directory + "': " + why);
  };
  if (directory.empty())
    throw Error(Status::InvalidArgument,
                "open cache: expected the path of a directory, found ''");
  if (int code = makeDirectories(directory))
    refuse("cannot make the directory: " + errnoText(code));
  folder = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0)
    refuse("cannot open the directory: " + errnoText(errno));
  struct stat info;
  if (::fstat(folder, &info) != 0)
    refuse("fstat failed: " + errnoText(errno));
  if (std::string why = distrust(info); !why.empty())
    refuse(why);
}

Cache::~Cache() {
  if (folder >= 0)
    ::close(folder);
}

std::string Cache::path(std::string_view name) const {
  return directory + "/" + std::string(name);
}

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
    reason = "cache entry '" + path(name) + "' is not used: " + why;
    return Lookup::Rejected;
  };
  // Non-blocking: the name could be that of a pipe.
  Descriptor file(::openat(folder, name.c_str(),
                           O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file) {
    if (errno != ENOENT)
      return reject("cannot open it: " + errnoText(errno));
    ++misses;
    return Lookup::Miss;
  }
  struct stat info;
  if (::fstat(file.get(), &info) != 0)
    return reject("fstat failed: " + errnoText(errno));
  if (!S_ISREG(info.st_mode))
    return reject("expected a regular file, found something else");
  if (std::string why = distrust(info); !why.empty())
    return reject(why);
  auto removeDamaged = [&](const std::string &why) {
    ::unlinkat(folder, name.c_str(), 0);
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
    ::futimens(file.get(), nullptr); // fails on a read-only disk: no matter
  ++hits;
  return Lookup::Hit;
}

void Cache::put(std::string_view key, const void *bytes, size_t size) {
  checkKey(key);
  std::string name = std::string(key) + std::string(kSuffix);
  std::string operation = "cache put '" + path(name) + "': ";
  if (size + sizeof(Header) > options.maxBytes)
    throw Error(Status::OutOfResources, operation + "the entry has " +
                                            std::to_string(size) +
                                            " bytes, the cache may have " +
                                            std::to_string(options.maxBytes) +
                                            "; raise the size of the cache");
  Header header{};
  std::memcpy(header.magic, kMagic, sizeof(kMagic));
  header.version = kVersion;
  header.size = size;
  header.checksum = checksumOf(key, bytes, size);

  std::string temporary = temporaryName();
  auto fail = [&](const char *call, int code) {
    ::unlinkat(folder, temporary.c_str(), 0);
    throw Error(Status::Unavailable,
                operation + call + " failed: " + errnoText(code));
  };
  {
    Descriptor file(
        ::openat(folder, temporary.c_str(),
                 O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!file)
      fail("open", errno);
    if (!writeAll(file.get(), &header, sizeof(header)) ||
        !writeAll(file.get(), bytes, size))
      fail("write", errno);
  }
  if (::renameat(folder, temporary.c_str(), folder, name.c_str()) != 0)
    fail("rename", errno);
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

/// The entries; removes stale temporary files on the way.
std::vector<Cache::File> Cache::scan() {
  std::vector<File> files;
  // A description of its own: readdir moves its position.
  int copy = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  std::unique_ptr<DIR, int (*)(DIR *)> stream(
      copy < 0 ? nullptr : ::fdopendir(copy), ::closedir);
  if (!stream) {
    if (copy >= 0)
      ::close(copy);
    return files;
  }
  int64_t time = now();
  while (dirent *entry = ::readdir(stream.get())) {
    std::string_view name = entry->d_name;
    bool isTemporary = name.starts_with(kTemporary);
    struct stat info;
    if ((!isTemporary && !name.ends_with(kSuffix)) ||
        ::fstatat(folder, entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0 ||
        !S_ISREG(info.st_mode))
      continue;
    if (!isTemporary)
      files.push_back(
          {std::string(name), uint64_t(info.st_size), info.st_mtim});
    else if (time - info.st_mtim.tv_sec > int64_t(options.temporarySeconds))
      ::unlinkat(folder, entry->d_name, 0);
  }
  return files;
}

/// Brings the entries down to nine tenths of the limit if they exceed it, so
/// that a full cache does not scan at every put.
void Cache::trimLocked(uint64_t limit) {
  std::vector<File> files = scan();
  uint64_t total = 0;
  for (const File &file : files)
    total += file.bytes;
  if (total > limit) {
    std::sort(files.begin(), files.end(), [](const File &a, const File &b) {
      return std::pair(a.used.tv_sec, a.used.tv_nsec) <
             std::pair(b.used.tv_sec, b.used.tv_nsec);
    });
    uint64_t target = limit - limit / 10;
    for (const File &file : files) {
      if (total <= target)
        break;
      if (::unlinkat(folder, file.name.c_str(), 0) == 0)
        ++evicted;
      total -= file.bytes;
    }
  }
  scanned = true;
  knownBytes = total;
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
  for (const File &file : scan()) {
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
