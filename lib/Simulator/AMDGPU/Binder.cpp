//===- Binder.cpp - Operands of an instruction, by its form ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Decoder.h"
#include "Wave.h"

#include <algorithm>

using namespace terrazzo::amdsim;

void terrazzo::amdsim::runUnsupported(Wave &, const Instruction &instruction) {
  fault(ErrorKind::Unsupported,
        "expected an instruction that is modelled, found '" + instruction.text +
            "'");
}

namespace {

/// Fills in one instruction. Functions give false for a form that is not
/// modelled.
class Binder {
public:
  Binder(const CodeObject &object, const KernelInfo &kernel,
         Instruction &instruction, const AssemblyText &text, const OpInfo &info)
      : features(object.features()), kernel(kernel), instruction(instruction),
        text(text), info(info) {}
  bool bind();

private:
  bool bindVector();
  bool bindSources(size_t first);
  bool bindModifiers();
  bool bindSdwa();
  bool bindMemory();
  bool bindDs();
  bool bindPlain(bool hasResult);
  /// The next operand of the text.
  bool take(Operand &operand, Type type = Type::B32);
  bool checkRegisters(const Operand &operand) const;

  const ChipFeatures &features;
  const KernelInfo &kernel;
  Instruction &instruction;
  const AssemblyText &text;
  const OpInfo &info;
  size_t next = 0;
};

} // namespace

bool Binder::checkRegisters(const Operand &operand) const {
  if (operand.kind != OperandKind::Vgpr)
    return true;
  unsigned end = operand.index + operand.count;
  if (!features.hasUnifiedRegisters)
    return end <= std::min(kernel.vgprs, kFirstAccumulator);
  if (operand.index < kFirstAccumulator)
    return end <= kernel.accumOffset;
  return end - kFirstAccumulator + kernel.accumOffset <= kernel.vgprs;
}

bool Binder::take(Operand &operand, Type type) {
  if (next >= text.operands.size())
    return false;
  std::optional<Operand> parsed = parseOperand(text.operands[next++]);
  if (!parsed || !checkRegisters(*parsed))
    return false;
  operand = *parsed;
  if (operand.isConstant())
    resolveConstant(operand, type);
  return true;
}

bool Binder::bindSources(size_t first) {
  next = first;
  instruction.numSources = info.numSources;
  for (unsigned i = 0; i < info.numSources; ++i) {
    Operand &operand = instruction.src[i];
    Type type = instruction.types[i];
    bool isLast = i + 1 == info.numSources;
    if (isLast && info.accumulates) {
      operand = instruction.dst;
    } else if (isLast && type == Type::Mask && next == text.operands.size()) {
      // VCC, which the text of some does not name.
      operand.kind = OperandKind::Sgpr;
      operand.index = kVcc;
      operand.count = kernel.waveSize == 32 ? 1 : 2;
    } else if (!take(operand, type)) {
      return false;
    }
    if (operand.kind == OperandKind::Vgpr && type != Type::PackedF32 &&
        unsigned(operand.count) * 32 < bitsOf(type))
      return false;
  }
  return next == text.operands.size();
}

static std::optional<uint8_t> selectionOf(std::string_view name) {
  static constexpr std::string_view kNames[] = {
      "BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1", "DWORD"};
  const auto *found = std::find(std::begin(kNames), std::end(kNames), name);
  if (found == std::end(kNames))
    return std::nullopt;
  return static_cast<uint8_t>(found - kNames);
}

bool Binder::bindSdwa() {
  auto select = [&](std::string_view name, uint8_t &selection) {
    auto value = text.modifier(name);
    if (!value)
      return true;
    auto found = selectionOf(*value);
    selection = found.value_or(6);
    return found.has_value();
  };
  auto unused = text.modifier("dst_unused").value_or("UNUSED_PAD");
  instruction.dstUnused = unused == "UNUSED_PRESERVE" ? SdwaUnused::Preserve
                          : unused == "UNUSED_SEXT"   ? SdwaUnused::SignExtend
                                                      : SdwaUnused::Pad;
  return select("src0_sel", instruction.src[0].selection) &&
         select("src1_sel", instruction.src[1].selection) &&
         select("dst_sel", instruction.dstSelection);
}

static bool isKnownModifier(std::string_view name) {
  static constexpr std::string_view kNames[] = {
      "clamp",        "mul",        "div",       "op_sel",    "op_sel_hi",
      "neg_lo",       "neg_hi",     "quad_perm", "dpp8",      "row_shl",
      "row_shr",      "row_ror",    "wave_shl",  "wave_shr",  "wave_rol",
      "wave_ror",     "row_mirror", "row_bcast", "row_share", "row_half_mirror",
      "row_newbcast", "row_xmask",  "row_mask",  "bank_mask", "bound_ctrl",
      "fi",           "src0_sel",   "src1_sel",  "dst_sel",   "dst_unused",
      "bitop3"};
  return std::find(std::begin(kNames), std::end(kNames), name) !=
         std::end(kNames);
}

bool Binder::bindModifiers() {
  for (const auto &[name, value] : text.modifiers)
    if (!isKnownModifier(name))
      return false;
  instruction.offset = static_cast<int32_t>(text.number("bitop3", 0));
  instruction.clamp = text.has("clamp");
  int64_t factor = text.number("mul", 1);
  instruction.outputModifier = text.has("div") ? 3
                               : factor == 4   ? 2
                               : factor == 2   ? 1
                                               : 0;
  unsigned opSel = text.bits("op_sel", 0);
  bool packs =
      std::any_of(instruction.types.begin(), instruction.types.end(), isPacked);
  instruction.packed.opSel = static_cast<uint8_t>(opSel);
  instruction.packed.opSelHi =
      static_cast<uint8_t>(text.bits("op_sel_hi", packs ? 7 : 0));
  instruction.packed.negLo = static_cast<uint8_t>(text.bits("neg_lo", 0));
  instruction.packed.negHi = static_cast<uint8_t>(text.bits("neg_hi", 0));
  if (!packs) {
    for (unsigned i = 0; i < info.numSources; ++i)
      if (opSel >> i & 1)
        instruction.src[i].isHigh = true;
    if (opSel >> info.numSources & 1)
      instruction.dst.isHigh = true;
  }
  // Integers saturate, which their formulas do not say.
  if (instruction.clamp && !isFloat(instruction.dstType) &&
      instruction.dstType != Type::PackedF16 &&
      instruction.dstType != Type::PackedF32)
    return false;
  if (text.encoding == "sdwa")
    return bindSdwa();
  if (text.encoding.find("dpp") == std::string::npos)
    return true;
  instruction.dpp = std::make_unique<DppControl>();
  return readDpp(text, *instruction.dpp);
}

bool Binder::bindVector() {
  instruction.types = info.src;
  instruction.dstType = info.dst;
  instruction.lanes = info.lanes;
  instruction.run = runVector;
  instruction.keepsHigh = info.keepsHigh || features.generation >= 10;
  instruction.hasOwnLow = info.hasOwnLow;
  if (info.form == OpForm::Compare || info.form == OpForm::CompareExec) {
    instruction.writesExec = info.form == OpForm::CompareExec;
    // (From gfx10 on, v_cmpx writes nothing but EXEC.)
    bool hasResult = text.operands.size() > info.numSources;
    if (hasResult && !take(instruction.scalarDst))
      return false;
  } else {
    if (!take(instruction.dst) || instruction.dst.kind != OperandKind::Vgpr ||
        unsigned(instruction.dst.count) * 32 < bitsOf(info.dst))
      return false;
    if (info.form == OpForm::VectorWithBit && !take(instruction.scalarDst))
      return false;
  }
  return bindSources(next) && bindModifiers();
}

static bool isPlainModifier(std::string_view name) {
  static constexpr std::string_view kNames[] = {
      "op_sel", "op_sel_hi", "neg",  "neg_lo", "neg_hi", "clamp",
      "cbsz",   "abid",      "blgp", "offset", "bitop3"};
  return std::find(std::begin(kNames), std::end(kNames), name) !=
         std::end(kNames);
}

bool Binder::bindPlain(bool hasResult) {
  // (Of scalar ones, hwreg(..) and its like are read from the text.)
  bool isVector = text.mnemonic.starts_with("v_");
  for (const auto &[name, value] : text.modifiers)
    if (isVector && !isPlainModifier(name))
      return false;
  instruction.types = info.src;
  instruction.dstType = info.dst;
  if (hasResult && !take(instruction.dst))
    return false;
  for (unsigned i = 0; next < text.operands.size(); ++i) {
    if (i >= instruction.src.size() || !take(instruction.src[i], info.src[i]))
      return false;
    ++instruction.numSources;
  }
  instruction.packed.opSel = static_cast<uint8_t>(text.bits("op_sel", 0));
  instruction.packed.opSelHi = static_cast<uint8_t>(text.bits("op_sel_hi", 0));
  instruction.packed.negLo =
      static_cast<uint8_t>(text.bits(text.has("neg") ? "neg" : "neg_lo", 0));
  instruction.packed.negHi = static_cast<uint8_t>(text.bits("neg_hi", 0));
  instruction.clamp = text.has("clamp");
  instruction.truthTable = static_cast<uint8_t>(text.number("bitop3", 0));
  instruction.cbsz = static_cast<uint8_t>(text.number("cbsz", 0));
  instruction.abid = static_cast<uint8_t>(text.number("abid", 0));
  instruction.blgp = static_cast<uint8_t>(text.number("blgp", 0));
  instruction.offset = static_cast<int32_t>(text.number("offset", 0));
  return info.numSources == 0 || info.numSources == instruction.numSources;
}

/// Addresses lie in src[0] (lanes) and src[1] (scalar), data in src[2], the
/// scalar offset of buffers in src[3].
bool Binder::bindMemory() {
  MemoryControl &memory = instruction.memory = info.memory;
  instruction.offset = static_cast<int32_t>(text.number("offset", 0));
  memory.hasOffsetRegister = text.has("offen");
  memory.hasIndexRegister = text.has("idxen");
  memory.toLds |= text.has("lds");
  if (text.has("tfe"))
    return false;
  bool wantsOld =
      text.has("sc0") || text.has("glc") ||
      text.modifier("th").value_or("").find("RETURN") != std::string_view::npos;
  memory.returns = memory.isAtomic && wantsOld;
  bool hasData = memory.isStore || memory.isAtomic;
  if (info.form == OpForm::Buffer) {
    Operand &data = hasData ? instruction.src[2] : instruction.dst;
    if (!memory.toLds && !take(data))
      return false;
    if (memory.returns)
      instruction.dst = instruction.src[2];
    return take(instruction.src[0]) && take(instruction.src[1]) &&
           take(instruction.src[3]) && next == text.operands.size();
  }
  bool hasResult =
      memory.isAtomic ? memory.returns : !memory.isStore && !memory.toLds;
  if (hasResult && !take(instruction.dst))
    return false;
  if (!take(instruction.src[0]) || (hasData && !take(instruction.src[2])))
    return false;
  if (info.form == OpForm::Flat && next == text.operands.size())
    return true;
  return take(instruction.src[1]) && next == text.operands.size();
}

/// The address lies in src[0], data in src[1] and src[2].
bool Binder::bindDs() {
  instruction.memory = info.memory;
  instruction.offset = static_cast<int32_t>(
      text.number(info.memory.hasTwo ? "offset0" : "offset", 0));
  instruction.memory.offset1 = static_cast<int32_t>(text.number("offset1", 0));
  if (text.has("gds"))
    return false;
  bool hasResult =
      info.memory.isAtomic || info.memory.isStore ? info.memory.returns : true;
  if (hasResult && !take(instruction.dst))
    return false;
  for (unsigned i = 0; next < text.operands.size(); ++i)
    if (i >= 3 || !take(instruction.src[i]))
      return false;
  return true;
}

bool Binder::bind() {
  instruction.run = info.run;
  switch (info.form) {
  case OpForm::Vector:
  case OpForm::VectorWithBit:
  case OpForm::Compare:
  case OpForm::CompareExec:
    return bindVector();
  case OpForm::Plain:
  case OpForm::ScalarMemory:
  case OpForm::Matrix:
    instruction.memory = info.memory;
    instruction.matrix = info.matrix;
    return bindPlain(/*hasResult=*/true);
  case OpForm::NoResult:
    return bindPlain(/*hasResult=*/false);
  case OpForm::Global:
  case OpForm::Buffer:
  case OpForm::Scratch:
  case OpForm::Flat:
    return bindMemory();
  case OpForm::Ds:
    return bindDs();
  case OpForm::Branch:
  case OpForm::Wait:
    return true;
  }
  return false;
}

static bool bindOne(const CodeObject &object, const KernelInfo &kernel,
                    Instruction &instruction, std::string_view source) {
  AssemblyText text = splitAssembly(source);
  if (text.mnemonic.starts_with("v_dual_"))
    text.mnemonic.erase(2, 5);
  instruction.mnemonic = text.mnemonic;
  const OpInfo *info =
      OpTable::get().find(text.mnemonic, object.features().generation);
  return info && Binder(object, kernel, instruction, text, *info).bind() &&
         instruction.run;
}

void terrazzo::amdsim::bindInstruction(const CodeObject &object,
                                       const KernelInfo &kernel,
                                       Instruction &instruction) {
  std::string_view text = instruction.text;
  size_t dual = text.find("::");
  bool isBound;
  if (dual == std::string_view::npos) {
    isBound = bindOne(object, kernel, instruction, text);
  } else {
    instruction.second = std::make_unique<Instruction>();
    isBound =
        bindOne(object, kernel, instruction, text.substr(0, dual)) &&
        bindOne(object, kernel, *instruction.second, text.substr(dual + 2)) &&
        instruction.run == runVector && instruction.second->run == runVector;
    instruction.run = runDual;
    instruction.mnemonic += " :: " + instruction.second->mnemonic;
  }
  if (!isBound)
    instruction.run = runUnsupported;
}
