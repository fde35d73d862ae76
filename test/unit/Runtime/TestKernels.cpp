//===- TestKernels.cpp - Artifacts for the runtime's tests ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestKernels.h"
#include "terrazzo/Runtime/Cpu.h"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace terrazzo::test {

std::vector<uint8_t> readObject(const std::string &name) {
  const char *folder = std::getenv("TERRAZZO_TEST_KERNELS");
  if (!folder)
    folder = TERRAZZO_TEST_KERNELS; // where the build put them
  std::string path = std::string(folder) + "/" + name + ".o";
  std::ifstream file(path, std::ios::binary);
  if (!file)
    throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

Artifact makeArtifact(const std::string &entry, const std::string &types) {
  static const std::vector<uint8_t> object = readObject("kernels");
  Artifact artifact;
  artifact.target = "cpu";
  artifact.chip = "any";
  artifact.entry = entry;
  artifact.code = object;
  for (char type : types) {
    ArgInfo arg;
    switch (type) {
    case 'p':
      arg = {ArgInfo::Pointer, 8, "", "ptr<f32>", true};
      break;
    case 'i':
      arg = {ArgInfo::Int, 4, "", "i32", false};
      break;
    case 'l':
      arg = {ArgInfo::Int, 8, "", "i64", false};
      break;
    case 'b':
      arg = {ArgInfo::Int, 1, "", "i1", false};
      break;
    case 'c':
      arg = {ArgInfo::Int, 1, "", "i8", false};
      break;
    case 'f':
      arg = {ArgInfo::Float, 4, "", "f32", false};
      break;
    case 'd':
      arg = {ArgInfo::Float, 8, "", "f64", false};
      break;
    case 'h':
      arg = {ArgInfo::Float, 2, "", "f16", false};
      break;
    case 'g':
      arg = {ArgInfo::Float, 2, "", "bf16", false};
      break;
    }
    arg.name = "a" + std::to_string(artifact.args.size());
    artifact.args.push_back(arg);
  }
  return artifact;
}

std::shared_ptr<runtime::Kernel> loadKernel(const std::string &entry,
                                            const std::string &types,
                                            const char *driver) {
  return runtime::openDriver(driver)->load(0, makeArtifact(entry, types));
}

Threads::Threads(int count) { runtime::setCpuThreads(count); }
Threads::~Threads() { runtime::setCpuThreads(0); }

} // namespace terrazzo::test
