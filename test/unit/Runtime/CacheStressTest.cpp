//===- CacheStressTest.cpp - The disk cache under attack ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Eight processes of two threads use one small directory while the parent kills
// and replaces them and damages files. The bytes of an entry follow from its
// key, so every process can tell right from wrong.
//===----------------------------------------------------------------------===//

#include "TemporaryDirectory.h"
#include "terrazzo/Runtime/Cache.h"
#include "terrazzo/Runtime/Error.h"

#include <atomic>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <new>
#include <random>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace terrazzo;
using namespace terrazzo::runtime;
using namespace terrazzo::test;
namespace fs = std::filesystem;

namespace {

constexpr int kProcesses = 8, kKeys = 60;
constexpr int kDamages = 300, kDamagesPerKill = 10;
using Flag = std::atomic<bool>;
static_assert(Flag::is_always_lock_free);
constexpr int kWrongBytes = 3, kUnexpectedError = 4;

std::string keyOf(int i) {
  return "stress-" + std::to_string(100000000000 + i);
}

std::vector<uint8_t> bytesOf(int i) {
  std::mt19937 random(i);
  std::vector<uint8_t> bytes(200 + random() % 30000);
  for (uint8_t &byte : bytes)
    byte = random();
  return bytes;
}

/// Gets and puts until it is killed or told to stop; exits at once on a wrong
/// answer.
void useCache(const std::string &where, unsigned seed, const Flag &stop) {
  // Evicts all the time: all keys together are about 900 KB.
  Cache cache(where, CacheOptions{400000, 1});
  std::mt19937 random(seed);
  std::vector<uint8_t> bytes;
  std::string reason;
  while (!stop) {
    int i = random() % kKeys;
    try {
      if (cache.get(keyOf(i), bytes, reason) == Cache::Lookup::Hit) {
        if (bytes != bytesOf(i))
          _exit(kWrongBytes);
      } else {
        std::vector<uint8_t> stored = bytesOf(i);
        cache.put(keyOf(i), stored.data(), stored.size());
      }
    } catch (const Error &error) {
      fprintf(stderr, "%s\n", error.what());
      _exit(kUnexpectedError);
    }
  }
}

pid_t startProcess(const std::string &where, unsigned seed, const Flag &stop) {
  pid_t child = fork();
  if (child == 0) {
    std::thread second([&] { useCache(where, seed + 1000, stop); });
    useCache(where, seed, stop);
    second.join();
    _exit(0);
  }
  return child;
}

/// Truncates, flips or appends to some file of the cache, in place.
void damage(const std::string &where, std::mt19937 &random) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto &entry : fs::directory_iterator(where, ignored))
    names.push_back(entry.path());
  if (names.empty())
    return;
  const std::string &name = names[random() % names.size()];
  int file = ::open(name.c_str(), O_RDWR);
  if (file < 0)
    return;
  off_t size = lseek(file, 0, SEEK_END);
  uint8_t byte = 0;
  switch (size > 0 ? random() % 3 : 2) {
  case 0:
    EXPECT_EQ(ftruncate(file, random() % size), 0);
    break;
  case 1: {
    off_t at = random() % size;
    if (pread(file, &byte, 1, at) == 1) {
      byte ^= 1 << random() % 8;
      EXPECT_EQ(pwrite(file, &byte, 1, at), 1);
    }
    break;
  }
  default:
    EXPECT_EQ(pwrite(file, &byte, 1, size), 1);
  }
  close(file);
}

TEST(CacheStress, neverReturnsWrongBytes) {
  TemporaryDirectory directory;
  std::string where = directory / "cache";
  std::mt19937 random(7);
  std::vector<pid_t> processes;
  unsigned seed = 0;
  // In memory that the processes share.
  void *shared = ::mmap(nullptr, sizeof(Flag), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  Flag &stop = *new (shared) Flag(false);
  for (int i = 0; i < kProcesses; ++i)
    processes.push_back(startProcess(where, seed++, stop));
  // By counts, not by time: a busy machine takes longer.
  for (int damaged = 1; damaged <= kDamages; ++damaged) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    damage(where, random);
    if (damaged % kDamagesPerKill == 0) {
      pid_t &victim = processes[random() % processes.size()];
      kill(victim, SIGKILL);
      int status;
      waitpid(victim, &status, 0);
      EXPECT_TRUE(WIFSIGNALED(status) || status == 0) << status;
      victim = startProcess(where, seed++, stop);
    }
  }
  stop = true;
  for (pid_t process : processes) {
    int status = -1;
    waitpid(process, &status, 0);
    EXPECT_EQ(status, 0);
  }
  ::munmap(shared, sizeof(Flag));

  // What is left is right or rejected, within the size, and nothing temporary
  // is older than the time of grace.
  Cache cache(where, CacheOptions{400000, 0});
  std::this_thread::sleep_for(std::chrono::milliseconds(2100));
  cache.trim();
  std::vector<uint8_t> bytes;
  std::string reason;
  for (int i = 0; i < kKeys; ++i)
    if (cache.get(keyOf(i), bytes, reason) == Cache::Lookup::Hit) {
      EXPECT_EQ(bytes, bytesOf(i));
    }
  EXPECT_LE(cache.stats().bytes, 400000u);
  for (const auto &entry : fs::directory_iterator(where))
    EXPECT_FALSE(entry.path().filename().string().starts_with(".tmp-"))
        << entry.path();
}

} // namespace
