//===- Inputs.h - What the lit tests give to which passes -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_TEST_UNIT_MUTATION_INPUTS_H
#define TERRAZZO_TEST_UNIT_MUTATION_INPUTS_H

#include <string>
#include <vector>

namespace terrazzo::mutation {

/// A module of a lit test and a pipeline that a RUN line sends it through.
struct Input {
  std::string file;     ///< below the tests' root
  std::string text;     ///< one part of a split file
  std::string pipeline; ///< the inside of `builtin.module(...)`
};

/// All of them, each once, in an order that depends on names and texts only.
std::vector<Input> collectInputs(const std::string &root);

} // namespace terrazzo::mutation

#endif // TERRAZZO_TEST_UNIT_MUTATION_INPUTS_H
