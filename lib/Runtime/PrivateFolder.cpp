//===- PrivateFolder.cpp - Files that no other user can touch -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A file is made under `.tmp-<pid>-<n>-<random>`, exclusively, and renamed.
// Parents that everybody can write to are allowed, as /tmp has to be: whoever
// exchanges the folder there puts one in that is not this user's, or a link
// that is not, and neither is accepted.
//===----------------------------------------------------------------------===//

#include "terrazzo/Runtime/PrivateFolder.h"
#include "terrazzo/Runtime/Error.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <memory>
#include <random>
#include <unistd.h>

namespace terrazzo::runtime {
namespace {

constexpr std::string_view kTemporary = ".tmp-";
/// What the system allows on the way to a file, too.
constexpr int kMostLinks = 40;

std::string distrustOwner(const struct stat &info) {
  if (info.st_uid != geteuid())
    return "expected it to belong to user " + std::to_string(geteuid()) +
           ", it belongs to user " + std::to_string(info.st_uid);
  if (info.st_mode & (S_IWGRP | S_IWOTH))
    return "expected that only its owner can write to it, others can too; "
           "remedy: chmod go-w";
  return "";
}

/// Unique among the processes and threads that share a folder.
std::string temporaryName() {
  static std::atomic<uint64_t> counter{0};
  thread_local std::mt19937_64 random{std::random_device{}()};
  return std::string(kTemporary) + std::to_string(::getpid()) + "-" +
         std::to_string(counter.fetch_add(1)) + "-" + std::to_string(random());
}

bool writeAll(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return false;
    bytes.remove_prefix(written);
  }
  return true;
}

/// Walks to a folder name by name, each relative to the one before, so that
/// what was looked at is what is entered. Makes what is missing.
class Walk {
public:
  explicit Walk(std::string path) : rest(std::move(path)) {}

  /// The folder; empty with `why` if it cannot be reached.
  Descriptor run() {
    if (!enterRoot())
      return Descriptor();
    while (!rest.empty()) {
      size_t slash = rest.find('/');
      std::string name = rest.substr(0, slash);
      rest.erase(0, slash == std::string::npos ? slash : slash + 1);
      if (!name.empty() && name != "." && !step(name))
        return Descriptor();
    }
    // What was walked on can only name it.
    Descriptor readable(
        ::openat(at.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!readable)
      why = "cannot open the directory: " + errnoText(errno);
    return readable;
  }

  std::string why;

private:
  bool enterRoot() {
    if (!rest.empty() && rest[0] == '/') {
      seen = "/";
      at = Descriptor(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
    } else if (!at) {
      at = Descriptor(::open(".", O_PATH | O_DIRECTORY | O_CLOEXEC));
    }
    if (!at)
      why = "cannot open the directory: " + errnoText(errno);
    return bool(at);
  }

  bool fail(const char *action, const std::string &path, int code) {
    why = std::string(action) + " '" + path + "': " + errnoText(code);
    return false;
  }

  bool step(const std::string &name) {
    std::string path = seen + name;
    bool isMade = ::mkdirat(at.get(), name.c_str(), 0700) == 0;
    int madeCode = errno;
    Descriptor next(
        ::openat(at.get(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    // A parent that exists on a read-only file system says EROFS.
    if (!next)
      return fail("cannot make the directory", path,
                  isMade || madeCode == EEXIST ? errno : madeCode);
    struct stat info;
    if (::fstat(next.get(), &info) != 0)
      return fail("cannot look at", path, errno);
    if (S_ISLNK(info.st_mode))
      return follow(next, info, path);
    if (!S_ISDIR(info.st_mode))
      return fail("cannot open the directory", path, ENOTDIR);
    at = std::move(next);
    seen = path + "/";
    return true;
  }

  /// Where others can put links in, only this user's own and those of the
  /// directory's owner lead on.
  bool follow(const Descriptor &link, const struct stat &info,
              const std::string &path) {
    struct stat parent;
    if (::fstat(at.get(), &parent) != 0)
      return fail("cannot look at", seen, errno);
    if ((parent.st_mode & (S_IWGRP | S_IWOTH)) && info.st_uid != geteuid() &&
        info.st_uid != parent.st_uid) {
      why = "'" + path + "' is a link of user " + std::to_string(info.st_uid) +
            " in a directory that others can write to";
      return false;
    }
    if (++links > kMostLinks)
      return fail("cannot follow", path, ELOOP);
    char target[PATH_MAX];
    ssize_t size = ::readlinkat(link.get(), "", target, sizeof(target));
    if (size < 0)
      return fail("cannot follow", path, errno);
    rest = std::string(target, size) + "/" + rest;
    return rest[0] != '/' || enterRoot();
  }

  std::string rest, seen;
  Descriptor at;
  int links = 0;
};

} // namespace

Descriptor::~Descriptor() {
  if (value >= 0)
    ::close(value);
}

PrivateFolder::PrivateFolder(const std::string &path, const std::string &what)
    : where(path) {
  if (path.empty())
    throw Error(Status::InvalidArgument,
                what + ": expected the path of a directory, found ''");
  auto refuse = [&](const std::string &why) {
    throw Error(Status::Unavailable, what + " '" + path + "': " + why);
  };
  Walk walk(path);
  folder = walk.run();
  if (!folder)
    refuse(walk.why);
  struct stat info;
  if (::fstat(folder.get(), &info) != 0)
    refuse("fstat failed: " + errnoText(errno));
  if (std::string why = distrustOwner(info); !why.empty())
    refuse(why);
}

std::string PrivateFolder::path(std::string_view name) const {
  return where + "/" + std::string(name);
}

Descriptor PrivateFolder::open(const char *name) const {
  // Non-blocking: the name could be that of a pipe.
  return Descriptor(::openat(folder.get(), name,
                             O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
}

std::string PrivateFolder::distrust(const Descriptor &file, struct stat &info) {
  if (::fstat(file.get(), &info) != 0)
    return "fstat failed: " + errnoText(errno);
  if (!S_ISREG(info.st_mode))
    return "expected a regular file, found something else";
  return distrustOwner(info);
}

void PrivateFolder::write(std::string_view name,
                          std::initializer_list<std::string_view> parts,
                          const std::string &what) const {
  std::string target(name), temporary = temporaryName();
  auto fail = [&](const char *call, int code) {
    ::unlinkat(folder.get(), temporary.c_str(), 0);
    throw Error(Status::Unavailable, what + " '" + path(name) + "': " + call +
                                         " failed: " + errnoText(code));
  };
  if (target.empty() || target[0] == '.' ||
      target.find_first_of(std::string_view("/\0", 2)) != std::string::npos)
    throw Error(Status::InvalidArgument,
                what + ": expected the name of a file, found '" + target + "'");
  {
    Descriptor file(
        ::openat(folder.get(), temporary.c_str(),
                 O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!file)
      fail("open", errno);
    for (std::string_view part : parts)
      if (!writeAll(file.get(), part))
        fail("write", errno);
  }
  if (::renameat(folder.get(), temporary.c_str(), folder.get(),
                 target.c_str()) != 0)
    fail("rename", errno);
}

void PrivateFolder::remove(const std::string &name) const {
  ::unlinkat(folder.get(), name.c_str(), 0);
}

void PrivateFolder::touch(const Descriptor &file) {
  ::futimens(file.get(), nullptr);
}

std::vector<PrivateFolder::File> PrivateFolder::files(std::string_view suffix,
                                                      int64_t seconds) const {
  std::vector<File> found;
  // A description of its own: readdir moves its position.
  int copy = ::openat(folder.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  std::unique_ptr<DIR, int (*)(DIR *)> stream(
      copy < 0 ? nullptr : ::fdopendir(copy), ::closedir);
  if (!stream) {
    if (copy >= 0)
      ::close(copy);
    return found;
  }
  int64_t now = std::time(nullptr);
  while (dirent *entry = ::readdir(stream.get())) {
    std::string_view name = entry->d_name;
    bool isTemporary = name.starts_with(kTemporary);
    struct stat info;
    if ((!isTemporary && !name.ends_with(suffix)) ||
        ::fstatat(folder.get(), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) !=
            0 ||
        !S_ISREG(info.st_mode))
      continue;
    if (!isTemporary)
      found.push_back(
          {std::string(name), uint64_t(info.st_size), info.st_mtim});
    else if (now - info.st_mtim.tv_sec > seconds)
      ::unlinkat(folder.get(), entry->d_name, 0);
  }
  return found;
}

PrivateFolder::Trimmed PrivateFolder::trim(std::string_view suffix,
                                           uint64_t limit,
                                           int64_t seconds) const {
  std::vector<File> found = files(suffix, seconds);
  Trimmed result;
  for (const File &file : found)
    result.bytes += file.bytes;
  if (result.bytes <= limit)
    return result;
  std::sort(found.begin(), found.end(), [](const File &a, const File &b) {
    return std::pair(a.used.tv_sec, a.used.tv_nsec) <
           std::pair(b.used.tv_sec, b.used.tv_nsec);
  });
  for (const File &file : found) {
    if (result.bytes <= limit - limit / 10)
      break;
    if (::unlinkat(folder.get(), file.name.c_str(), 0) == 0)
      ++result.removed;
    result.bytes -= file.bytes;
  }
  return result;
}

} // namespace terrazzo::runtime
