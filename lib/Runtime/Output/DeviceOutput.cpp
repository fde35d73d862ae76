//===- DeviceOutput.cpp - Device prints and assertions --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A line an element: "pid (x, y, z) idx (i, j) PREFIX: value". Floats are
// printed with the fewest digits that give the same value back.
//===----------------------------------------------------------------------===//

#include "DeviceOutput.h"
#include "Runtime/SmallFloat.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <poll.h>
#include <string_view>
#include <unistd.h>
#include <vector>

namespace terrazzo::runtime {
namespace {

struct Format {
  std::string_view dtype;
  std::vector<int64_t> shape;
  bool hex = false;
};

/// "<dtype> <shape> <hex>"; a shape that is no number is a scalar's.
Format parseFormat(std::string_view text) {
  Format format;
  size_t first = text.find(' ');
  format.dtype = text.substr(0, first);
  size_t last = text.rfind(' ');
  if (first == std::string_view::npos)
    return format;
  format.hex = text.substr(last + 1) == "1";
  std::string_view shape =
      last > first ? text.substr(first + 1, last - first - 1) : "";
  const char *at = shape.data(), *end = at + shape.size();
  for (int64_t dimension; at < end; ++at) {
    auto [next, error] = std::from_chars(at, end, dimension);
    if (error != std::errc() || dimension <= 0)
      break;
    format.shape.push_back(dimension);
    at = next;
  }
  return format;
}

template <typename T>
void appendNumber(std::string &out, T value, int base = 10) {
  char buffer[64];
  auto result = [&] {
    if constexpr (std::is_floating_point_v<T>)
      return std::to_chars(buffer, buffer + sizeof(buffer), value);
    else
      return std::to_chars(buffer, buffer + sizeof(buffer), value, base);
  }();
  out.append(buffer, result.ptr);
}

template <typename T>
T read(const void *data, int64_t index) {
  T value;
  std::memcpy(&value, static_cast<const char *>(data) + index * sizeof(T),
              sizeof(T));
  return value;
}

void appendHex(std::string &out, uint64_t bits, int bytes) {
  char buffer[24];
  std::snprintf(buffer, sizeof(buffer), "0x%0*llx", 2 * bytes,
                static_cast<unsigned long long>(bits));
  out += buffer;
}

template <typename T>
void appendInteger(std::string &out, const void *data, int64_t i, bool hex) {
  T value = read<T>(data, i);
  if (hex)
    appendHex(out, std::make_unsigned_t<T>(value), sizeof(T));
  else
    appendNumber(out, value);
}

template <typename Bits, typename Extend>
void appendFloat(std::string &out, const void *data, int64_t i, bool hex,
                 Extend extend) {
  Bits bits = read<Bits>(data, i);
  if (hex)
    return appendHex(out, bits, sizeof(Bits));
  auto value = extend(bits);
  if (std::isnan(value))
    out += "nan";
  else
    appendNumber(out, value);
}

void appendElement(std::string &out, const Format &format, const void *data,
                   int64_t i) {
  std::string_view type = format.dtype;
  bool hex = format.hex;
  auto asFloat = [](auto bits) {
    if constexpr (sizeof(bits) == 4)
      return std::bit_cast<float>(bits);
    else
      return std::bit_cast<double>(bits);
  };
  if (type == "i1")
    out += read<uint8_t>(data, i) & 1 ? '1' : '0';
  else if (type == "i8")
    appendInteger<int8_t>(out, data, i, hex);
  else if (type == "i16")
    appendInteger<int16_t>(out, data, i, hex);
  else if (type == "i32")
    appendInteger<int32_t>(out, data, i, hex);
  else if (type == "i64")
    appendInteger<int64_t>(out, data, i, hex);
  else if (type == "u8")
    appendInteger<uint8_t>(out, data, i, hex);
  else if (type == "u16")
    appendInteger<uint16_t>(out, data, i, hex);
  else if (type == "u32")
    appendInteger<uint32_t>(out, data, i, hex);
  else if (type == "u64")
    appendInteger<uint64_t>(out, data, i, hex);
  else if (type == "ptr")
    appendInteger<uint64_t>(out, data, i, true);
  else if (type == "f16")
    appendFloat<uint16_t>(out, data, i, hex, extendF16);
  else if (type == "bf16")
    appendFloat<uint16_t>(out, data, i, hex, extendBF16);
  else if (type == "f32")
    appendFloat<uint32_t>(out, data, i, hex, asFloat);
  else if (type == "f64")
    appendFloat<uint64_t>(out, data, i, hex, asFloat);
  else
    out.append("(a value of unknown type '").append(type).append("')");
}

/// The size of an element of a type; 0 if the type is unknown.
int64_t elementBytes(std::string_view type) {
  if (type == "i1" || type == "i8" || type == "u8")
    return 1;
  if (type == "i16" || type == "u16" || type == "f16" || type == "bf16")
    return 2;
  if (type == "i32" || type == "u32" || type == "f32")
    return 4;
  if (type == "i64" || type == "u64" || type == "f64" || type == "ptr")
    return 8;
  return 0;
}

/// The indices of element `i`: "(1, 3)", "()" for a scalar.
void appendIndex(std::string &out, const std::vector<int64_t> &shape,
                 int64_t i) {
  int64_t inner = 1;
  for (int64_t dimension : shape)
    inner *= dimension;
  out += '(';
  for (size_t d = 0; d < shape.size(); ++d) {
    inner /= shape[d];
    if (d)
      out += ", ";
    appendNumber(out, i / inner);
    i %= inner;
  }
  out += ')';
}

/// A prefix ends in exactly one ": " whether or not the user wrote it.
std::string normalizePrefix(std::string_view text) {
  while (!text.empty() && text.back() == ' ')
    text.remove_suffix(1);
  if (!text.empty() && text.back() == ':')
    text.remove_suffix(1);
  return text.empty() ? "" : std::string(text) + ": ";
}

const std::string *findMetadata(const Artifact &artifact, uint32_t line,
                                int32_t operand) {
  auto found = artifact.metadata.find("print." + std::to_string(line) + "." +
                                      std::to_string(operand));
  return found == artifact.metadata.end() ? nullptr : &found->second;
}

} // namespace

std::string formatPrint(const Artifact &artifact, uint32_t line,
                        std::array<int32_t, 3> pid, int32_t operand,
                        int32_t count, const void *data) {
  return formatPrint(artifact, line, pid, operand,
                     std::vector<bool>(std::max(count, 0), true), data);
}

std::string formatPrint(const Artifact &artifact, uint32_t line,
                        std::array<int32_t, 3> pid, int32_t operand,
                        const std::vector<bool> &present, const void *data) {
  std::string head = "pid (" + std::to_string(pid[0]) + ", " +
                     std::to_string(pid[1]) + ", " + std::to_string(pid[2]) +
                     ") idx ";
  std::string prefix;
  for (const LineEntry &entry : artifact.lines)
    if (entry.id == line)
      prefix = entry.text;
  if (operand < 0)
    return head + "() " + prefix + "\n";
  prefix = " " + normalizePrefix(prefix);
  // Only a print of several values says which of them this is.
  if (operand > 0 || findMetadata(artifact, line, 1))
    prefix += "(operand " + std::to_string(operand) + ") ";
  const std::string *text = findMetadata(artifact, line, operand);
  if (!text)
    return head + "()" + prefix + "(no format in the artifact)\n";
  Format format = parseFormat(*text);
  std::string out;
  for (size_t i = 0; i < present.size(); ++i) {
    if (!present[i])
      continue;
    out += head;
    appendIndex(out, format.shape, i);
    out += prefix;
    appendElement(out, format, data, i);
    out += '\n';
  }
  return out;
}

OperandSize operandSize(const Artifact &artifact, uint32_t line,
                        int32_t operand) {
  const std::string *text = findMetadata(artifact, line, operand);
  if (!text)
    return {};
  Format format = parseFormat(*text);
  OperandSize size{1, elementBytes(format.dtype)};
  for (int64_t dimension : format.shape)
    if (__builtin_mul_overflow(size.count, dimension, &size.count))
      return {};
  return size;
}

Error assertionError(const Artifact &artifact, const std::string &kernel,
                     uint32_t line, std::array<int32_t, 3> pid) {
  AssertionInfo info{kernel, "", 0, 0, "", pid};
  for (const LineEntry &entry : artifact.lines)
    if (entry.id == line) {
      info.file = entry.file;
      info.line = entry.line;
      info.column = entry.column;
      info.text = entry.text;
    }
  std::string message =
      "launch of kernel '" + info.kernel + "': device assertion failed";
  if (!info.file.empty())
    message += " at " + info.file + ":" + std::to_string(info.line);
  if (!info.text.empty())
    message += ": " + info.text;
  message += " (program " + std::to_string(pid[0]) + ", " +
             std::to_string(pid[1]) + ", " + std::to_string(pid[2]) + ")";
  return {std::move(info), std::move(message)};
}

/// Says on standard error why prints are lost, once a reason: prints of many
/// threads, of which some come when the launch has returned, have no caller
/// that an exception could reach.
static void reportLostOutput(int reason) {
  static std::vector<int> &said = *new std::vector<int>;
  if (std::find(said.begin(), said.end(), reason) != said.end())
    return;
  said.push_back(reason);
  std::fprintf(stderr,
               "terrazzo: what kernels print is lost, standard output cannot "
               "be written: %s\n",
               std::strerror(reason));
}

void writeToStandardOutput(const std::string &text) {
  static std::mutex &mutex = *new std::mutex;
  std::lock_guard lock(mutex);
  // What C code printed before comes before.
  std::fflush(stdout);
  size_t done = 0;
  while (done < text.size()) {
    errno = EIO; // for a write of nothing, which sets none
    ssize_t written = ::write(1, text.data() + done, text.size() - done);
    if (written > 0) {
      done += written;
    } else if (errno == EAGAIN) {
      pollfd wait{1, POLLOUT, 0};
      ::poll(&wait, 1, 1000);
    } else if (errno != EINTR) {
      return reportLostOutput(errno);
    }
  }
}

} // namespace terrazzo::runtime
