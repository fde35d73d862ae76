//===- Inputs.cpp - What the lit tests give to which passes ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Inputs.h"

#include "mlir/Pass/PassRegistry.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

using llvm::SmallVector;
using llvm::StringRef;
using namespace terrazzo::mutation;

namespace {

/// The words of a shell command, without their quotes.
SmallVector<std::string> wordsOf(StringRef command) {
  SmallVector<std::string> words;
  std::string word;
  char quote = 0;
  for (char c : command) {
    if (quote ? c == quote : c == '\'' || c == '"')
      quote = quote ? 0 : c;
    else if (!quote && c == ' ')
      words.push_back(std::move(word)), word.clear();
    else
      word += c;
  }
  words.push_back(word);
  llvm::erase_if(words, [](const std::string &each) { return each.empty(); });
  return words;
}

/// `--name=options` as an element of a pipeline, if there is such a pass.
std::string passOf(StringRef word) {
  if (!word.consume_front("--"))
    return "";
  auto [name, options] = word.split('=');
  if (name == "pass-pipeline") {
    options.consume_front("builtin.module(");
    options.consume_back(")");
    return options.str();
  }
  if (!mlir::PassInfo::lookup(name) && !mlir::PassPipelineInfo::lookup(name))
    return "";
  return options.empty() ? name.str() : (name + "{" + options + "}").str();
}

/// The passes of all tz-opt of a RUN line, one behind the other.
std::string pipelineOf(StringRef line) {
  std::string pipeline;
  SmallVector<StringRef> commands;
  line.split(commands, '|');
  for (StringRef command : commands) {
    if (!command.contains("tz-opt"))
      continue;
    for (const std::string &word : wordsOf(command))
      if (std::string pass = passOf(word); !pass.empty())
        pipeline += (pipeline.empty() ? "" : ",") + pass;
  }
  // Files that only round-trip.
  return pipeline.empty() ? "canonicalize,cse" : pipeline;
}

/// The pipelines of a file; DEFINE and REDEFINE give texts for `%{name}`.
std::vector<std::string> pipelinesOf(StringRef text) {
  std::vector<std::string> pipelines;
  std::map<std::string, std::string> macros;
  SmallVector<StringRef> lines;
  text.split(lines, '\n');
  for (StringRef line : lines) {
    if (!line.consume_front("// "))
      continue;
    line.consume_front("RE");
    if (line.consume_front("DEFINE: ")) {
      auto [name, value] = line.split(" =");
      macros[name.str()] = value.trim().str();
    } else if (line.consume_front("RUN: ")) {
      std::string command = line.str();
      for (bool changed = true; changed;) {
        changed = false;
        for (const auto &[name, value] : macros)
          if (size_t at = command.find(name); at != std::string::npos) {
            command.replace(at, name.size(), value);
            changed = true;
          }
      }
      if (StringRef(command).contains("tz-opt"))
        pipelines.push_back(pipelineOf(command));
    }
  }
  std::sort(pipelines.begin(), pipelines.end());
  pipelines.erase(std::unique(pipelines.begin(), pipelines.end()),
                  pipelines.end());
  return pipelines;
}

} // namespace

std::vector<Input> terrazzo::mutation::collectInputs(const std::string &root) {
  std::vector<std::filesystem::path> files;
  for (const char *folder : {"Conversion", "Dialect", "Pipelines", "Target"})
    for (const auto &entry : std::filesystem::recursive_directory_iterator(
             std::filesystem::path(root) / folder))
      if (entry.path().extension() == ".mlir")
        files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<Input> inputs;
  for (const std::filesystem::path &file : files) {
    std::ostringstream stream;
    stream << std::ifstream(file).rdbuf();
    std::string text = stream.str();
    SmallVector<StringRef> parts;
    StringRef(text).split(parts, "\n// -----\n");
    std::vector<std::string> pipelines = pipelinesOf(text);
    for (const std::string &pipeline : pipelines)
      for (StringRef part : parts)
        inputs.push_back({std::filesystem::relative(file, root).string(),
                          part.str(), pipeline});
  }
  return inputs;
}
