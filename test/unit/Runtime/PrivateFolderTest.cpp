//===- PrivateFolderTest.cpp - What other users may have put there --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "terrazzo/Runtime/PrivateFolder.h"
#include "TemporaryDirectory.h"
#include "TestKernels.h"
#include "terrazzo-c/Runtime.h"
#include "terrazzo/Runtime/Error.h"

#include <fcntl.h>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>

using namespace terrazzo;
using namespace terrazzo::runtime;
using namespace terrazzo::test;
namespace fs = std::filesystem;

namespace {

constexpr uid_t kForeign = 65534;

std::string contents(const std::string &path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

mode_t modeOf(const std::string &path) {
  struct stat info;
  return ::lstat(path.c_str(), &info) == 0 ? info.st_mode & 07777 : 0;
}

/// A world-writable directory, as /tmp is, and a private file of the user.
class PrivateFolderTest : public testing::Test {
protected:
  PrivateFolderTest() {
    fs::create_directory(open);
    ::chmod(open.c_str(), 01777);
    std::ofstream(secret) << "secret";
    ::chmod(secret.c_str(), 0600);
  }
  /// Gives away a name (not what it links to), as if another had made it.
  /// False where only root can do that and this is not root.
  static bool giveAway(const std::string &path) {
    return geteuid() == 0 && ::lchown(path.c_str(), kForeign, kForeign) == 0;
  }
  Error refusal(const std::string &path) {
    return errorOf([&] { PrivateFolder(path, "open folder"); });
  }

  TemporaryDirectory directory;
  std::string open = directory / "open", secret = directory / "secret";
};

TEST_F(PrivateFolderTest, makesFoldersForTheUserAlone) {
  mode_t before = ::umask(0);
  PrivateFolder folder(open + "/a/b", "open folder");
  folder.write("x.txt", {"one", "two"}, "write");
  ::umask(before);
  EXPECT_EQ(modeOf(open + "/a"), 0700u);
  EXPECT_EQ(modeOf(open + "/a/b"), 0700u);
  EXPECT_EQ(modeOf(open + "/a/b/x.txt"), 0600u);
  EXPECT_EQ(contents(open + "/a/b/x.txt"), "onetwo");
}

TEST_F(PrivateFolderTest, replacesALinkInsteadOfFollowingIt) {
  PrivateFolder folder(open + "/mine", "open folder");
  fs::create_symlink(secret, open + "/mine/x.txt");
  giveAway(open + "/mine/x.txt");
  folder.write("x.txt", {"new"}, "write");
  EXPECT_EQ(contents(secret), "secret");
  EXPECT_FALSE(fs::is_symlink(open + "/mine/x.txt"));
  EXPECT_EQ(contents(open + "/mine/x.txt"), "new");
}

// Another user makes the name that will be asked for a link to a folder of the
// victim's: its owner and mode are right, only the way to it is not.
TEST_F(PrivateFolderTest, refusesLinksOfOthersWhereOthersCanWrite) {
  std::string home = directory / "home", link = open + "/planted";
  fs::create_directory(home);
  ::chmod(home.c_str(), 0700);
  fs::create_symlink(home, link);
  PrivateFolder(link, "open folder"); // the user's own leads on
  PrivateFolder(link + "/below", "open folder");
  if (!giveAway(link))
    return;
  for (const std::string &path : {link, link + "/below"}) {
    Error error = refusal(path);
    EXPECT_EQ(error.status(), Status::Unavailable);
    EXPECT_NE(error.message().find("is a link of user 65534"),
              std::string::npos)
        << error.message();
  }
  // The same at the end of a chain whose first link is the user's own.
  fs::create_symlink(link, directory / "own");
  EXPECT_NE(refusal(directory / "own").message().find("link of user"),
            std::string::npos);
}

TEST_F(PrivateFolderTest, refusesFoldersOfOthers) {
  std::string path = open + "/foreign";
  fs::create_directory(path);
  ::chmod(path.c_str(), 0700);
  std::string named = giveAway(path) ? path : "/usr";
  EXPECT_NE(refusal(named).message().find("belongs to user"),
            std::string::npos);
}

TEST_F(PrivateFolderTest, refusesFoldersThatOthersCanWrite) {
  EXPECT_NE(refusal(open).message().find("others can too"), std::string::npos);
}

// The parent is exchanged after the folder was checked: what is written goes to
// the folder that was, never to the new one.
TEST_F(PrivateFolderTest, staysInTheFolderThatWasChecked) {
  ::chmod(open.c_str(), 0777);
  PrivateFolder folder(open + "/mine", "open folder");
  fs::rename(open + "/mine", open + "/moved");
  std::string home = directory / "home";
  fs::create_directory(home);
  fs::create_symlink(home, open + "/mine");
  folder.write("x.txt", {"new"}, "write");
  EXPECT_TRUE(fs::is_empty(home));
  EXPECT_EQ(contents(open + "/moved/x.txt"), "new");
}

TEST_F(PrivateFolderTest, takesNamesOfFilesOnly) {
  PrivateFolder folder(open + "/mine", "open folder");
  for (const char *name : {"", ".", "..", "../secret", "/etc/x", ".hidden"}) {
    Error error = errorOf([&] { folder.write(name, {"new"}, "write"); });
    EXPECT_EQ(error.status(), Status::InvalidArgument) << name;
  }
  EXPECT_EQ(contents(secret), "secret");
}

TEST_F(PrivateFolderTest, endsOnLinksInACircle) {
  fs::create_symlink(directory / "b", directory / "a");
  fs::create_symlink(directory / "a", directory / "b");
  EXPECT_NE(refusal(directory / "a").message().find("ELOOP"),
            std::string::npos);
}

TEST_F(PrivateFolderTest, walksRelativePaths) {
  fs::path before = fs::current_path();
  fs::current_path(directory.path);
  PrivateFolder("x/./y//../z/", "open folder").write("f.txt", {"1"}, "write");
  fs::current_path(before);
  EXPECT_EQ(contents(directory / "x/z/f.txt"), "1");
}

TEST_F(PrivateFolderTest, keepsTheFilesWrittenLast) {
  std::string where = open + "/mine";
  for (int i = 0; i < 20; ++i) {
    std::string name = "f" + std::to_string(i) + ".txt", bytes(100, 'x');
    ASSERT_EQ(tzPrivateFileWrite(where.c_str(), name.c_str(), bytes.data(),
                                 bytes.size(), 1000),
              TzStatusOk);
    timespec times[2] = {{1000 + i, 0}, {1000 + i, 0}};
    ::utimensat(AT_FDCWD, (where + "/" + name).c_str(), times, 0);
  }
  EXPECT_TRUE(fs::exists(where + "/f19.txt"));
  EXPECT_FALSE(fs::exists(where + "/f0.txt"));
  size_t count =
      std::distance(fs::directory_iterator(where), fs::directory_iterator());
  EXPECT_LE(count, 10u);
}

} // namespace
