//===- Place.h - Where a launch runs, and on which stream -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A place is a kind of device and the device's number. The arrays of a call say
// where it runs, unless its target option or the process says so; then they
// have to be there. torch is asked only once the program has imported it.
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_BINDINGS_ARGUMENTS_PLACE_H
#define TERRAZZO_BINDINGS_ARGUMENTS_PLACE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <cstdint>
#include <string>

namespace terrazzo::bindings {

/// A kind of device. The numbers are part of keys.
enum class Backend : uint8_t { None, Cpu, Cuda, Hip };

/// The name of the target and of the driver: "cpu", "cuda", "hip".
const char *backendName(Backend backend);
/// The kind that "cuda", "cuda:1" or "cuda:sm_90a" begins with; None if it is
/// no name of a target.
Backend backendOf(const char *text);
inline bool isGpu(Backend backend) { return backend > Backend::Cpu; }

struct Place {
  Backend backend = Backend::None;
  int32_t device = -1; ///< -1: not known, or no matter
  /// "cuda:0"; "cpu" where there is one device only.
  std::string text() const;
};

/// What holds for all launches of the process.
struct Places {
  Place wanted;              ///< by TERRAZZO_TARGET or set_target
  uint32_t wantedWord = 0;   ///< which text of a target that was
  int32_t currentDevice = 0; ///< where neither arrays nor torch say one
  Place fallback;            ///< of calls without arrays; None: not asked yet
  // The last launch on a GPU, for timers.
  uint64_t gpuLaunches = 0;
  Place last;
  void *lastStream = nullptr;
};
Places &places();

/// What torch calls "cuda": the kind of device that it was built for.
Backend torchBackend();
/// The place of an object with `is_cpu` and `device`, as a tensor has. False:
/// an exception is set.
bool placeOfTensor(PyObject *tensor, Place &place);
/// The place that an array's `device` attribute says, if it says one.
void placeOfDeviceAttribute(PyObject *array, Place &place);
/// The device that calls without arrays go to, on a kind of device.
int32_t currentDevice(Backend backend);
/// Where calls without arrays go if nothing else says so. None: an exception.
Place fallbackPlace();

/// The stream that torch queues work on now, or the default one. `usesTorch`: a
/// tensor of torch is there. False: an exception is set.
bool currentStream(Place place, bool usesTorch, void *&stream);
/// The stream that an object means: an address, or what torch and CuPy call a
/// stream. False: an exception is set.
bool streamOf(PyObject *object, void *&stream);

} // namespace terrazzo::bindings

#endif // TERRAZZO_BINDINGS_ARGUMENTS_PLACE_H
