//===- GpuOutput.cpp - What kernels on a GPU print and assert -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GpuOutput.h"
#include "DeviceOutput.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace terrazzo::runtime {
namespace {

struct Record {
  uint32_t line;
  int32_t operand;
  std::array<int32_t, 3> pid;
  uint32_t first, count, bytes;

  uint64_t payloadWords() const {
    return (uint64_t(count) * bytes + sizeof(uint32_t) - 1) / sizeof(uint32_t);
  }
};
static_assert(sizeof(Record) == kRecordHead * sizeof(uint32_t));

/// One execution of a print by one program, of one operand.
struct Printed {
  Record head;
  std::vector<bool> present;
  std::vector<uint8_t> data;
};

/// Puts records together. A print in a loop runs more than once, and each
/// thread writes its records in order: an element belongs to the first
/// execution that lacks it.
class Collector {
public:
  explicit Collector(const Artifact &artifact) : artifact(artifact) {}

  void add(const Record &record, const uint8_t *payload);
  std::string text() const;

private:
  struct Executions {
    OperandSize size;
    std::vector<Printed *> all;
    std::vector<uint32_t> seen; ///< by element: the executions that have it
  };
  using Key = std::tuple<uint32_t, int32_t, std::array<int32_t, 3>>;

  const Artifact &artifact;
  std::map<Key, Executions> groups;
  std::deque<Printed> order;
};

void Collector::add(const Record &record, const uint8_t *payload) {
  if (record.operand < 0) {
    order.push_back({record, {}, {}});
    return;
  }
  Executions &group = groups[{record.line, record.operand, record.pid}];
  if (group.seen.empty()) {
    group.size = operandSize(artifact, record.line, record.operand);
    group.seen.resize(group.size.count);
  }
  // Of an operand that the metadata does not describe nothing can be shown.
  bool isKnown =
      group.size.bytes && group.size.bytes == record.bytes &&
      uint64_t(record.first) + record.count <= uint64_t(group.size.count);
  if (!isKnown) {
    order.push_back({record, {}, {}});
    return;
  }
  for (uint32_t i = 0; i < record.count; ++i) {
    uint32_t element = record.first + i;
    uint32_t execution = group.seen[element]++;
    if (execution == group.all.size()) {
      order.push_back({record, std::vector<bool>(group.size.count),
                       std::vector<uint8_t>(group.size.count * record.bytes)});
      group.all.push_back(&order.back());
    }
    Printed &printed = *group.all[execution];
    printed.present[element] = true;
    std::memcpy(&printed.data[size_t(element) * record.bytes],
                payload + size_t(i) * record.bytes, record.bytes);
  }
}

std::string Collector::text() const {
  std::string text;
  for (const Printed &printed : order) {
    const Record &head = printed.head;
    text += formatPrint(artifact, head.line, head.pid, head.operand,
                        printed.present, printed.data.data());
    if (head.operand >= 0 && printed.present.empty())
      text += "terrazzo: a record of a device print was damaged: line id " +
              std::to_string(head.line) + ", operand " +
              std::to_string(head.operand) + ", " + std::to_string(head.count) +
              " elements from " + std::to_string(head.first) + " of " +
              std::to_string(head.bytes) + " bytes\n";
  }
  return text;
}

} // namespace

void resetOutput(volatile uint32_t *buffer, uint32_t words) {
  std::memset(const_cast<uint32_t *>(buffer), 0, size_t(words) * 4);
  buffer[0] = kOutputHead;
  buffer[1] = words;
}

GpuOutput takeOutput(const Artifact &artifact, const std::string &kernel,
                     volatile uint32_t *buffer, uint32_t words) {
  GpuOutput output;
  uint32_t cursor = buffer[0];
  // Nobody writes here now, so plain reads will do from now on.
  const auto *memory = const_cast<const uint32_t *>(buffer);
  uint32_t end = std::min(cursor, words);
  uint32_t at = kOutputHead;
  Collector collector(artifact);
  while (at + uint64_t(kRecordHead) <= end) {
    Record record;
    std::memcpy(&record, memory + at, sizeof(record));
    uint64_t size = kRecordHead + record.payloadWords();
    // Words that no record was written to are zero, as an element's size never
    // is.
    bool isRecord = record.operand < 0 || record.bytes != 0;
    if (!isRecord || size > end - at)
      break;
    collector.add(record,
                  reinterpret_cast<const uint8_t *>(memory + at + kRecordHead));
    at += size;
  }
  output.text = collector.text();
  if (at < cursor)
    output.lost = uint64_t(cursor - at) * sizeof(uint32_t);
  if (uint32_t line = memory[2])
    output.failure = assertionError(
        artifact, kernel, line - 1,
        {int32_t(memory[3]), int32_t(memory[4]), int32_t(memory[5])});
  std::memset(const_cast<uint32_t *>(buffer), 0, size_t(end) * 4);
  buffer[1] = words;
  buffer[0] = kOutputHead;
  return output;
}

//===----------------------------------------------------------------------===//
// LaunchOutput
//===----------------------------------------------------------------------===//

LaunchOutput::LaunchOutput(const Artifact &artifact, std::string kernel,
                           volatile uint32_t *buffer, uint32_t words)
    : kernel(std::move(kernel)), buffer(buffer), words(words) {
  this->artifact.lines = artifact.lines;
  this->artifact.metadata = artifact.metadata;
  resetOutput(buffer, words);
}

void LaunchOutput::begin() {
  std::lock_guard lock(mutex);
  ++count;
}

void LaunchOutput::end() noexcept {
  std::lock_guard lock(mutex);
  if (--count != 0)
    return;
  try {
    show();
  } catch (const std::bad_alloc &) {
    // It is still in the buffer, for the next that looks.
    std::fputs("terrazzo: what a kernel printed cannot be shown now, the host "
               "has no memory left\n",
               stderr);
  }
}

void LaunchOutput::onBegin(void *output) {
  static_cast<LaunchOutput *>(output)->begin();
}

void LaunchOutput::onEnd(void *output) {
  static_cast<LaunchOutput *>(output)->end();
}

bool LaunchOutput::isIdle() {
  std::lock_guard lock(mutex);
  return count == 0;
}

bool LaunchOutput::hasFailed() {
  std::lock_guard lock(mutex);
  return failure || runtime::hasFailed(buffer);
}

std::optional<Error> LaunchOutput::take(bool allDone) {
  std::lock_guard lock(mutex);
  if (count == 0 || allDone)
    show();
  return std::exchange(failure, std::nullopt);
}

void LaunchOutput::abandon() {
  std::lock_guard lock(mutex);
  isAbandoned = true;
  if (count == 0)
    show();
  if (failure)
    std::fprintf(stderr, "terrazzo: %s\n", failure->what());
  failure.reset();
}

/// Empties the buffer.
void LaunchOutput::show() {
  if (!hasOutput(buffer))
    return;
  GpuOutput output = takeOutput(artifact, kernel, buffer, words);
  if (!output.text.empty())
    writeToStandardOutput(output.text);
  if (output.lost)
    std::fprintf(stderr,
                 "terrazzo: %llu bytes of what kernel '%s' printed were lost:"
                 " its buffer holds %llu; set TERRAZZO_PRINT_BUFFER to a "
                 "larger number of bytes\n",
                 static_cast<unsigned long long>(output.lost), kernel.c_str(),
                 static_cast<unsigned long long>(words) * 4);
  if (output.failure && isAbandoned)
    std::fprintf(stderr, "terrazzo: %s\n", output.failure->what());
  else if (output.failure && !failure)
    failure = std::move(output.failure);
}

uint32_t outputWords() {
  constexpr uint64_t kDefault = 1 << 20, kLeast = 4096, kMost = 1 << 30;
  uint64_t bytes = kDefault;
  if (const char *text = std::getenv("TERRAZZO_PRINT_BUFFER")) {
    std::string_view view = text;
    auto [end, error] =
        std::from_chars(view.data(), view.data() + view.size(), bytes);
    if (error != std::errc() || end != view.data() + view.size() ||
        bytes < kLeast || bytes > kMost)
      throw Error(Status::InvalidArgument,
                  "TERRAZZO_PRINT_BUFFER: expected a number of bytes from " +
                      std::to_string(kLeast) + " to " + std::to_string(kMost) +
                      ", found '" + text + "'");
  }
  return uint32_t(bytes / sizeof(uint32_t));
}

} // namespace terrazzo::runtime
