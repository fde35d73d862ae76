//===- ScalarControl.cpp - Branches, EXEC, waits and messages -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AssemblyText.h"
#include "OpTable.h"
#include "Wave.h"

using namespace terrazzo::amdsim;

static void jump(Wave &wave, const Instruction &instruction) {
  if (instruction.target == Program::kNowhere)
    fault(ErrorKind::OutOfBounds,
          "expected a branch to an instruction, found one to elsewhere");
  wave.pc = instruction.target;
}

template <auto Condition>
static OpInfo branch() {
  OpInfo info;
  info.form = OpForm::Branch;
  info.run = [](Wave &wave, const Instruction &instruction) {
    if (Condition(wave))
      jump(wave, instruction);
  };
  return info;
}

static void addBranches(OpTable &table) {
  table.add("s_branch", branch<[](Wave &) { return true; }>());
  table.add("s_cbranch_scc0", branch<[](Wave &wave) { return !wave.scc; }>());
  table.add("s_cbranch_scc1", branch<[](Wave &wave) { return wave.scc; }>());
  table.add("s_cbranch_vccz",
            branch<[](Wave &wave) { return wave.readVcc() == 0; }>());
  table.add("s_cbranch_vccnz",
            branch<[](Wave &wave) { return wave.readVcc() != 0; }>());
  table.add("s_cbranch_execz",
            branch<[](Wave &wave) { return wave.exec() == 0; }>());
  table.add("s_cbranch_execnz",
            branch<[](Wave &wave) { return wave.exec() != 0; }>());
}

static uint64_t nextAddress(const Wave &wave) {
  const Instruction &instruction = wave.group.program.code[wave.current];
  return instruction.address + instruction.size +
         wave.group.program.object.bias();
}

static void jumpToAddress(Wave &wave, uint64_t address) {
  const Program &program = wave.group.program;
  uint32_t index = program.indexOf(address - program.object.bias());
  if (index == Program::kNowhere)
    fault(ErrorKind::OutOfBounds,
          "expected a jump to an instruction, found one to " +
              wave.group.memory.describe(address));
  wave.pc = index;
}

static void addCalls(OpTable &table) {
  OpInfo get;
  get.run = [](Wave &wave, const Instruction &i) {
    wave.writeScalar64(i.dst, nextAddress(wave));
  };
  table.add("s_getpc_b64", get);
  OpInfo set;
  set.form = OpForm::NoResult;
  set.src = {Type::B64};
  set.run = [](Wave &wave, const Instruction &i) {
    jumpToAddress(wave, wave.readScalar64(i.src[0]));
  };
  table.add("s_setpc_b64", set);
  OpInfo swap;
  swap.src = {Type::B64};
  swap.run = [](Wave &wave, const Instruction &i) {
    uint64_t target = wave.readScalar64(i.src[0]);
    wave.writeScalar64(i.dst, nextAddress(wave));
    jumpToAddress(wave, target);
  };
  table.add("s_swappc_b64", swap);
}

/// EXEC = F(source, EXEC); the result is EXEC as it was.
template <auto F>
static OpInfo saveExec() {
  OpInfo info;
  info.numSources = 1;
  info.src = {Type::B64};
  info.run = [](Wave &wave, const Instruction &i) {
    uint64_t old = wave.exec();
    uint64_t source = wave.readMask(i.src[0]);
    wave.writeMask(i.dst, old);
    wave.setExec(F(source, old));
    wave.scc = wave.exec() != 0;
  };
  return info;
}

static void addExec(OpTable &table) {
  using U = uint64_t;
  for (const char *type : {"_saveexec_b64", "_saveexec_b32"}) {
    std::string end = type;
    table.add("s_and" + end, saveExec<[](U s, U e) { return s & e; }>());
    table.add("s_or" + end, saveExec<[](U s, U e) { return s | e; }>());
    table.add("s_xor" + end, saveExec<[](U s, U e) { return s ^ e; }>());
    table.add("s_xnor" + end, saveExec<[](U s, U e) { return ~(s ^ e); }>());
    table.add("s_nand" + end, saveExec<[](U s, U e) { return ~(s & e); }>());
    table.add("s_nor" + end, saveExec<[](U s, U e) { return ~(s | e); }>());
    auto sourceNotExec = saveExec<[](U s, U e) { return s & ~e; }>();
    auto execNotSource = saveExec<[](U s, U e) { return e & ~s; }>();
    table.add("s_andn2" + end, sourceNotExec);
    table.add("s_and_not1" + end, sourceNotExec);
    table.add("s_andn1" + end, execNotSource);
    table.add("s_and_not0" + end, execNotSource);
    table.add("s_orn2" + end, saveExec<[](U s, U e) { return s | ~e; }>());
    table.add("s_or_not1" + end, saveExec<[](U s, U e) { return s | ~e; }>());
  }
}

/// What only tells hardware how to be fast, or keeps caches in step.
static void addNothing(OpTable &table) {
  OpInfo nothing;
  nothing.form = OpForm::Branch;
  nothing.run = [](Wave &, const Instruction &) {};
  for (const char *name : {"s_nop",
                           "s_sleep",
                           "s_setprio",
                           "s_clause",
                           "s_delay_alu",
                           "s_wait_alu",
                           "s_waitcnt_depctr",
                           "s_wait_idle",
                           "s_inst_prefetch",
                           "s_set_inst_prefetch_distance",
                           "s_icache_inv",
                           "s_dcache_inv",
                           "s_dcache_wb",
                           "s_incperflevel",
                           "s_decperflevel",
                           "s_ttracedata",
                           "s_ttracedata_imm",
                           "s_version",
                           "s_prefetch_inst",
                           "s_prefetch_inst_pc_rel",
                           "s_prefetch_data",
                           "s_sendmsg",
                           "buffer_wbinvl1",
                           "buffer_wbinvl1_vol",
                           "buffer_inv",
                           "buffer_wbl2",
                           "buffer_invl2",
                           "buffer_gl0_inv",
                           "buffer_gl1_inv",
                           "global_inv",
                           "global_wb",
                           "global_wbinv",
                           "s_nop_0",
                           "s_code_end",
                           "v_nop",
                           "s_setkill",
                           "v_pipeflush",
                           "s_endpgm_saved_unused",
                           "ds_nop",
                           "s_gl1_inv",
                           "s_monitor_sleep"})
    table.add(name, nothing);
}

static void endProgram(Wave &wave, const Instruction &) {
  wave.finishAll();
  wave.status = WaveStatus::Finished;
}

static void trap(Wave &, const Instruction &instruction) {
  fault(ErrorKind::Trap,
        "the kernel stopped itself by '" + instruction.text + "'");
}

/// Accesses of LDS that no wait covers may happen behind the barrier as well.
static void noteLate(Wave &wave) {
  for (const PendingAccess &access : wave.queue.all())
    wave.lateLds.insert(wave.lateLds.end(), access.lds.begin(),
                        access.lds.end());
}

static void addEnds(OpTable &table) {
  OpInfo info;
  info.form = OpForm::Branch;
  info.run = endProgram;
  table.add("s_endpgm", info);
  info.run = trap;
  table.add("s_trap", info);
  table.add("s_sethalt", info);
  info.run = [](Wave &wave, const Instruction &) {
    noteLate(wave);
    wave.status = WaveStatus::AtBarrier;
  };
  table.add("s_barrier", info);
  table.add("s_barrier_wait", info);
  info.run = [](Wave &wave, const Instruction &) { ++wave.barriersSignalled; };
  table.add("s_barrier_signal", info);
}

namespace {
struct HardwareRegister {
  unsigned offset, size;
  bool isMode;
};
} // namespace

/// `hwreg(HW_REG_MODE, 4, 2)`; other registers read as 0.
static HardwareRegister parseRegister(const std::string &text) {
  HardwareRegister result{0, 32, text.find("HW_REG_MODE") != std::string::npos};
  size_t begin = text.find("hwreg("), end = text.find(')', begin);
  if (begin == std::string::npos || end == std::string::npos)
    return result;
  std::string_view inside(text.data() + begin + 6, end - begin - 6);
  size_t first = inside.find(','), second = inside.rfind(',');
  if (first == std::string_view::npos || second == first)
    return result;
  auto trimmed = [](std::string_view s) {
    while (s.starts_with(' '))
      s.remove_prefix(1);
    return s;
  };
  result.offset = static_cast<unsigned>(
      parseNumber(trimmed(inside.substr(first + 1, second - first - 1)))
          .value_or(0));
  result.size = static_cast<unsigned>(
      parseNumber(trimmed(inside.substr(second + 1))).value_or(32));
  return result;
}

static uint32_t fieldMask(const HardwareRegister &field) {
  uint32_t ones = field.size >= 32 ? ~0u : (1u << field.size) - 1;
  return ones << field.offset;
}

static void setRegister(Wave &wave, const Instruction &i) {
  HardwareRegister field = parseRegister(i.text);
  if (!field.isMode)
    return;
  uint32_t value = wave.readScalar(i.src[0]) << field.offset;
  uint32_t mask = fieldMask(field);
  wave.mode = (wave.mode & ~mask) | (value & mask);
  if (wave.mode & 0xf)
    fault(ErrorKind::Unsupported, "expected rounding to nearest, found mode " +
                                      std::to_string(wave.mode & 0xf) +
                                      " set by '" + i.text + "'");
}

static void addRegisters(OpTable &table) {
  OpInfo get;
  get.run = [](Wave &wave, const Instruction &i) {
    HardwareRegister field = parseRegister(i.text);
    uint32_t value = field.isMode ? wave.mode : 0;
    wave.writeScalar(i.dst, (value & fieldMask(field)) >> field.offset);
  };
  table.add("s_getreg_b32", get);
  OpInfo set;
  set.form = OpForm::NoResult;
  set.run = setRegister;
  table.add("s_setreg_b32", set);
  table.add("s_setreg_imm32_b32", set);
  OpInfo denormals;
  denormals.form = OpForm::NoResult;
  denormals.run = [](Wave &wave, const Instruction &i) {
    wave.mode = (wave.mode & ~0xf0u) | ((wave.readScalar(i.src[0]) & 0xf) << 4);
  };
  table.add("s_denorm_mode", denormals);
  OpInfo rounding;
  rounding.form = OpForm::NoResult;
  rounding.run = [](Wave &wave, const Instruction &i) {
    if (wave.readScalar(i.src[0]) & 0xf)
      fault(ErrorKind::Unsupported,
            "expected rounding to nearest, found '" + i.text + "'");
  };
  table.add("s_round_mode", rounding);
  OpInfo time;
  time.run = [](Wave &wave, const Instruction &i) {
    // No time passes but that of steps.
    wave.writeScalar64(i.dst, wave.steps);
  };
  table.add("s_memtime", time);
  table.add("s_memrealtime", time);
}

/// Moves: signed 16-bit constants in the instruction.
static void addConstants(OpTable &table) {
  auto add = [&](const char *name, Handler run) {
    OpInfo info;
    info.run = run;
    table.add(name, info);
  };
  add("s_movk_i32", [](Wave &wave, const Instruction &i) {
    wave.writeScalar(i.dst, uint32_t(int32_t(int16_t(i.src[0].value))));
  });
  add("s_cmovk_i32", [](Wave &wave, const Instruction &i) {
    if (wave.scc)
      wave.writeScalar(i.dst, uint32_t(int32_t(int16_t(i.src[0].value))));
  });
  Handler addk = [](Wave &wave, const Instruction &i) {
    uint32_t a = wave.readScalar(i.dst);
    auto b = uint32_t(int32_t(int16_t(i.src[0].value)));
    wave.scc = int32_t(~(a ^ b) & (a ^ (a + b))) < 0;
    wave.writeScalar(i.dst, a + b);
  };
  add("s_addk_i32", addk);
  add("s_addk_co_i32", addk);
  add("s_mulk_i32", [](Wave &wave, const Instruction &i) {
    auto b = uint32_t(int32_t(int16_t(i.src[0].value)));
    wave.writeScalar(i.dst, wave.readScalar(i.dst) * b);
  });
  add("s_bitset0_b32", [](Wave &wave, const Instruction &i) {
    uint32_t bit = 1u << (wave.readScalar(i.src[0]) & 31);
    wave.writeScalar(i.dst, wave.readScalar(i.dst) & ~bit);
  });
  add("s_bitset1_b32", [](Wave &wave, const Instruction &i) {
    uint32_t bit = 1u << (wave.readScalar(i.src[0]) & 31);
    wave.writeScalar(i.dst, wave.readScalar(i.dst) | bit);
  });
}

template <auto F>
static void addCompareConstant(OpTable &table, const std::string &name) {
  OpInfo info;
  info.form = OpForm::NoResult;
  info.run = [](Wave &wave, const Instruction &i) {
    wave.scc = F(wave.readScalar(i.src[0]), i.src[1].value);
  };
  table.add(name, info);
}

static void addCompareConstants(OpTable &table) {
  using U = uint32_t;
  using I = int32_t;
#define COMPARE(NAME, OP)                                                      \
  addCompareConstant<[](U a, uint64_t b) { return I(a) OP I(int16_t(b)); }>(   \
      table, "s_cmpk_" NAME "_i32");                                           \
  addCompareConstant<[](U a, uint64_t b) { return a OP U(uint16_t(b)); }>(     \
      table, "s_cmpk_" NAME "_u32")
  COMPARE("eq", ==);
  COMPARE("lg", !=);
  COMPARE("lt", <);
  COMPARE("le", <=);
  COMPARE("gt", >);
  COMPARE("ge", >=);
#undef COMPARE
}

void terrazzo::amdsim::addScalarControl(OpTable &table) {
  addBranches(table);
  addCalls(table);
  addExec(table);
  addNothing(table);
  addEnds(table);
  addRegisters(table);
  addConstants(table);
  addCompareConstants(table);
}
