//===- tz-sim.cpp - Runs kernels for AMD GPUs on the CPU ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tz-sim kernel.hsaco --report
// tz-sim kernel.hsaco --grid=4 --block=256 --arg=buffer:4096 --arg=i32:1000
//        --report
//===----------------------------------------------------------------------===//

#include "Report.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cstdlib>

using namespace terrazzo::amdsim;
namespace cl = llvm::cl;

// NOLINTBEGIN(bugprone-throwing-static-initialization): before main, nobody
// could catch what they throw, and nothing would be left to do.
static cl::OptionCategory category("options of tz-sim");
static cl::opt<std::string> inputFile(cl::Positional, cl::Required,
                                      cl::desc("<code object>"),
                                      cl::cat(category));
static cl::opt<std::string>
    kernelName("kernel", cl::desc("the kernel (default: the first)"),
               cl::cat(category));
static cl::opt<bool> report("report",
                            cl::desc("print the instruction mix and counts"),
                            cl::cat(category));
static cl::list<uint32_t> gridSize("grid", cl::CommaSeparated,
                                   cl::desc("workgroups: x[,y[,z]]; runs it"),
                                   cl::cat(category));
static cl::list<uint32_t> blockSize("block", cl::CommaSeparated,
                                    cl::desc("work items of a workgroup"),
                                    cl::cat(category));
static cl::list<std::string>
    arguments("arg",
              cl::desc("buffer:BYTES (zeros), random:BYTES (floats in [0, 1)), "
                       "file:PATH, i32:N, i64:N, f32:X, f64:X"),
              cl::cat(category));
static cl::list<std::string>
    outputs("output",
            cl::desc("N:PATH: writes the buffer of argument N behind the run"),
            cl::cat(category));
static cl::opt<uint64_t> seed("seed", cl::desc("of the order of waves"),
                              cl::init(1), cl::cat(category));
static cl::opt<bool> lastFirst("last-wave-first",
                               cl::desc("run the last wave first"),
                               cl::cat(category));
static cl::opt<unsigned> threads("host-threads", cl::desc("of this machine"),
                                 cl::init(0), cl::cat(category));
static cl::opt<uint64_t> steps("steps", cl::desc("limit of one wave"),
                               cl::init(1'000'000'000), cl::cat(category));
static cl::opt<unsigned> dynamicLds("lds",
                                    cl::desc("bytes beyond the kernel's"),
                                    cl::init(0), cl::cat(category));
// NOLINTEND(bugprone-throwing-static-initialization)

namespace {
/// Arguments as bytes, and the buffers that they point to.
class Arguments {
public:
  void add(llvm::StringRef text, const KernelArgument &argument);
  /// The contents of the buffer of an argument; null if it is none.
  const std::vector<char> *bufferOf(size_t argument) const {
    return argument < byArgument.size() ? byArgument[argument] : nullptr;
  }
  std::string bytes;
  MemoryMap memory;

private:
  void addBuffer(std::vector<char> contents, const KernelArgument &argument);
  template <class T>
  void addValue(T value, const KernelArgument &argument) {
    bytes.resize(std::max<size_t>(bytes.size(), argument.offset + sizeof(T)));
    std::memcpy(bytes.data() + argument.offset,
                static_cast<const void *>(&value), sizeof(T));
  }
  std::vector<std::unique_ptr<std::vector<char>>> buffers;
  std::vector<const std::vector<char> *> byArgument;
};
} // namespace

[[noreturn]] static void fail(const llvm::Twine &text) {
  llvm::errs() << "tz-sim: " << text << "\n";
  std::exit(1);
}

template <class T>
static T parseInteger(llvm::StringRef text) {
  T value = 0;
  if (text.getAsInteger(0, value))
    fail("expected a number, found '" + text + "'");
  return value;
}

static double parseFloat(llvm::StringRef text) {
  double value = 0;
  if (text.getAsDouble(value))
    fail("expected a number, found '" + text + "'");
  return value;
}

void Arguments::addBuffer(std::vector<char> contents,
                          const KernelArgument &argument) {
  buffers.push_back(std::make_unique<std::vector<char>>(std::move(contents)));
  const std::vector<char> &kept = *buffers.back();
  memory.add(kept.data(), kept.size(),
             argument.name.empty()
                 ? "argument " + std::to_string(buffers.size() - 1)
                 : argument.name);
  byArgument.back() = &kept;
  addValue(kept.data(), argument);
}

static void writeOutput(llvm::StringRef text, const Arguments &values) {
  auto [number, path] = text.split(':');
  const std::vector<char> *contents =
      values.bufferOf(parseInteger<size_t>(number));
  if (!contents)
    fail("expected the number of an argument that is a buffer, found '" +
         number + "'");
  std::error_code code;
  llvm::raw_fd_ostream stream(path, code);
  if (!code) {
    stream.write(contents->data(), contents->size());
    stream.close();
    code = stream.error();
  }
  if (code)
    fail("cannot write '" + path + "': " + code.message());
}

void Arguments::add(llvm::StringRef text, const KernelArgument &argument) {
  byArgument.push_back(nullptr);
  auto [kind, value] = text.split(':');
  if (kind == "buffer")
    return addBuffer(std::vector<char>(parseInteger<size_t>(value)), argument);
  if (kind == "random") {
    std::vector<char> contents(parseInteger<size_t>(value));
    uint64_t state = buffers.size() + 1;
    for (size_t i = 0; i + 4 <= contents.size(); i += 4) {
      state = state * 6364136223846793005ull + 1442695040888963407ull;
      float number = static_cast<float>(state >> 40) * 0x1p-24f;
      std::memcpy(&contents[i], &number, 4);
    }
    return addBuffer(std::move(contents), argument);
  }
  if (kind == "file") {
    auto file = llvm::MemoryBuffer::getFile(value);
    if (!file)
      fail("cannot read '" + value + "': " + file.getError().message());
    llvm::StringRef contents = (*file)->getBuffer();
    return addBuffer({contents.begin(), contents.end()}, argument);
  }
  if (kind == "i32")
    return addValue(static_cast<int32_t>(parseInteger<int64_t>(value)),
                    argument);
  if (kind == "i64")
    return addValue(parseInteger<int64_t>(value), argument);
  if (kind == "f32")
    return addValue(static_cast<float>(parseFloat(value)), argument);
  if (kind == "f64")
    return addValue(parseFloat(value), argument);
  fail("expected an argument buffer:, random:, file:, i32:, i64:, f32: or "
       "f64:, found '" +
       text + "'");
}

static std::array<uint32_t, 3> extents(const cl::list<uint32_t> &list) {
  std::array<uint32_t, 3> result = {1, 1, 1};
  for (size_t i = 0; i < std::min<size_t>(list.size(), 3); ++i)
    result[i] = list[i];
  return result;
}

static Statistics runKernel(const Simulator &simulator) {
  std::vector<KernelArgument> explicitArguments;
  for (const KernelArgument &argument : simulator.kernel().arguments)
    if (!argument.isHidden())
      explicitArguments.push_back(argument);
  if (arguments.size() > explicitArguments.size())
    fail("expected at most " + llvm::Twine(explicitArguments.size()) +
         " arguments, found " + llvm::Twine(arguments.size()));
  Arguments values;
  for (size_t i = 0; i < arguments.size(); ++i)
    values.add(arguments[i], explicitArguments[i]);
  // What is not given is 0.
  for (const KernelArgument &argument : explicitArguments)
    values.bytes.resize(std::max<size_t>(values.bytes.size(),
                                         argument.offset + argument.bytes));
  Launch launch;
  launch.grid = extents(gridSize);
  launch.block = blockSize.empty() && simulator.kernel().requiredBlock[0]
                     ? simulator.kernel().requiredBlock
                     : extents(blockSize);
  launch.arguments = values.bytes;
  launch.seed = seed;
  launch.order = lastFirst ? WaveOrder::LastFirst : WaveOrder::Random;
  launch.threads = threads;
  launch.stepLimit = steps;
  launch.dynamicLdsBytes = dynamicLds;
  Statistics statistics = simulator.run(launch, values.memory);
  for (const std::string &output : outputs)
    writeOutput(output, values);
  return statistics;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv,
                              "Runs kernels for AMD GPUs on the CPU\n");
  auto file = llvm::MemoryBuffer::getFile(inputFile);
  if (!file)
    fail("cannot read '" + inputFile + "': " + file.getError().message());
  llvm::StringRef bytes = (*file)->getBuffer();
  try {
    auto object = CodeObject::load({bytes.data(), bytes.size()});
    if (kernelName.empty() && !object->kernels().empty())
      kernelName = object->kernels().front().name;
    Simulator simulator(object, kernelName);
    if (report)
      reportCode(simulator, llvm::outs());
    if (gridSize.empty())
      return 0;
    Statistics statistics = runKernel(simulator);
    if (report)
      reportLaunch(statistics, llvm::outs());
  } catch (const Error &error) {
    llvm::errs() << "tz-sim: " << error.what() << "\n";
    return 1;
  }
  return 0;
}
