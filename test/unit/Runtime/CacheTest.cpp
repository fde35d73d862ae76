//===- CacheTest.cpp - The disk cache, one process ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "terrazzo/Runtime/Cache.h"
#include "TemporaryDirectory.h"
#include "TestKernels.h"

#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace terrazzo;
using namespace terrazzo::runtime;
using namespace terrazzo::test;
namespace fs = std::filesystem;

using Bytes = std::vector<uint8_t>;
static const std::string kKey = "0123456789abcdef0123456789abcdef";

namespace {

class CacheTest : public testing::Test {
protected:
  TemporaryDirectory directory;
  std::string where = directory / "a/b/cache";
  std::string entry = where + "/" + kKey + ".tz";

  Cache open(uint64_t maxBytes = 1 << 20, uint64_t grace = 600) {
    return Cache(where, CacheOptions{maxBytes, grace});
  }
  static Cache::Lookup get(Cache &cache, Bytes &bytes) {
    std::string reason;
    return cache.get(kKey, bytes, reason);
  }
  static void put(Cache &cache, const std::string &key, size_t size) {
    cache.put(key, Bytes(size, 7).data(), size);
  }
  static std::string keyOf(int i) {
    return "key-" + std::to_string(100000000000 + i);
  }
  size_t fileCount() const {
    return std::distance(fs::directory_iterator(where),
                         fs::directory_iterator());
  }
  /// Runs in a child so that limits and users do not stay; true on success.
  template <typename Action>
  static bool inChild(Action action) {
    pid_t child = fork();
    if (child == 0) {
      bool isRight = false;
      try {
        isRight = action();
      } catch (const std::exception &error) {
        fprintf(stderr, "%s\n", error.what());
      }
      _exit(isRight && !testing::Test::HasFailure() ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    return status == 0;
  }
};

TEST_F(CacheTest, returnsWhatWasPut) {
  Cache cache = open();
  Bytes bytes, stored{1, 2, 3, 0, 255};
  EXPECT_EQ(get(cache, bytes), Cache::Lookup::Miss);
  cache.put(kKey, stored.data(), stored.size());
  EXPECT_EQ(get(cache, bytes), Cache::Lookup::Hit);
  EXPECT_EQ(bytes, stored);
  cache.put(kKey, nullptr, 0);
  EXPECT_EQ(get(cache, bytes), Cache::Lookup::Hit);
  EXPECT_TRUE(bytes.empty());
  CacheStats stats = cache.stats();
  EXPECT_EQ(stats.entries, 1u);
  EXPECT_EQ(stats.hits, 2u);
  EXPECT_EQ(stats.misses, 1u);
  EXPECT_EQ(stats.puts, 2u);
}

TEST_F(CacheTest, isPrivateToTheUser) {
  Cache cache = open();
  put(cache, kKey, 10);
  struct stat info;
  ASSERT_EQ(stat(where.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
  ASSERT_EQ(stat(entry.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
}

TEST_F(CacheTest, outlivesItsHandle) {
  {
    Cache cache = open();
    put(cache, kKey, 10);
  }
  Cache cache = open();
  Bytes bytes;
  EXPECT_EQ(get(cache, bytes), Cache::Lookup::Hit);
}

TEST_F(CacheTest, refusesKeysThatAreNoFileNames) {
  Cache cache = open();
  Bytes bytes;
  std::string reason;
  for (std::string key :
       {std::string("short"), std::string("../../etc/passwd_x"),
        std::string(200, 'a'), std::string(""),
        std::string("0123456789abcde\0f", 17)}) {
    EXPECT_EQ(errorOf([&] { cache.get(key, bytes, reason); }).status(),
              Status::InvalidArgument);
    EXPECT_EQ(errorOf([&] { put(cache, key, 1); }).status(),
              Status::InvalidArgument);
  }
}

TEST_F(CacheTest, rejectsAndRemovesEachTruncation) {
  Cache cache = open();
  Bytes bytes;
  for (size_t size = 0; size < 32 + 20; ++size) {
    put(cache, kKey, 20);
    fs::resize_file(entry, size);
    std::string reason;
    EXPECT_EQ(cache.get(kKey, bytes, reason), Cache::Lookup::Rejected) << size;
    EXPECT_TRUE(bytes.empty());
    EXPECT_NE(reason.find("it has been removed"), std::string::npos) << reason;
    EXPECT_FALSE(fs::exists(entry));
  }
  EXPECT_EQ(get(cache, bytes), Cache::Lookup::Miss);
}

TEST_F(CacheTest, rejectsEachBitFlip) {
  Cache cache = open();
  Bytes bytes;
  for (size_t bit = 0; bit < 8 * (32 + 12); ++bit) {
    put(cache, kKey, 12);
    std::fstream file(entry, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(bit / 8);
    char byte = char(file.get() ^ 1 << bit % 8);
    file.seekp(bit / 8);
    file.put(byte);
    file.close();
    EXPECT_EQ(get(cache, bytes), Cache::Lookup::Rejected) << bit;
  }
}

TEST_F(CacheTest, rejectsAnEntryUnderAnotherName) {
  Cache cache = open();
  put(cache, keyOf(1), 10);
  fs::rename(where + "/" + keyOf(1) + ".tz", entry);
  Bytes bytes;
  EXPECT_EQ(get(cache, bytes), Cache::Lookup::Rejected);
}

TEST_F(CacheTest, rejectsWhatIsNoPrivateFile) {
  Cache cache = open();
  Bytes bytes;
  std::string reason;
  put(cache, kKey, 10);
  chmod(entry.c_str(), 0620);
  EXPECT_EQ(cache.get(kKey, bytes, reason), Cache::Lookup::Rejected);
  EXPECT_NE(reason.find("others can too"), std::string::npos) << reason;
  fs::remove(entry);
  mkfifo(entry.c_str(), 0600);
  EXPECT_EQ(get(cache, bytes), Cache::Lookup::Rejected);
  fs::remove(entry);
  put(cache, keyOf(1), 10);
  fs::create_symlink(where + "/" + keyOf(1) + ".tz", entry);
  EXPECT_EQ(get(cache, bytes), Cache::Lookup::Rejected);
  fs::remove(entry);
  fs::create_directory(entry);
  EXPECT_EQ(get(cache, bytes), Cache::Lookup::Rejected);
  EXPECT_EQ(errorOf([&] { put(cache, kKey, 10); }).status(),
            Status::Unavailable);
  EXPECT_EQ(cache.stats().entries, 1u);
}

TEST_F(CacheTest, refusesDirectoriesThatOthersCanWrite) {
  {
    Cache cache = open();
  }
  for (mode_t mode : {0770, 0707}) {
    chmod(where.c_str(), mode);
    Error error = errorOf([&] { open(); });
    EXPECT_EQ(error.status(), Status::Unavailable);
    EXPECT_NE(error.message().find("others can too"), std::string::npos);
  }
  chmod(where.c_str(), 0755);
  open();
}

TEST_F(CacheTest, refusesWhatIsNoDirectory) {
  std::ofstream(directory / "file") << "x";
  Error error = errorOf([&] { Cache(directory / "file"); });
  EXPECT_EQ(error.status(), Status::Unavailable);
  EXPECT_NE(error.message().find("ENOTDIR"), std::string::npos)
      << error.message();
  EXPECT_EQ(errorOf([&] { Cache(directory / "file/below"); }).status(),
            Status::Unavailable);
  EXPECT_EQ(errorOf([&] { Cache(""); }).status(), Status::InvalidArgument);
}

TEST_F(CacheTest, refusesTheDirectoryOfAnotherUser) {
  fs::create_directories(where);
  // Only root can give a directory away; others find one of root's.
  std::string foreign = where;
  if (geteuid() == 0)
    ASSERT_EQ(chown(where.c_str(), 65534, 65534), 0);
  else
    foreign = "/usr";
  Error error = errorOf([&] { Cache cache(foreign); });
  EXPECT_EQ(error.status(), Status::Unavailable);
  EXPECT_NE(error.message().find("belongs to user"), std::string::npos)
      << error.message();
}

TEST_F(CacheTest, readsFromAReadOnlyDirectory) {
  EXPECT_TRUE(inChild([&] {
    // Permissions do not stop root.
    if (geteuid() == 0) {
      fs::permissions(directory.path, fs::perms(0777));
      if (setuid(65534) != 0)
        return false;
    }
    std::string mine = directory / "mine";
    Cache cache(mine);
    put(cache, kKey, 10);
    chmod(mine.c_str(), 0500);
    Cache again(mine);
    Bytes bytes;
    EXPECT_EQ(get(again, bytes), Cache::Lookup::Hit);
    Error error = errorOf([&] { put(again, keyOf(1), 10); });
    EXPECT_EQ(error.status(), Status::Unavailable);
    EXPECT_NE(error.message().find("EACCES"), std::string::npos)
        << error.message();
    chmod(mine.c_str(), 0700);
    return true;
  }));
}

TEST_F(CacheTest, survivesAFullDisk) {
  EXPECT_TRUE(inChild([&] {
    Cache cache = open();
    put(cache, kKey, 10);
    // A limit on the size of files fails a write half way, as a full disk does.
    signal(SIGXFSZ, SIG_IGN);
    rlimit limit{1000, 1000};
    setrlimit(RLIMIT_FSIZE, &limit);
    Error error = errorOf([&] { put(cache, keyOf(1), 5000); });
    EXPECT_EQ(error.status(), Status::Unavailable);
    EXPECT_NE(error.message().find("write failed"), std::string::npos)
        << error.message();
    Bytes bytes;
    EXPECT_EQ(get(cache, bytes), Cache::Lookup::Hit);
    EXPECT_EQ(fileCount(), 1u); // no temporary file stays
    return true;
  }));
}

TEST_F(CacheTest, removesTheLeastRecentlyUsed) {
  Cache cache = open(100 * 1000);
  for (int i = 0; i < 90; ++i)
    put(cache, keyOf(i), 1000);
  // The older half was used long ago, except for one entry.
  for (int i = 0; i < 90; ++i) {
    timespec times[2] = {{i < 45 ? 1000 + i : time(nullptr) - 500, 0},
                         {i < 45 ? 1000 + i : time(nullptr) - 500, 0}};
    utimensat(AT_FDCWD, (where + "/" + keyOf(i) + ".tz").c_str(), times, 0);
  }
  Bytes bytes;
  std::string reason;
  EXPECT_EQ(cache.get(keyOf(3), bytes, reason), Cache::Lookup::Hit);
  for (int i = 90; i < 110; ++i)
    put(cache, keyOf(i), 1000);
  CacheStats stats = cache.stats();
  EXPECT_LE(stats.bytes, 100u * 1000);
  EXPECT_GT(stats.evicted, 10u);
  EXPECT_EQ(cache.get(keyOf(3), bytes, reason), Cache::Lookup::Hit);
  EXPECT_EQ(cache.get(keyOf(0), bytes, reason), Cache::Lookup::Miss);
  EXPECT_EQ(cache.get(keyOf(109), bytes, reason), Cache::Lookup::Hit);
  EXPECT_EQ(cache.get(keyOf(60), bytes, reason), Cache::Lookup::Hit);
}

TEST_F(CacheTest, refusesEntriesLargerThanTheCache) {
  Cache cache = open(1000);
  EXPECT_EQ(errorOf([&] { put(cache, kKey, 2000); }).status(),
            Status::OutOfResources);
}

TEST_F(CacheTest, removesOnlyStaleTemporaryFiles) {
  Cache cache = open(1 << 20, 60);
  for (const char *name : {".tmp-1-0-1", ".tmp-2-0-1", "other.txt"})
    std::ofstream(where + "/" + name) << "partial";
  timespec old[2] = {{1000, 0}, {1000, 0}};
  for (const char *name : {".tmp-1-0-1", "other.txt"})
    utimensat(AT_FDCWD, (where + "/" + name).c_str(), old, 0);
  cache.trim();
  EXPECT_FALSE(fs::exists(where + "/.tmp-1-0-1"));
  EXPECT_TRUE(fs::exists(where + "/.tmp-2-0-1"));
  EXPECT_TRUE(fs::exists(where + "/other.txt"));
}

TEST_F(CacheTest, clears) {
  Cache cache = open();
  put(cache, kKey, 10);
  cache.clear();
  EXPECT_EQ(cache.stats().entries, 0u);
}

} // namespace
