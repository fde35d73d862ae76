//===- Assembler.h - Code objects from assembly text ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_TEST_UNIT_SIMULATOR_ASSEMBLER_H
#define TERRAZZO_TEST_UNIT_SIMULATOR_ASSEMBLER_H

#include "terrazzo/Simulator/AMDGPU/Simulator.h"

#include <cstring>
#include <string>
#include <vector>

namespace terrazzo::amdsim::test {

/// What surrounds a kernel's instructions.
struct KernelText {
  std::string chip = "gfx942";
  std::string body;
  /// How many pointers the kernel takes; they come in s[0:1] as a segment.
  unsigned pointers = 1;
  unsigned ldsBytes = 0, scratchBytes = 0;
  unsigned vgprs = 64;
  /// More `.amdhsa_` lines.
  std::string directives = "";
};

/// A linked code object with one kernel named "kernel". Asserts that the text
/// is right.
std::string assemble(const KernelText &text);

/// Runs a kernel of one text with vectors as its arguments.
class TestLaunch {
public:
  explicit TestLaunch(const KernelText &text);

  /// The next pointer argument. What it points to must outlive the launch.
  template <class T>
  TestLaunch &buffer(std::vector<T> &values, const std::string &name = "",
                     bool isWritable = true) {
    std::string label =
        name.empty() ? "argument " + std::to_string(count) : name;
    memory.add(values.data(), values.size() * sizeof(T), label, isWritable);
    return pointer(values.data());
  }
  TestLaunch &pointer(const void *address) {
    arguments.resize(arguments.size() + sizeof(address));
    std::memcpy(arguments.data() + arguments.size() - sizeof(address), &address,
                sizeof(address));
    ++count;
    return *this;
  }
  Statistics run();

  Launch launch;
  MemoryMap memory;

private:
  std::string arguments;
  unsigned count = 0;
  Simulator simulator;
};

} // namespace terrazzo::amdsim::test

#endif // TERRAZZO_TEST_UNIT_SIMULATOR_ASSEMBLER_H
