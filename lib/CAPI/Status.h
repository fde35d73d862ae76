//===- Status.h - Exceptions to statuses -------------------------*- C++
//-*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every function of the C API that may throw runs inside guard(), which turns
// an exception into a status and keeps its text for tzLastError.
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_LIB_CAPI_STATUS_H
#define TERRAZZO_LIB_CAPI_STATUS_H

#include "terrazzo-c/Runtime.h"
#include "terrazzo/Runtime/Error.h"
#include "terrazzo/Support/Artifact.h"

#include <exception>

namespace terrazzo::capi {

/// Keeps an error for tzLastError; returns its status.
TzStatus keep(const runtime::Error &error) noexcept;
/// The same for the exception that is being handled.
TzStatus keepCurrent() noexcept;

template <typename Action>
TzStatus guard(Action action) noexcept {
  try {
    action();
    return TzStatusOk;
  } catch (...) {
    return keepCurrent();
  }
}

/// The text, or an error that names what was expected.
const char *checkText(const char *text, const char *what);

/// Reads an artifact or throws Corrupt.
Artifact parseArtifact(const void *bytes, size_t size);

// A TzArtifact is an Artifact under another name.
inline const TzArtifact *wrap(const Artifact *artifact) {
  return reinterpret_cast<const TzArtifact *>(artifact);
}
inline TzArtifact *wrap(Artifact *artifact) {
  return reinterpret_cast<TzArtifact *>(artifact);
}
inline const Artifact &unwrap(const TzArtifact *artifact) {
  return *reinterpret_cast<const Artifact *>(artifact);
}
inline Artifact &unwrap(TzArtifact *artifact) {
  return *reinterpret_cast<Artifact *>(artifact);
}

} // namespace terrazzo::capi

#endif // TERRAZZO_LIB_CAPI_STATUS_H
