//===- HipTextCode.cpp - Code that is a text ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A code object here is a text: a head, then a kernel a line with the sizes of
// its parameters.
//===----------------------------------------------------------------------===//

#include "HipCode.h"

#include <sstream>

using namespace stub;

const std::string &stub::chipText() {
  static const std::string text = "gfx942:sramecc+:xnack-";
  return text;
}
int stub::waveSize() { return 64; }
unsigned stub::sharedBytes() { return kMaxShared; }
const char *stub::lastFailure() { return nullptr; }

bool stub::loadCode(Gpu &gpu, Module &module, const void *image) {
  std::istringstream text(static_cast<const char *>(image));
  std::string line;
  if (!std::getline(text, line) || line != "code object of the stub")
    return false;
  while (std::getline(text, line)) {
    std::istringstream words(line);
    std::string name;
    words >> name;
    std::vector<size_t> sizes;
    for (size_t size; words >> size;)
      sizes.push_back(size);
    gpu.addFunction(module, name, sizes, functionNamed(name));
  }
  return true;
}
