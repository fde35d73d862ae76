//===- Library.h - A vendor's library, errors, names ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_LIB_RUNTIME_GPU_LIBRARY_H
#define TERRAZZO_LIB_RUNTIME_GPU_LIBRARY_H

#include "terrazzo/Runtime/Driver.h"

#include <array>
#include <atomic>
#include <span>
#include <string>
#include <string_view>

namespace terrazzo::runtime::gpu {

/// A function of a vendor's library with the name that errors give it.
template <typename Type>
struct Call;
template <typename Result, typename... Parameters>
struct Call<Result(Parameters...)> {
  const char *name;
  Result (*function)(Parameters...) = nullptr;

  Result operator()(Parameters... arguments) const {
    return function(arguments...);
  }
};

/// A vendor's library, open until the process ends.
class Library {
public:
  /// Opens the path in `option`, or the first of `names` that is there. Throws
  /// NoLibrary with `remedy`.
  Library(std::string_view driver, std::string_view option,
          std::span<const char *const> names, std::string_view remedy);

  /// The function, or throws DriverTooOld.
  template <typename Type>
  void find(Call<Type> &call) const {
    call.function = reinterpret_cast<Type *>(address(call.name));
  }
  /// The function, or nullptr.
  template <typename Type>
  void findOptional(Call<Type> &call) const {
    call.function = reinterpret_cast<Type *>(addressOrNull(call.name));
  }
  void *addressOrNull(const char *symbol) const;

private:
  void *address(const char *symbol) const;

  std::string driver, path;
  void *handle = nullptr;
};

/// How messages name a kernel: "'add' (k.py:3)"; the place is there if the
/// metadata has "file" and "line".
std::string kernelText(const Artifact &artifact);

/// "12.4" of 12040.
std::string cudaVersionText(int version);

/// What a code means to callers. HIP has CUDA's numbers.
Status statusOf(int code);
/// Whether the device's context is lost after this code: each later call gives
/// the same one.
bool losesContext(int code);

/// The kernels that a device was given last. Adding one is cheap; the texts
/// belong to their kernels and are read only to name suspects.
class RecentKernels {
public:
  void add(const std::string *text) {
    entries[next.fetch_add(1, std::memory_order_relaxed) % entries.size()]
        .store(text, std::memory_order_relaxed);
  }
  /// "'add' (k.py:3), 'mul'", the latest first; empty if there were none.
  std::string text() const;

private:
  std::atomic<uint32_t> next{0};
  std::array<std::atomic<const std::string *>, 4> entries{};
};

/// Keeps a text for the life of the process; the same text once.
const std::string *internText(const std::string &text);

/// Throws OutOfResources: what the kernel needs, what there is.
[[noreturn]] void rejectResources(const std::string &operation,
                                  const std::string &what, uint64_t needed,
                                  uint64_t limit, const char *remedy);

/// The error of a grid that a device cannot have.
void rejectGrid(const Grid &grid, const Grid &limit,
                const std::string &operation);

} // namespace terrazzo::runtime::gpu

#endif // TERRAZZO_LIB_RUNTIME_GPU_LIBRARY_H
