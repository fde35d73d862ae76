//===- FaultTest.cpp - A planted fault for each report --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Assembler.h"

#include <gtest/gtest.h>

using namespace terrazzo::amdsim;
using namespace terrazzo::amdsim::test;

/// The address of the lane's element of the only argument, in s[4:5] and v0;
/// the wave's number in s20.
static const char *const kPrologue = R"(
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_and_b32_e32 v0, 0x3ff, v0
  v_readfirstlane_b32 s20, v0
  s_lshr_b32 s20, s20, 6
  v_lshlrev_b32_e32 v0, 2, v0
  s_waitcnt lgkmcnt(0)
)";

namespace {
struct Planted {
  std::string body;
  unsigned ldsBytes = 0;
  unsigned waves = 1;
  bool isWritable = true;
  uint64_t stepLimit = 100000;
  unsigned scratchBytes = 0;
  std::string chip = "gfx942";
};
} // namespace

/// Runs the text over 256 words that hold their numbers; the error, or a
/// failure if there is none.
static Error runPlanted(const Planted &planted) {
  TestLaunch launch({.chip = planted.chip,
                     .body = kPrologue + planted.body,
                     .pointers = 1,
                     .ldsBytes = planted.ldsBytes,
                     .scratchBytes = planted.scratchBytes});
  std::vector<uint32_t> data(256);
  for (size_t i = 0; i < data.size(); ++i)
    data[i] = static_cast<uint32_t>(i);
  launch.buffer(data, "data", planted.isWritable);
  launch.launch.block = {64 * planted.waves, 1, 1};
  launch.launch.stepLimit = planted.stepLimit;
  launch.launch.threads = 1;
  try {
    launch.run();
  } catch (const Error &error) {
    return error;
  }
  return Error(ErrorKind::Object, "no error was reported");
}

static void expectError(const Planted &planted, ErrorKind kind,
                        const std::string &text) {
  Error error = runPlanted(planted);
  EXPECT_EQ(toString(error.kind), std::string(toString(kind))) << error.what();
  EXPECT_NE(std::string(error.what()).find(text), std::string::npos)
      << error.what();
}

TEST(Fault, LoadWithoutWait) {
  expectError({.body = "global_load_dword v1, v0, s[4:5]\n"
                       "v_add_u32 v1, v1, v1\n"
                       "s_waitcnt vmcnt(0)"},
              ErrorKind::MissingWait, "v1 is used before a wait covers");
}

TEST(Fault, WaitForTheWrongLoad) {
  // The second load is still under way when the first is waited for.
  expectError({.body = "global_load_dword v1, v0, s[4:5]\n"
                       "global_load_dword v2, v0, s[4:5]\n"
                       "s_waitcnt vmcnt(1)\n"
                       "v_add_u32 v3, v1, v1\n"
                       "v_add_u32 v3, v2, v2"},
              ErrorKind::MissingWait, "v2 is used");
}

TEST(Fault, ScalarLoadWithoutWait) {
  expectError({.body = "s_load_dword s8, s[4:5], 0x0\n"
                       "s_add_u32 s9, s8, 1"},
              ErrorKind::MissingWait, "s8 is used");
}

TEST(Fault, ScalarLoadsReturnInAnyOrder) {
  // A count of 1 says nothing about which of two scalar loads is there.
  expectError({.body = "s_load_dword s8, s[4:5], 0x0\n"
                       "s_load_dword s9, s[4:5], 0x4\n"
                       "s_waitcnt lgkmcnt(1)\n"
                       "s_add_u32 s10, s8, 1"},
              ErrorKind::MissingWait, "s8 is used");
}

TEST(Fault, RegisterOverwrittenByALateLoad) {
  expectError({.body = "global_load_dword v1, v0, s[4:5]\n"
                       "v_mov_b32 v1, 0\n"
                       "s_waitcnt vmcnt(0)"},
              ErrorKind::MissingWait, "v1 is used");
}

TEST(Fault, WriteOutOfBounds) {
  expectError({.body = "v_mov_b32 v1, 0\n"
                       "global_store_dword v0, v1, s[4:5] offset:1024"},
              ErrorKind::OutOfBounds, "write of 4 bytes at ");
}

TEST(Fault, ReadFarAway) {
  expectError({.body = "s_mov_b64 s[4:5], 0x1000\n"
                       "global_load_dword v1, v0, s[4:5]"},
              ErrorKind::OutOfBounds, "read of 4 bytes at 0x1000");
}

TEST(Fault, WriteToReadOnlyMemory) {
  expectError({.body = "v_mov_b32 v1, 0\n"
                       "global_store_dword v0, v1, s[4:5]",
               .isWritable = false},
              ErrorKind::ReadOnly, "0 bytes into 'data'");
}

TEST(Fault, MisalignedAccessOfLds) {
  expectError({.body = "v_mov_b32 v1, 2\n"
                       "ds_write_b32 v1, v1",
               .ldsBytes = 256},
              ErrorKind::Misaligned, "expected a multiple of 4");
}

TEST(Fault, StoreOfARegisterThatNothingWrote) {
  expectError({.body = "global_store_dword v0, v9, s[4:5]"},
              ErrorKind::Uninitialized, "v9 is used");
}

TEST(Fault, UndefinedValuesGoThroughArithmetic) {
  // Half of the lanes of v1 are written; the sum is as undefined as they are.
  Error error = runPlanted({.body = "s_mov_b64 exec, 0xffff\n"
                                    "v_mov_b32 v1, 1\n"
                                    "s_mov_b64 exec, -1\n"
                                    "v_add_u32 v2, v1, v0\n"
                                    "global_store_dword v0, v2, s[4:5]"});
  EXPECT_EQ(error.kind, ErrorKind::Uninitialized) << error.what();
  EXPECT_EQ(error.location.lane, 16);
}

TEST(Fault, ReadOfLdsThatNothingWrote) {
  expectError(
      {.body = "ds_read_b32 v1, v0\ns_waitcnt lgkmcnt(0)", .ldsBytes = 256},
      ErrorKind::Uninitialized, "byte 0 of LDS");
}

TEST(Fault, LdsOutOfBounds) {
  expectError({.body = "ds_write_b32 v0, v0 offset:4", .ldsBytes = 256},
              ErrorKind::OutOfBounds, "of which the workgroup has 256 bytes");
}

TEST(Fault, ScratchThatNothingWrote) {
  expectError(
      {.body = "scratch_load_dword v1, off, off offset:8", .scratchBytes = 16},
      ErrorKind::Uninitialized, "byte 8 of scratch");
}

TEST(Fault, ScratchOutOfBounds) {
  expectError({.body = "scratch_store_dword off, v0, off offset:16",
               .scratchBytes = 16},
              ErrorKind::OutOfBounds, "scratch, which has 16 bytes");
}

TEST(Fault, RaceWithoutABarrier) {
  // Each wave writes its words and reads those of the other.
  expectError({.body = "ds_write_b32 v0, v0\n"
                       "s_waitcnt lgkmcnt(0)\n"
                       "v_xor_b32 v1, 0x100, v0\n"
                       "ds_read_b32 v1, v1\n"
                       "s_waitcnt lgkmcnt(0)",
               .ldsBytes = 512,
               .waves = 2},
              // Whichever runs first reads what is not there yet.
              ErrorKind::Uninitialized, "of LDS");
  expectError({.body = "v_mov_b32 v2, 0\n"
                       "ds_write_b32 v2, v0\n"
                       "s_waitcnt lgkmcnt(0)",
               .ldsBytes = 512,
               .waves = 2},
              ErrorKind::Race, "write of byte");
}

TEST(Fault, BarrierWithoutWait) {
  // The stores of LDS are still under way when the other wave reads.
  expectError({.body = "ds_write_b32 v0, v0\n"
                       "s_barrier\n"
                       "v_xor_b32 v1, 0x100, v0\n"
                       "ds_read_b32 v1, v1\n"
                       "s_waitcnt lgkmcnt(0)",
               .ldsBytes = 512,
               .waves = 2},
              ErrorKind::Race, "read of byte");
}

TEST(Fault, ReadBeforeTheNextWrite) {
  // One barrier is missing between reading a buffer and filling it again.
  expectError({.body = "ds_write_b32 v0, v0\n"
                       "s_waitcnt lgkmcnt(0)\n"
                       "s_barrier\n"
                       "v_xor_b32 v1, 0x100, v0\n"
                       "ds_read_b32 v1, v1\n"
                       "s_waitcnt lgkmcnt(0)\n"
                       "v_add_u32 v1, v1, 1\n"
                       "ds_write_b32 v0, v1\n"
                       "s_waitcnt lgkmcnt(0)",
               .ldsBytes = 512,
               .waves = 2},
              ErrorKind::Race, "LDS, which wave");
}

TEST(Fault, EndlessLoop) {
  expectError({.body = ".Lloop:\ns_branch .Lloop"}, ErrorKind::Hang,
              "expected the wave to end within 100000 instructions");
}

TEST(Fault, Trap) {
  expectError({.body = "s_trap 2"}, ErrorKind::Trap, "s_trap 2");
}

TEST(Fault, UnknownInstruction) {
  expectError({.body = "s_cmp_eq_u32 s20, 1\n"
                       "s_cbranch_scc1 .Lexit\n"
                       "v_cvt_off_f32_i4 v1, v0"},
              ErrorKind::Unsupported, "found 'v_cvt_off_f32_i4");
}

TEST(Fault, UnknownInstructionThatIsNotReached) {
  Error error = runPlanted({.body = "s_branch .Lexit\n"
                                    "v_cvt_off_f32_i4 v1, v0"});
  EXPECT_EQ(error.kind, ErrorKind::Object) << error.what();
}

TEST(Fault, JumpOutOfTheCode) {
  expectError({.body = "s_mov_b64 s[8:9], 64\ns_setpc_b64 s[8:9]"},
              ErrorKind::OutOfBounds, "expected a jump to an instruction");
}

TEST(Fault, OtherRounding) {
  expectError({.body = "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 3"},
              ErrorKind::Unsupported, "expected rounding to nearest");
}

TEST(Fault, LineOfTheSource) {
  Error error = runPlanted({.body = ".file 1 \"/src\" \"kernel.py\"\n"
                                    ".loc 1 41 0\n"
                                    "v_mov_b32 v1, 0\n"
                                    ".loc 1 42 0\n"
                                    "global_store_dword v0, v9, s[4:5]"});
  EXPECT_EQ(error.location.line, 42u) << error.what();
  EXPECT_NE(error.location.file.find("kernel.py"), std::string::npos)
      << error.what();
}

TEST(Fault, LaunchOfTheWrongSize) {
  TestLaunch launch({.body = "", .pointers = 1});
  std::vector<uint32_t> data(4);
  launch.buffer(data);
  launch.launch.block = {1025, 1, 1};
  EXPECT_THROW(launch.run(), Error);
}

TEST(Fault, TooFewArguments) {
  TestLaunch launch({.body = "", .pointers = 2});
  std::vector<uint32_t> data(4);
  launch.buffer(data);
  try {
    launch.run();
    FAIL() << "expected an error";
  } catch (const Error &error) {
    EXPECT_EQ(error.kind, ErrorKind::Launch);
    EXPECT_NE(std::string(error.what()).find("expected 16 bytes of arguments"),
              std::string::npos)
        << error.what();
  }
}

TEST(Fault, MemoryThatOverlaps) {
  std::vector<uint32_t> data(4);
  MemoryMap memory;
  memory.add(data.data(), 16, "first");
  EXPECT_THROW(memory.add(data.data() + 2, 16, "second"), Error);
}
