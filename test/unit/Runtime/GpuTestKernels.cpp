//===- GpuTestKernels.cpp - Kernels for the drivers of GPUs ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GpuTestKernels.h"

#include <string_view>

namespace terrazzo::test {

static constexpr std::string_view kPtx = R"(.version 7.0
.target sm_70
.address_size 64

.visible .entry add(.param .u64 x, .param .u64 y, .param .u64 out,
                    .param .u32 n)
{
  .reg .pred %p;
  .reg .b32 %r<5>;
  .reg .f32 %f<3>;
  .reg .b64 %d<5>;
  mov.u32 %r0, %ctaid.x;
  mov.u32 %r1, %ntid.x;
  mov.u32 %r2, %tid.x;
  mad.lo.s32 %r3, %r0, %r1, %r2;
  ld.param.u32 %r4, [n];
  setp.ge.s32 %p, %r3, %r4;
  @%p bra DONE;
  mul.wide.s32 %d0, %r3, 4;
  ld.param.u64 %d1, [x];
  ld.param.u64 %d2, [y];
  ld.param.u64 %d3, [out];
  add.s64 %d1, %d1, %d0;
  add.s64 %d2, %d2, %d0;
  add.s64 %d3, %d3, %d0;
  ld.global.f32 %f0, [%d1];
  ld.global.f32 %f1, [%d2];
  add.f32 %f2, %f0, %f1;
  st.global.f32 [%d3], %f2;
DONE:
  ret;
}

.visible .entry prints(.param .u32 failing, .param .u64 buffer)
{
  .reg .pred %p;
  .reg .b32 %r<12>;
  .reg .b64 %d<4>;
  ld.param.u64 %d0, [buffer];
  mov.u32 %r0, %ctaid.x;
  mov.u32 %r1, %tid.x;
  mov.u32 %r9, 0;
  setp.ge.u32 %p, %r1, 2;
  @%p bra DONE;
  shl.b32 %r2, %r1, 1;
  atom.global.add.u32 %r3, [%d0], 10;
  ld.global.u32 %r4, [%d0+4];
  add.u32 %r5, %r3, 10;
  setp.gt.u32 %p, %r5, %r4;
  @%p bra ASSERT;
  mul.wide.u32 %d1, %r3, 4;
  add.s64 %d2, %d0, %d1;
  mov.u32 %r6, 2;
  mov.u32 %r7, 4;
  mad.lo.u32 %r8, %r0, 100, %r2;
  st.global.u32 [%d2], %r9;
  st.global.u32 [%d2+4], %r9;
  st.global.u32 [%d2+8], %r0;
  st.global.u32 [%d2+12], %r9;
  st.global.u32 [%d2+16], %r9;
  st.global.u32 [%d2+20], %r2;
  st.global.u32 [%d2+24], %r6;
  st.global.u32 [%d2+28], %r7;
  st.global.u32 [%d2+32], %r8;
  add.u32 %r8, %r8, 1;
  st.global.u32 [%d2+36], %r8;
ASSERT:
  ld.param.u32 %r10, [failing];
  setp.ne.u32 %p, %r10, %r0;
  @%p bra DONE;
  mov.u32 %r6, 2;
  atom.global.cas.b32 %r11, [%d0+8], %r9, %r6;
  setp.ne.u32 %p, %r11, 0;
  @%p bra DONE;
  st.global.u32 [%d0+12], %r0;
  st.global.u32 [%d0+16], %r9;
  st.global.u32 [%d0+20], %r9;
DONE:
  ret;
}

.visible .entry fault()
{
  .reg .b32 %r;
  .reg .b64 %d;
  mov.u64 %d, 64;
  mov.u32 %r, 1;
  st.global.u32 [%d], %r;
  ret;
}
)";

static constexpr std::string_view kStubObject = "code object of the stub\n"
                                                "add 8 8 8 4\n"
                                                "prints 4 8\n";

static Artifact make(const char *target, const char *chip, const char *entry,
                     std::string_view code) {
  Artifact artifact;
  artifact.target = target;
  artifact.chip = chip;
  artifact.entry = entry;
  // A code object ends where the vector does; the stub's is a text.
  artifact.code.assign(code.begin(), code.end());
  if (artifact.target == "hip")
    artifact.code.push_back(0);
  artifact.threadsPerBlock = 64;
  return artifact;
}

static Artifact asAdd(Artifact artifact) {
  for (const char *name : {"x", "y", "out"})
    artifact.args.push_back({ArgInfo::Pointer, 8, name, "ptr<f32>", true});
  artifact.args.push_back({ArgInfo::Int, 4, "n", "i32", false});
  return artifact;
}

static Artifact asPrints(Artifact artifact) {
  artifact.args.push_back({ArgInfo::Int, 4, "failing", "u32", false});
  artifact.lines = {{0, "k.py", 3, 1, "value"}, {1, "k.py", 4, 1, "too large"}};
  artifact.metadata = {{"print.0.0", "i32 4 0"},
                       {"name", "prints"},
                       {"file", "k.py"},
                       {"line", "2"}};
  return artifact;
}

Artifact cudaAdd() { return asAdd(make("cuda", "sm_70", "add", kPtx)); }
Artifact hipStubAdd() {
  return asAdd(make("hip", "gfx942", "add", kStubObject));
}
Artifact cudaPrints() {
  return asPrints(make("cuda", "sm_70", "prints", kPtx));
}
Artifact hipStubPrints() {
  return asPrints(make("hip", "gfx942", "prints", kStubObject));
}
Artifact cudaFault() { return make("cuda", "sm_70", "fault", kPtx); }

Subject realCuda() { return {"cuda", "cuda", true, cudaAdd}; }
#ifdef TERRAZZO_GPU_STUBS
Subject stubCuda() {
  return {"cudaStub", "cuda:" TERRAZZO_GPU_STUBS "/libCudaStub.so", true,
          cudaAdd};
}
Subject stubHip() {
  return {"hipStub", "hip:" TERRAZZO_GPU_STUBS "/libHipStub.so", true,
          hipStubAdd};
}
Subject stubOldHip() {
  return {"oldHipStub", "hip:" TERRAZZO_GPU_STUBS "/libOldHipStub.so", true,
          hipStubAdd};
}
#endif

} // namespace terrazzo::test
