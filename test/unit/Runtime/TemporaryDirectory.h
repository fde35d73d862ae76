//===- TemporaryDirectory.h - A directory for one test -----------*- C++
//-*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_TEST_UNIT_RUNTIME_TEMPORARYDIRECTORY_H
#define TERRAZZO_TEST_UNIT_RUNTIME_TEMPORARYDIRECTORY_H

#include <cstdlib>
#include <filesystem>
#include <string>

namespace terrazzo::test {

class TemporaryDirectory {
public:
  TemporaryDirectory() {
    std::string pattern =
        std::filesystem::temp_directory_path() / "terrazzo-test-XXXXXX";
    if (!mkdtemp(pattern.data()))
      std::abort();
    path = pattern;
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::string operator/(const std::string &name) const {
    return path + "/" + name;
  }

  std::string path;
};

} // namespace terrazzo::test

#endif // TERRAZZO_TEST_UNIT_RUNTIME_TEMPORARYDIRECTORY_H
