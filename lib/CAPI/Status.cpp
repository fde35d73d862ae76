//===- Status.cpp - Exceptions to statuses --------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Status.h"

#include <new>

using namespace terrazzo;
using namespace terrazzo::runtime;

#define SAME_STATUS(name)                                                      \
  static_assert(int(TzStatus##name) == int(Status::name))
SAME_STATUS(Ok);
SAME_STATUS(InvalidArgument);
SAME_STATUS(NotFound);
SAME_STATUS(Corrupt);
SAME_STATUS(WrongArchitecture);
SAME_STATUS(OutOfMemory);
SAME_STATUS(OutOfResources);
SAME_STATUS(AssertionFailed);
SAME_STATUS(Cancelled);
SAME_STATUS(Unavailable);
SAME_STATUS(Internal);
SAME_STATUS(NoLibrary);
SAME_STATUS(NoDevice);
SAME_STATUS(DriverTooOld);
SAME_STATUS(LaunchFailed);
#undef SAME_STATUS

namespace {

/// The last error of a thread, with the strings that its info points to.
struct LastError {
  Error error{Status::Ok, ""};
  TzErrorInfo info{};
};

LastError &lastError() {
  thread_local LastError last;
  return last;
}

} // namespace

TzStatus capi::keep(const Error &error) noexcept {
  lastError().error = error;
  return TzStatus(error.status());
}

TzStatus capi::keepCurrent() noexcept {
  try {
    throw;
  } catch (const Error &error) {
    return keep(error);
  } catch (const std::bad_alloc &) {
    static const Error outOfMemory(Status::OutOfMemory,
                                   "the host has no memory left");
    return keep(outOfMemory);
  } catch (const std::exception &error) {
    return keep(Error(Status::Internal,
                      std::string("internal error: ") + error.what()));
  } catch (...) {
    return keep(Error(Status::Internal, "internal error: unknown exception"));
  }
}

const char *capi::checkText(const char *text, const char *what) {
  if (!text)
    throw Error(Status::InvalidArgument,
                std::string("expected ") + what + ", found NULL");
  return text;
}

const TzErrorInfo *tzLastError(void) {
  LastError &last = lastError();
  TzErrorInfo &info = last.info;
  info = {};
  info.status = TzStatus(last.error.status());
  info.message = last.error.message().c_str();
  info.kernel = info.file = info.text = "";
  if (const AssertionInfo *assertion = last.error.assertion()) {
    info.kernel = assertion->kernel.c_str();
    info.file = assertion->file.c_str();
    info.line = assertion->line;
    info.column = assertion->column;
    info.text = assertion->text.c_str();
    for (int axis = 0; axis < 3; ++axis)
      info.pid[axis] = assertion->pid[axis];
  }
  return &info;
}

const char *tzStatusName(TzStatus status) { return statusName(Status(status)); }
