//===-- terrazzo-c/Runtime.h - C API: artifact, cache, driver, launch -*- C
//-*-//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conventions. Every function that can fail returns a TzStatus; no function
// throws or aborts. On a status other than TzStatusOk, tzLastError() describes
// what went wrong on this thread until the next failing call. Handles are
// reference counted where a `Retain` exists; a function that fills in an `out`
// handle gives the caller one reference. Every function may be called from any
// thread, also at the same time, unless it says otherwise; none needs or takes
// Python's lock. Strings are UTF-8 and, unless a length is given, end in NUL.
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_C_RUNTIME_H
#define TERRAZZO_C_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
// Exported, also where the compiler hides what is not.
#pragma GCC visibility push(default)

//===----------------------------------------------------------------------===//
// Status and error text
//===----------------------------------------------------------------------===//

typedef enum TzStatus {
  TzStatusOk = 0,
  TzStatusInvalidArgument,   ///< the caller broke the function's contract
  TzStatusNotFound,          ///< no such driver, device or cache entry
  TzStatusCorrupt,           ///< bytes that are not what their checksum says
  TzStatusWrongArchitecture, ///< code for a chip that this device is not
  TzStatusOutOfMemory,       ///< an allocation failed
  TzStatusOutOfResources,    ///< a kernel needs more than the device offers
  TzStatusAssertionFailed,   ///< a device assertion of the kernel failed
  TzStatusCancelled,         ///< the launch was stopped by an interrupt
  TzStatusUnavailable,       ///< the system refused (file system, driver)
  TzStatusInternal,          ///< a broken invariant of the runtime
  TzStatusNoLibrary,    ///< the vendor's driver library is not on this machine
  TzStatusNoDevice,     ///< the library is there and finds no device
  TzStatusDriverTooOld, ///< the installed driver does not know what is asked
  TzStatusLaunchFailed  ///< a kernel broke off: illegal address and the like
} TzStatus;

/// What the last failing call on this thread reported. Strings are never NULL
/// and live until the next failing call on this thread.
typedef struct TzErrorInfo {
  TzStatus status;
  const char *message; ///< the whole text: operation, expected, found, remedy
  // The rest is set for TzStatusAssertionFailed only.
  const char *kernel;
  const char *file; ///< of the assertion in the user's source
  uint32_t line, column;
  const char *text; ///< the assertion's own message
  int32_t pid[3];   ///< the program that failed
} TzErrorInfo;

const TzErrorInfo *tzLastError(void);

/// A lower-case name of a status: "out of resources".
const char *tzStatusName(TzStatus status);

/// Receives bytes; may be called several times, the pieces follow each other.
typedef void (*TzWrite)(const char *data, size_t size, void *userData);

//===----------------------------------------------------------------------===//
// Artifact: what the compiler hands to the runtime
//===----------------------------------------------------------------------===//

typedef struct TzArtifact TzArtifact;

typedef enum TzArgKind {
  TzArgPointer = 0,
  TzArgInt = 1,
  TzArgFloat = 2
} TzArgKind;

/// One run-time parameter of a kernel. Strings live as long as the artifact.
typedef struct TzArgInfo {
  TzArgKind kind;
  uint8_t bytes;     ///< size of the value: a pointer 8, an i1 1
  const char *name;  ///< parameter name
  const char *dtype; ///< "f32", "i64", "bf16", "ptr<f32>" ...
  bool written;      ///< a pointer that the kernel stores through
} TzArgInfo;

/// One entry of the line table of asserts and prints.
typedef struct TzLineInfo {
  uint32_t id, line, column;
  const char *file, *text;
} TzLineInfo;

/// Reads serialised bytes; any doubt about them is TzStatusCorrupt.
TzStatus tzArtifactParse(const void *bytes, size_t size, TzArtifact **out);
/// An artifact with nothing but these fields; add arguments with
/// tzArtifactAddArg. For tests and tools: the compiler writes the others.
TzStatus tzArtifactCreate(const char *target, const char *chip,
                          const char *entry, const void *code, size_t codeSize,
                          TzArtifact **out);
/// Adds a parameter; `kind` is a TzArgKind.
TzStatus tzArtifactAddArg(TzArtifact *artifact, int32_t kind, uint8_t bytes,
                          const char *name, const char *dtype, bool written);
/// Adds or replaces one entry of the metadata.
TzStatus tzArtifactSetMetadata(TzArtifact *artifact, const char *key,
                               const char *value);
TzStatus tzArtifactSerialize(const TzArtifact *artifact, TzWrite write,
                             void *userData);
void tzArtifactDestroy(TzArtifact *artifact);

const char *tzArtifactTarget(const TzArtifact *artifact);
const char *tzArtifactChip(const TzArtifact *artifact);
const char *tzArtifactEntry(const TzArtifact *artifact);
/// The device code; `*size` is set to its length.
const void *tzArtifactCode(const TzArtifact *artifact, size_t *size);
/// The number of stages kept; their names and texts by index, by name ordered.
size_t tzArtifactStageCount(const TzArtifact *artifact);
TzStatus tzArtifactStage(const TzArtifact *artifact, size_t index,
                         const char **name, const char **text,
                         size_t *textSize);
size_t tzArtifactMetadataCount(const TzArtifact *artifact);
TzStatus tzArtifactMetadata(const TzArtifact *artifact, size_t index,
                            const char **key, const char **value);
size_t tzArtifactArgCount(const TzArtifact *artifact);
TzStatus tzArtifactArg(const TzArtifact *artifact, size_t index,
                       TzArgInfo *out);
size_t tzArtifactLineCount(const TzArtifact *artifact);
TzStatus tzArtifactLine(const TzArtifact *artifact, size_t index,
                        TzLineInfo *out);

/// Writes the tensor maps of a launch as a JSON list, in the words of
/// docs/howto/launch-compiled-code.md.
TzStatus tzArtifactTensorMaps(const TzArtifact *artifact, TzWrite write,
                              void *userData);

typedef struct TzResources {
  uint32_t sharedBytes, threadsPerBlock, registers, spills;
  uint64_t stackBytes;
} TzResources;

void tzArtifactResources(const TzArtifact *artifact, TzResources *out);

//===----------------------------------------------------------------------===//
// Driver: one kind of device
//===----------------------------------------------------------------------===//

typedef struct TzDriver TzDriver;

/// The names that tzDriverOpen knows ("cpu", "cuda", "hip", "null"), by index.
size_t tzDriverRegisteredCount(void);
const char *tzDriverRegisteredName(size_t index);

/// Opens a driver by name, or by "name:option" where a driver takes one: "cuda"
/// and "hip" take the path of the library to use. The same name gives the same
/// driver again, with one more reference. TzStatusNoLibrary, TzStatusNoDevice:
/// there is no such device on this machine, and the message says what is
/// missing.
TzStatus tzDriverOpen(const char *name, TzDriver **out);
void tzDriverRelease(TzDriver *driver);
const char *tzDriverName(const TzDriver *driver);
size_t tzDriverDeviceCount(const TzDriver *driver);

/// Facts about a device; strings live as long as the driver.
typedef struct TzDeviceProperties {
  const char *name;     ///< for people: "AMD EPYC 9554"
  const char *chip;     ///< for the compiler: "znver4", "sm_90a", "gfx942"
  uint64_t memoryBytes; ///< total memory
  uint64_t sharedBytes; ///< most shared memory of one block; 0: no such thing
  uint64_t stackBytes;  ///< most scratch of one program; 0: no such limit
  uint32_t units;       ///< threads of the pool, SMs, CUs
  uint32_t warpSize;    ///< 1 on a CPU
  uint32_t maxThreads;  ///< most threads of one block
  uint32_t cacheLineBytes; ///< good alignment of buffers
  uint64_t cacheBytes;     ///< of the last level; 0: not known
  uint32_t driverVersion;  ///< CUDA 12.4: 12040, HIP as it counts; 0: none
} TzDeviceProperties;

TzStatus tzDriverProperties(const TzDriver *driver, int32_t device,
                            TzDeviceProperties *out);

/// Device memory. tzDriverFree(NULL) does nothing. Zero bytes give a valid
/// pointer that may not be read. `stream` NULL: the default stream.
TzStatus tzDriverAlloc(TzDriver *driver, int32_t device, size_t bytes,
                       void **out);
TzStatus tzDriverFree(TzDriver *driver, int32_t device, void *memory);
/// Copies between host and device memory or within either. Done on return.
TzStatus tzDriverCopy(TzDriver *driver, int32_t device, void *to,
                      const void *from, size_t bytes, void *stream);
/// The same, queued on the stream: host memory must stay until it is done. On
/// the CPU done on return.
TzStatus tzDriverCopyAsync(TzDriver *driver, int32_t device, void *to,
                           const void *from, size_t bytes, void *stream);
/// Sets device memory to a byte, queued on the stream.
TzStatus tzDriverFill(TzDriver *driver, int32_t device, void *memory,
                      uint8_t value, size_t bytes, void *stream);
/// Waits for a stream. Writes what the device prints of its finished kernels
/// wrote, then reports what failed: TzStatusAssertionFailed,
/// TzStatusLaunchFailed.
TzStatus tzDriverSynchronize(TzDriver *driver, int32_t device, void *stream);
/// The same for the kernels that are done already; waits for nothing and is
/// cheap if there is nothing. For programs that synchronise elsewhere.
TzStatus tzDriverPoll(TzDriver *driver, int32_t device);
/// Memory of the device that is free now, and all of it.
TzStatus tzDriverMemory(TzDriver *driver, int32_t device, uint64_t *freeBytes,
                        uint64_t *totalBytes);
/// The calling thread's current device, as the vendor's runtime (and torch)
/// counts; 0 where there is no such thing.
TzStatus tzDriverCurrentDevice(const TzDriver *driver, int32_t *out);

/// A stream of one's own: a CUstream or hipStream_t, which never waits for the
/// default stream. NULL, the default stream, where there are no streams. Any
/// foreign stream of the device does as well, torch's for example.
TzStatus tzStreamCreate(TzDriver *driver, int32_t device, void **out);
TzStatus tzStreamDestroy(TzDriver *driver, int32_t device, void *stream);

typedef struct TzEvent TzEvent;
TzStatus tzEventCreate(TzDriver *driver, int32_t device, TzEvent **out);
void tzEventDestroy(TzEvent *event);
/// Marks the point where the stream has done all that was launched before.
TzStatus tzEventRecord(TzEvent *event, void *stream);
/// Waits until that point is reached.
TzStatus tzEventSynchronize(TzEvent *event);
/// Whether it is reached; true if the event was never recorded.
TzStatus tzEventQuery(TzEvent *event, bool *out);
/// Makes a stream wait for that point, not the caller.
TzStatus tzEventWait(TzEvent *event, void *stream);
/// Milliseconds between two recorded events; waits for both.
TzStatus tzEventElapsed(TzEvent *start, TzEvent *stop, double *milliseconds);

//===----------------------------------------------------------------------===//
// Kernel: an artifact loaded on a device
//===----------------------------------------------------------------------===//

typedef struct TzKernel TzKernel;

/// Loads serialised artifact bytes on a device.
TzStatus tzKernelLoad(TzDriver *driver, int32_t device, const void *bytes,
                      size_t size, TzKernel **out);
TzKernel *tzKernelRetain(TzKernel *kernel);
void tzKernelRelease(TzKernel *kernel);
/// The artifact that it was loaded from; owned by the kernel. Its registers and
/// spills are what the device's driver reports, where it does.
const TzArtifact *tzKernelArtifact(const TzKernel *kernel);
/// The driver's own handle (CUfunction, hipFunction_t), or NULL. Lives as long
/// as the kernel.
void *tzKernelHandle(const TzKernel *kernel);

/// Runs the kernel over grid[0] x grid[1] x grid[2] programs. args[i] points to
/// the value of run-time parameter i. On the CPU all programs have run when it
/// returns; elsewhere they are queued on `stream`. The device is the kernel's.
/// A grid with a zero runs nothing; a negative one is an error.
TzStatus tzKernelLaunch(TzKernel *kernel, const int64_t grid[3], void *stream,
                        void *const *args, size_t argCount);

//===----------------------------------------------------------------------===//
// Dispatcher: specialisation key -> launch plan
//
// One dispatcher belongs to one kernel function. Its key is whatever words the
// caller derives from the arguments of a call (types, divisibility, interned
// constants, options, device). On the way to a launch:
//
//   plan = tzDispatcherFind(dispatcher, key, keyCount);   // no lock, ~20 ns
//   if (!plan) compile, tzKernelLoad, tzDispatcherInsert(..., &plan);
//   tzPlanLaunch(plan, grid, stream, values, valueCount);
//===----------------------------------------------------------------------===//

typedef struct TzDispatcher TzDispatcher;
typedef struct TzPlan TzPlan;

/// The value of one slot of a call. Integers are sign- or zero-extended to 64
/// bits, floats are doubles (the plan narrows them to the parameter's type),
/// booleans 0 or 1.
typedef union TzValue {
  int64_t i;
  double f;
  const void *p;
} TzValue;

TzStatus tzDispatcherCreate(TzDispatcher **out);
/// No other thread may be using the dispatcher or a plan of it.
void tzDispatcherDestroy(TzDispatcher *dispatcher);

/// The plan of a key, or NULL. Never blocks, also while others insert. A plan
/// lives as long as the dispatcher, also after tzDispatcherClear.
const TzPlan *tzDispatcherFind(const TzDispatcher *dispatcher,
                               const uint64_t *key, size_t keyCount);

/// Adds a plan: run-time parameter i of `kernel` takes its value from slot
/// slots[i] of the values given to tzPlanLaunch. Keeps a reference to the
/// kernel. If the key is there already the old plan stays and is returned, so
/// threads that compile the same thing at once agree on one.
TzStatus tzDispatcherInsert(TzDispatcher *dispatcher, const uint64_t *key,
                            size_t keyCount, TzKernel *kernel,
                            const uint32_t *slots, size_t slotCount,
                            const TzPlan **out);
/// Forgets all keys, so that the next calls compile again.
void tzDispatcherClear(TzDispatcher *dispatcher);
size_t tzDispatcherSize(const TzDispatcher *dispatcher);

/// The kernel of a plan; owned by the plan (tzKernelRetain to keep it longer).
TzKernel *tzPlanKernel(const TzPlan *plan);
/// One more than the highest slot that the plan reads.
size_t tzPlanSlotCount(const TzPlan *plan);
/// Launches with the values of a call; see tzKernelLaunch.
TzStatus tzPlanLaunch(const TzPlan *plan, const int64_t grid[3], void *stream,
                      const TzValue *values, size_t valueCount);

//===----------------------------------------------------------------------===//
// Threads and interrupts of the CPU driver
//===----------------------------------------------------------------------===//

/// How many threads a launch may use, the caller among them. At first the
/// value of TERRAZZO_NUM_THREADS, or the number of processors that affinity and
/// quota leave to the process.
int32_t tzCpuThreads(void);
/// 0 restores the default.
TzStatus tzCpuSetThreads(int32_t count);

/// Makes SIGINT stop the launches that run, which then return
/// TzStatusCancelled; the handler that was installed before is called too.
/// Cheap to call again: it renews the handler if another has replaced it. To be
/// called from the main thread. Does nothing where SIGINT is ignored.
TzStatus tzInterruptInstall(void);
/// Stops the launches that run now, as the handler would.
void tzInterruptRaise(void);

//===----------------------------------------------------------------------===//
// Cache: a byte store on disk
//===----------------------------------------------------------------------===//

typedef struct TzCache TzCache;

/// Opens (and makes) a cache directory that holds at most `maxBytes` (0: 2
/// GiB). Fails, with the reason, if the directory is not private to this user
/// or cannot be made: go on without a cache then.
TzStatus tzCacheOpen(const char *directory, uint64_t maxBytes, TzCache **out);
void tzCacheClose(TzCache *cache);

/// Looks up a key (16 to 128 letters, digits, '-' or '_'). TzStatusOk: a hit,
/// `write` got the verified bytes. TzStatusNotFound: a plain miss. Any other
/// status: also a miss, and tzLastError()->message is worth a warning.
TzStatus tzCacheGet(TzCache *cache, const char *key, TzWrite write,
                    void *userData);
/// Stores bytes under a key: other processes see all of them or nothing. A
/// failure leaves the cache as it was; the caller goes on without it.
TzStatus tzCachePut(TzCache *cache, const char *key, const void *bytes,
                    size_t size);

typedef struct TzCacheStats {
  uint64_t entries, bytes;                        ///< on disk now
  uint64_t hits, misses, rejected, puts, evicted; ///< of this handle
} TzCacheStats;

TzStatus tzCacheStats(TzCache *cache, TzCacheStats *out);
/// Removes every entry.
TzStatus tzCacheClear(TzCache *cache);

/// Writes a file that no other user can touch or redirect, as the cache does:
/// into a folder that is made if need be and has to be private to this user.
/// A file of that name is replaced; the least recently written files with the
/// name's suffix go when all of them take more than `keepBytes`.
TzStatus tzPrivateFileWrite(const char *folder, const char *name,
                            const void *bytes, size_t size, uint64_t keepBytes);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif // TERRAZZO_C_RUNTIME_H
