//===- PrivateFolder.h - Files that no other user can touch -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Everything that this product writes under names of its own choice is written
// here: the cache, and reproducers of failures. Names that can be guessed are
// safe because of the folder that they lie in: only this user can write to it,
// nobody else's link led there, and all that is done in it is done relative to
// the folder that was checked.
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_RUNTIME_PRIVATEFOLDER_H
#define TERRAZZO_RUNTIME_PRIVATEFOLDER_H

#include <cstdint>
#include <ctime>
#include <initializer_list>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <utility>
#include <vector>

namespace terrazzo::runtime {

/// Owns a file descriptor.
class Descriptor {
public:
  explicit Descriptor(int value = -1) : value(value) {}
  ~Descriptor();
  Descriptor(Descriptor &&other) noexcept : value(other.value) {
    other.value = -1;
  }
  Descriptor &operator=(Descriptor &&other) noexcept {
    std::swap(value, other.value);
    return *this;
  }
  explicit operator bool() const { return value >= 0; }
  int get() const { return value; }

private:
  int value;
};

class PrivateFolder {
public:
  /// Makes the folder and its parents if need be (mode 0700). Throws
  /// Unavailable, with the reason, if that cannot be done, if the folder
  /// belongs to another user or others can write to it, or if another user's
  /// link leads to it. `what` begins the message: "open cache".
  PrivateFolder(const std::string &path, const std::string &what);

  std::string path(std::string_view name) const;

  /// Opens a file for reading, for what it is at this moment; empty with errno
  /// if that fails.
  Descriptor open(const char *name) const;
  /// Why an open file is not to be believed: it is no regular file, another
  /// user's, or others can write to it. Empty if it is; fills in `info`.
  static std::string distrust(const Descriptor &file, struct stat &info);

  /// Writes a file of these parts: it is seen with all of them or not at all,
  /// and what had its name, a link too, is replaced, never followed. Throws
  /// Unavailable with `what` if that fails, leaving the folder as it was.
  void write(std::string_view name,
             std::initializer_list<std::string_view> parts,
             const std::string &what) const;
  void remove(const std::string &name) const;
  /// Notes a use of the file now; fails silently on a read-only disk.
  static void touch(const Descriptor &file);

  struct File {
    std::string name;
    uint64_t bytes;
    timespec used;
  };
  /// The regular files whose names end in `suffix`. Removes, on the way,
  /// temporary files older than `seconds`, left by a process that died.
  std::vector<File> files(std::string_view suffix, int64_t seconds) const;

  struct Trimmed {
    uint64_t bytes = 0, removed = 0;
  };
  /// If the files of `suffix` take more than `limit`, removes the least
  /// recently used down to nine tenths of it. Gives what stays and how many
  /// went.
  Trimmed trim(std::string_view suffix, uint64_t limit, int64_t seconds) const;

private:
  std::string where;
  Descriptor folder;
};

} // namespace terrazzo::runtime

#endif // TERRAZZO_RUNTIME_PRIVATEFOLDER_H
