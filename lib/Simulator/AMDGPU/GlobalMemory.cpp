//===- GlobalMemory.cpp - global, flat, scratch and buffer ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Memory.h"

#include <algorithm>

#include <bit>

using namespace terrazzo::amdsim;

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

template <class F>
static void forEachLane(uint64_t lanes, F f) {
  for (; lanes; lanes &= lanes - 1)
    f(static_cast<unsigned>(std::countr_zero(lanes)));
}

static bool isScalar(const Operand &operand) {
  return operand.kind == OperandKind::Sgpr || operand.isConstant();
}

/// A register pair as address; or, beside an address in SGPRs, an offset.
static void addressGlobal(Wave &wave, const Instruction &i, Addresses &out) {
  const Operand &vector = i.src[0], &scalar = i.src[1];
  checkRead(wave, vector, vector.count, out.lanes);
  uint64_t base = static_cast<uint64_t>(int64_t(i.offset));
  bool hasBase = scalar.kind == OperandKind::Sgpr;
  if (hasBase)
    base += wave.readScalar64(scalar);
  const uint32_t *low = wave.row(vector.index);
  const uint32_t *high = wave.row(vector.index + (hasBase ? 0 : 1));
  forEachLane(out.lanes, [&](unsigned lane) {
    uint64_t address = low[lane];
    if (!hasBase)
      address |= uint64_t(high[lane]) << 32;
    out.at[lane] = {base + address, Space::Global};
  });
}

/// As global, but apertures lead to LDS and scratch.
static void addressFlat(Wave &wave, const Instruction &i, Addresses &out) {
  addressGlobal(wave, i, out);
  out.mayBeLds = true;
  forEachLane(out.lanes, [&](unsigned lane) {
    LaneAddress &at = out.at[lane];
    uint64_t aperture = at.address & ~uint64_t(0xffffffff);
    if (aperture == kSharedAperture)
      at = {at.address & 0xffffffff, Space::Lds};
    else if (aperture == kPrivateAperture)
      at = {at.address & 0xffffffff, Space::Scratch};
  });
}

static void addressScratch(Wave &wave, const Instruction &i, Addresses &out) {
  const Operand &vector = i.src[0], &scalar = i.src[1];
  auto base = static_cast<uint32_t>(i.offset);
  if (isScalar(scalar))
    base += wave.readScalar(scalar);
  bool hasVector = vector.kind == OperandKind::Vgpr;
  checkRead(wave, vector, hasVector, out.lanes);
  const uint32_t *offsets = hasVector ? wave.row(vector.index) : nullptr;
  forEachLane(out.lanes, [&](unsigned lane) {
    uint32_t address = base + (offsets ? offsets[lane] : 0);
    out.at[lane] = {address, Space::Scratch};
  });
}

/// Raw and structured buffers ("Buffer Addressing"): what is out of range is
/// read as 0 and not written.
static void addressBuffer(Wave &wave, const Instruction &i, Addresses &out) {
  const Operand &resource = i.src[1];
  Operand upper = resource;
  upper.index += 2;
  uint64_t words01 = wave.readScalar64(resource);
  uint64_t words23 = wave.readScalar64(upper);
  uint64_t base = words01 & 0xffffffffffff;
  auto stride = static_cast<uint32_t>(words01 >> 48 & 0x3fff);
  auto records = static_cast<uint32_t>(words23);
  uint32_t scalar =
      i.src[3].kind == OperandKind::None ? 0 : wave.readScalar(i.src[3]);
  bool hasIndex = i.memory.hasIndexRegister;
  bool hasOffset = i.memory.hasOffsetRegister;
  checkRead(wave, i.src[0], unsigned(hasIndex) + hasOffset, out.lanes);
  if (hasIndex && (words01 >> 63))
    fault(ErrorKind::Unsupported, "a swizzled buffer with an index");
  bool isScratch = base == kScratchBuffer;
  forEachLane(out.lanes, [&](unsigned lane) {
    uint32_t index = hasIndex ? wave.row(i.src[0].index)[lane] : 0;
    uint32_t offset = static_cast<uint32_t>(i.offset);
    if (hasOffset)
      offset += wave.row(i.src[0].index + hasIndex)[lane];
    if (isScratch) {
      out.at[lane] = {uint64_t(offset) + scalar, Space::Scratch};
      return;
    }
    bool isOutside = stride && hasIndex
                         ? index >= records || offset >= stride
                         : uint64_t(offset) + i.memory.bytes > records;
    out.at[lane] = {base + scalar + offset + uint64_t(index) * stride,
                    isOutside ? Space::Nowhere : Space::Global};
  });
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

static uint8_t *resolve(Wave &wave, const LaneAddress &at, unsigned bytes,
                        bool writes, unsigned lane) {
  int number = static_cast<int>(lane);
  switch (at.space) {
  case Space::Global:
    return checkGlobal(wave, at.address, bytes, writes, number);
  case Space::Scratch:
    return checkScratch(wave, at.address, bytes, writes, number);
  case Space::Lds: {
    uint8_t *place = checkLds(wave, at.address, bytes, 1, number);
    auto access = writes ? Lds::Access::Write : Lds::Access::Read;
    auto offset = static_cast<uint32_t>(at.address);
    wave.group.lds.note(offset, bytes, access, wave.number, number, nullptr);
    if (writes)
      wave.group.lds.markWritten(offset, bytes);
    else
      wave.group.lds.checkWritten(offset, bytes, number);
    return place;
  }
  case Space::Nowhere:
    return nullptr;
  }
  return nullptr;
}

static void occupy(Wave &wave, PendingAccess &access, bool isStore,
                   bool mayBeLds) {
  unsigned generation = wave.group.program.object.features().generation;
  Counter counter = isStore && generation >= 10 ? kStoreCounter : kLoadCounter;
  wave.queue.occupy(access, counter);
  if (mayBeLds)
    wave.queue.occupy(access, kDsCounter);
}

static void load(Wave &wave, const Instruction &i, const Addresses &from) {
  const MemoryControl &memory = i.memory;
  PendingAccess &access =
      startLoad(wave, i.dst, memory.registers, from.lanes, memory.isD16,
                memory.isD16High, from.mayBeLds ? kCounters : kLoadCounter);
  forEachLane(from.lanes, [&](unsigned lane) {
    const uint8_t *place =
        resolve(wave, from.at[lane], memory.bytes, false, lane);
    uint32_t *to = &access.data[lane];
    if (memory.bytes < 4) {
      *to = place ? extend(place, memory.bytes, memory.isSigned) : 0;
      return;
    }
    for (unsigned r = 0; r < memory.registers; ++r) {
      uint32_t word = 0;
      if (place)
        std::memcpy(&word, place + 4 * size_t(r), 4);
      to[size_t(r) * kLanes] = word;
    }
  });
  wave.group.tally.bytesLoaded +=
      uint64_t(std::popcount(from.lanes)) * memory.bytes;
  occupy(wave, access, false, from.mayBeLds);
}

static void store(Wave &wave, const Instruction &i, const Addresses &to) {
  const MemoryControl &memory = i.memory;
  const Operand &data = i.src[2];
  // A register that is spilled may have lanes that nothing has written.
  bool spills = true;
  forEachLane(to.lanes, [&](unsigned lane) {
    spills &= to.at[lane].space == Space::Scratch;
  });
  for (unsigned r = 0; spills && r < memory.registers; ++r)
    wave.checkArrived(data.index + r, to.lanes);
  if (!spills)
    checkRead(wave, data, memory.registers, to.lanes);
  unsigned shift = memory.isD16High || data.isHigh ? 16 : 0;
  forEachLane(to.lanes, [&](unsigned lane) {
    uint8_t *place = resolve(wave, to.at[lane], memory.bytes, true, lane);
    if (!place)
      return;
    const uint32_t *from = wave.row(data.index) + lane;
    if (memory.bytes < 4) {
      uint32_t word = *from >> shift;
      std::memcpy(place, &word, memory.bytes);
      return;
    }
    for (unsigned r = 0; r < memory.registers; ++r)
      std::memcpy(place + 4 * size_t(r), from + size_t(r) * kLanes, 4);
  });
  wave.group.tally.bytesStored +=
      uint64_t(std::popcount(to.lanes)) * memory.bytes;
  occupy(wave, wave.startAccess(), true, to.mayBeLds);
}

/// Lanes are applied in order; memory is shared with other threads.
static void atomic(Wave &wave, const Instruction &i, const Addresses &at) {
  const MemoryControl &memory = i.memory;
  const Operand &data = i.src[2];
  unsigned words = memory.bytes / 4;
  checkRead(wave, data, memory.registers, at.lanes);
  std::array<uint64_t, kLanes> old = {};
  auto read = [&](unsigned first, unsigned lane) {
    uint64_t value = wave.row(data.index + first)[lane];
    if (words == 2)
      value |= uint64_t(wave.row(data.index + first + 1)[lane]) << 32;
    return value;
  };
  bool compares = memory.registers == 2 * words;
  forEachLane(at.lanes, [&](unsigned lane) {
    uint8_t *place = resolve(wave, at.at[lane], memory.bytes, true, lane);
    if (!place)
      return;
    old[lane] = applyAtomic(place, memory.operation, memory.bytes,
                            read(0, lane), compares ? read(words, lane) : 0,
                            at.at[lane].space == Space::Global);
  });
  if (!memory.returns)
    return occupy(wave, wave.startAccess(), true, at.mayBeLds);
  PendingAccess &access = startLoad(wave, i.dst, words, at.lanes, false, false);
  forEachLane(at.lanes, [&](unsigned lane) {
    access.data[lane] = static_cast<uint32_t>(old[lane]);
    if (words == 2)
      access.data[kLanes + lane] = static_cast<uint32_t>(old[lane] >> 32);
  });
  occupy(wave, access, false, at.mayBeLds);
}

/// Loads past the registers: lane l's words go to LDS at m0 + the offset + l
/// times their size.
static void loadToLds(Wave &wave, const Instruction &i, const Addresses &from) {
  unsigned bytes = i.memory.bytes, words = std::max(1u, bytes / 4);
  uint32_t base = wave.sgprs[kM0] + static_cast<uint32_t>(i.offset);
  PendingAccess &access = wave.startAccess();
  access.kind = PendingAccess::LdsWrite;
  access.data.clear();
  forEachLane(from.lanes, [&](unsigned lane) {
    LaneAddress at = from.at[lane];
    const uint8_t *place = resolve(wave, at, bytes, false, lane);
    uint32_t address = base + lane * words * 4;
    checkLds(wave, address, words * 4, 4, static_cast<int>(lane));
    wave.group.lds.note(address, words * 4, Lds::Access::Write, wave.number,
                        static_cast<int>(lane), nullptr);
    access.lds.push_back(
        {address, static_cast<uint8_t>(words * 4), true, false});
    for (unsigned w = 0; w < words; ++w) {
      uint32_t word = 0;
      if (place)
        word = bytes < 4 ? extend(place, bytes, i.memory.isSigned)
                         : extend(place + 4 * size_t(w), 4, false);
      access.data.push_back(word);
      access.addresses.push_back(address + 4 * w);
    }
  });
  wave.group.tally.bytesLoaded += uint64_t(std::popcount(from.lanes)) * bytes;
  occupy(wave, access, false, false);
}

template <auto Address>
static void runMemory(Wave &wave, const Instruction &i) {
  Addresses addresses;
  addresses.lanes = wave.exec();
  Address(wave, i, addresses);
  if (i.memory.isAtomic)
    atomic(wave, i, addresses);
  else if (i.memory.toLds)
    loadToLds(wave, i, addresses);
  else if (i.memory.isStore)
    store(wave, i, addresses);
  else
    load(wave, i, addresses);
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

namespace {
struct Width {
  const char *load, *store;
  uint8_t bytes, registers;
  bool isSigned = false, isD16 = false, isHigh = false;
};
struct SpaceNames {
  const char *prefix;
  OpForm form;
  Handler run;
};
struct AtomicNames {
  /// Of gfx9; of gfx11; of gfx12. Without the prefix and `_x2`.
  const char *cdna, *rdna, *rdna4;
  const char *operation;
  /// 0: there are 32 and 64 bits.
  uint8_t bytes = 0;
};
} // namespace

static const SpaceNames kSpaces[] = {
    {"global_", OpForm::Global, runMemory<addressGlobal>},
    {"flat_", OpForm::Flat, runMemory<addressFlat>},
    {"scratch_", OpForm::Scratch, runMemory<addressScratch>},
    {"buffer_", OpForm::Buffer, runMemory<addressBuffer>},
};

static const Width kWidths[] = {
    {"load_dword", "store_dword", 4, 1},
    {"load_dwordx2", "store_dwordx2", 8, 2},
    {"load_dwordx3", "store_dwordx3", 12, 3},
    {"load_dwordx4", "store_dwordx4", 16, 4},
    {"load_b32", "store_b32", 4, 1},
    {"load_b64", "store_b64", 8, 2},
    {"load_b96", "store_b96", 12, 3},
    {"load_b128", "store_b128", 16, 4},
    {"load_ubyte", "store_byte", 1, 1},
    {"load_sbyte", nullptr, 1, 1, true},
    {"load_ushort", "store_short", 2, 1},
    {"load_sshort", nullptr, 2, 1, true},
    {"load_u8", "store_b8", 1, 1},
    {"load_i8", nullptr, 1, 1, true},
    {"load_u16", "store_b16", 2, 1},
    {"load_i16", nullptr, 2, 1, true},
    {"load_short_d16", nullptr, 2, 1, false, true},
    {"load_d16_b16", nullptr, 2, 1, false, true},
    {"load_short_d16_hi", "store_short_d16_hi", 2, 1, false, true, true},
    {"load_d16_hi_b16", "store_d16_hi_b16", 2, 1, false, true, true},
    {"load_ubyte_d16", nullptr, 1, 1, false, true},
    {"load_d16_u8", nullptr, 1, 1, false, true},
    {"load_ubyte_d16_hi", "store_byte_d16_hi", 1, 1, false, true, true},
    {"load_d16_hi_u8", "store_d16_hi_b8", 1, 1, false, true, true},
    {"load_sbyte_d16", nullptr, 1, 1, true, true},
    {"load_d16_i8", nullptr, 1, 1, true, true},
    {"load_sbyte_d16_hi", nullptr, 1, 1, true, true, true},
    {"load_d16_hi_i8", nullptr, 1, 1, true, true, true},
};

static const AtomicNames kAtomicNames[] = {
    {"swap", "swap", "swap", "swap"},
    {"cmpswap", "cmpswap", "cmpswap", "cmpswap"},
    {"add", "add", "add", "add"},
    {"sub", "sub", "sub", "sub"},
    {"smin", "min", "min", "smin"},
    {"smax", "max", "max", "smax"},
    {"umin", "min", "min", "umin"},
    {"umax", "max", "max", "umax"},
    {"and", "and", "and", "and"},
    {"or", "or", "or", "or"},
    {"xor", "xor", "xor", "xor"},
    {"inc", "inc", "inc", "inc"},
    {"dec", "dec", "dec", "dec"},
    {"add_f32", "add", "add", "add_f", 4},
    {"add_f64", nullptr, nullptr, "add_f", 8},
    {"min_f64", nullptr, nullptr, "min_f", 8},
    {"max_f64", nullptr, nullptr, "max_f", 8},
    {"fmin", "min", "min_num", "min_f", 4},
    {"fmax", "max", "max_num", "max_f", 4},
    {"pk_add_f16", nullptr, "pk_add", "pk_add_f16", 4},
    {"pk_add_bf16", nullptr, "pk_add", "pk_add_bf16", 4},
};

/// The types that RDNA's names end in.
static std::string rdnaType(const AtomicNames &names, unsigned bytes) {
  std::string_view operation = names.operation;
  std::string bits = std::to_string(8 * bytes);
  if (operation.starts_with("pk_add_"))
    return "_" + std::string(operation.substr(7));
  if (operation.ends_with("_f"))
    return "_f" + bits;
  if (operation[0] == 's' && operation != "swap" && operation != "sub")
    return "_i" + bits;
  bool isUnsigned = operation[0] == 'u' || operation == "add" ||
                    operation == "sub" || operation == "inc" ||
                    operation == "dec";
  return (isUnsigned ? "_u" : "_b") + bits;
}

static void addAtomics(OpTable &table, const SpaceNames &space) {
  std::string prefix = std::string(space.prefix) + "atomic_";
  for (const AtomicNames &names : kAtomicNames)
    for (unsigned bytes : {4u, 8u}) {
      if (names.bytes && names.bytes != bytes)
        continue;
      OpInfo info;
      info.form = space.form;
      info.run = space.run;
      info.memory.isAtomic = true;
      info.memory.bytes = static_cast<uint8_t>(bytes);
      bool compares = std::string_view(names.operation) == "cmpswap";
      info.memory.registers =
          static_cast<uint8_t>(bytes / 4 * (compares ? 2 : 1));
      info.memory.operation = static_cast<uint8_t>(findAtomic(names.operation));
      table.add(prefix + names.cdna + (bytes == 8 && !names.bytes ? "_x2" : ""),
                info);
      if (names.rdna)
        table.add(prefix + names.rdna + rdnaType(names, bytes), info);
      if (names.rdna4)
        table.add(prefix + names.rdna4 + rdnaType(names, bytes), info);
    }
}

static void addLoadsAndStores(OpTable &table, const SpaceNames &space) {
  std::string prefix = space.prefix;
  for (const Width &width : kWidths) {
    OpInfo info;
    info.form = space.form;
    info.run = space.run;
    info.memory.bytes = width.bytes;
    info.memory.registers = width.registers;
    info.memory.isSigned = width.isSigned;
    info.memory.isD16 = width.isD16;
    info.memory.isD16High = width.isHigh;
    table.add(prefix + width.load, info);
    OpInfo toLds = info;
    toLds.memory.toLds = true;
    table.add(prefix + "load_lds_" + (width.load + 5), toLds);
    if (!width.store)
      continue;
    info.memory.isStore = true;
    table.add(prefix + width.store, info);
  }
}

void terrazzo::amdsim::addGlobalMemory(OpTable &table) {
  for (const SpaceNames &space : kSpaces) {
    addLoadsAndStores(table, space);
    addAtomics(table, space);
  }
}
