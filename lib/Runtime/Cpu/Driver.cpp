//===- Driver.cpp - The driver that runs kernels on this machine ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A launch is synchronous. Programs are claimed in chunks by the caller and the
// threads of the pool; which thread runs a program never matters to its result,
// so neither does the number of threads.
//===----------------------------------------------------------------------===//

#include "terrazzo/Runtime/Driver.h"
#include "Host.h"
#include "Launch.h"
#include "Loader.h"
#include "terrazzo/Runtime/Cpu.h"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <unistd.h>

namespace terrazzo::runtime {
namespace {

//===----------------------------------------------------------------------===//
// What the host can run
//===----------------------------------------------------------------------===//

/// The machine number of an ELF header of this host.
constexpr uint16_t hostMachine() {
#if defined(__x86_64__)
  return 62;
#elif defined(__aarch64__)
  return 183;
#else
  return 0;
#endif
}

[[noreturn]] void rejectArchitecture(const Artifact &artifact,
                                     const std::string &why) {
  throw Error(Status::WrongArchitecture, "load of kernel '" + artifact.entry +
                                             "' by driver 'cpu': " + why +
                                             "; compile the kernel for this "
                                             "machine");
}

/// Checks "name+feature+feature...": the name only says what code was tuned
/// for.
void checkFeatures(const Artifact &artifact) {
  std::string_view chip = artifact.chip;
  std::string missing;
  for (size_t at = chip.find('+'); at != std::string_view::npos;) {
    size_t next = chip.find('+', at + 1);
    std::string_view feature = chip.substr(at + 1, next - at - 1);
    if (!cpuHost().hasFeature(feature)) {
      missing.append(missing.empty() ? "'" : ", '").append(feature).append("'");
    } else if (feature == "amx-tile") {
      if (int refusal = cpuHost().requestTileRegisters())
        rejectArchitecture(artifact,
                           "expected the system to grant the use of AMX tile "
                           "registers (arch_prctl), it refused: " +
                               errnoText(refusal));
    }
    at = next;
  }
  if (!missing.empty())
    rejectArchitecture(artifact, "wrong architecture: expected a processor "
                                 "with " +
                                     missing + ", found '" + hostProcessor() +
                                     "' without");
}

void checkObject(const Artifact &artifact) {
  const std::vector<uint8_t> &code = artifact.code;
  constexpr uint8_t kMagic[4] = {0x7F, 'E', 'L', 'F'};
  if (code.size() < 64 || std::memcmp(code.data(), kMagic, 4) != 0)
    throw Error(Status::InvalidArgument,
                "load of kernel '" + artifact.entry +
                    "' by driver 'cpu': expected an ELF object, found " +
                    std::to_string(code.size()) + " bytes of something else");
  uint16_t machine;
  std::memcpy(&machine, code.data() + 18, sizeof(machine));
  if (machine != hostMachine())
    rejectArchitecture(artifact, "wrong architecture: expected ELF machine " +
                                     std::to_string(hostMachine()) +
                                     ", found " + std::to_string(machine));
}

void checkStack(const Artifact &artifact) {
  if (artifact.stackBytes > kMaxProgramStack)
    throw Error(Status::OutOfResources,
                "load of kernel '" + artifact.entry +
                    "' by driver 'cpu': a program needs " +
                    std::to_string(artifact.stackBytes) +
                    " bytes of stack, there are at most " +
                    std::to_string(kMaxProgramStack) + "; use smaller tiles");
}

//===----------------------------------------------------------------------===//
// Kernel and event
//===----------------------------------------------------------------------===//

class CpuKernel final : public Kernel {
public:
  CpuKernel(std::shared_ptr<Driver> owner, Artifact content,
            std::unique_ptr<LoadedCode> loaded)
      : Kernel(std::move(content)), owner(std::move(owner)),
        code(std::move(loaded)) {
    program.entry = code->entry;
    program.artifact = &artifact();
    program.name = &name();
  }

  void launch(const Grid &grid, void *, void *const *args,
              size_t argCount) override {
    checkArgCount(argCount);
    runPrograms(program, grid, args);
  }

private:
  std::shared_ptr<Driver> owner;
  std::unique_ptr<LoadedCode> code;
  CpuProgram program;
};

class CpuEvent final : public Event {
public:
  using Clock = std::chrono::steady_clock;
  // Launches are done when they return, so the point is reached at once.
  void record(void *) override { time = Clock::now(); }
  void synchronize() override {}
  double elapsedTo(Event &stop) override {
    auto &other = static_cast<CpuEvent &>(stop);
    if (!time || !other.time)
      throw Error(Status::InvalidArgument,
                  "elapsed time between events: expected two recorded events, "
                  "found one that was not recorded");
    return std::chrono::duration<double, std::milli>(*other.time - *time)
        .count();
  }

private:
  std::optional<Clock::time_point> time;
};

//===----------------------------------------------------------------------===//
// Driver
//===----------------------------------------------------------------------===//

std::string processorName() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("model name"))
      if (size_t colon = line.find(": "); colon != std::string::npos)
        return line.substr(colon + 2);
  return hostProcessor();
}

class CpuDriver final : public Driver {
public:
  CpuDriver() : loader(CodeLoader::create()) {
    facts.name = processorName();
    facts.chip = hostProcessor();
    facts.memoryBytes =
        uint64_t(sysconf(_SC_PHYS_PAGES)) * uint64_t(sysconf(_SC_PAGE_SIZE));
    facts.stackBytes = kMaxProgramStack;
  }

  const std::string &name() const override { return ownName; }
  int deviceCount() const override { return 1; }
  DeviceProperties properties(int device) const override {
    checkDevice(device);
    DeviceProperties current = facts;
    current.units = cpuThreads();
    return current;
  }

  void *alloc(int device, size_t bytes) override {
    checkDevice(device);
    void *memory = nullptr;
    if (int code = posix_memalign(&memory, 64, bytes ? bytes : 1))
      throw Error(Status::OutOfMemory,
                  "alloc on driver 'cpu': expected " + std::to_string(bytes) +
                      " bytes, the system refused: " + errnoText(code));
    return memory;
  }
  void free(int device, void *memory) override {
    checkDevice(device);
    std::free(memory);
  }
  void copy(int device, void *to, const void *from, size_t bytes,
            void *) override {
    checkDevice(device);
    if (bytes)
      std::memmove(to, from, bytes);
  }
  void synchronize(int device, void *) override { checkDevice(device); }

  std::unique_ptr<Kernel> load(int device, Artifact artifact) override {
    checkDevice(device);
    checkTarget(artifact, "cpu");
    checkStack(artifact);
    checkObject(artifact);
    checkFeatures(artifact);
    std::unique_ptr<LoadedCode> code = loader->load(artifact);
    return std::make_unique<CpuKernel>(shared_from_this(), std::move(artifact),
                                       std::move(code));
  }
  std::unique_ptr<Event> createEvent(int device) override {
    checkDevice(device);
    return std::make_unique<CpuEvent>();
  }

private:
  std::string ownName = "cpu";
  std::shared_ptr<CodeLoader> loader;
  DeviceProperties facts;
};

} // namespace

std::shared_ptr<Driver> openCpu(std::string_view option) {
  if (!option.empty())
    throw Error(Status::InvalidArgument,
                "open driver 'cpu': expected no option, found '" +
                    std::string(option) + "'");
  checkThreadSetting();
  return std::make_shared<CpuDriver>();
}

} // namespace terrazzo::runtime
