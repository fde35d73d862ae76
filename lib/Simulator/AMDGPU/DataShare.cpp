//===- DataShare.cpp - LDS: loads, stores, atomics ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Memory.h"

#include <algorithm>
#include <bit>

using namespace terrazzo::amdsim;

template <class F>
static void forEachLane(uint64_t lanes, F f) {
  for (; lanes; lanes &= lanes - 1)
    f(static_cast<unsigned>(std::countr_zero(lanes)));
}

/// The cycles that an access takes beyond those of one without conflicts. A
/// group of lanes moves 128 bytes at a time; lanes that need different words of
/// a bank wait for each other.
static unsigned countConflicts(const std::array<uint32_t, kLanes> &addresses,
                               uint64_t lanes, unsigned bytes) {
  constexpr unsigned kBanks = 32;
  unsigned words = std::max(1u, bytes / 4);
  unsigned group = std::max(1u, kBanks / words);
  unsigned conflicts = 0;
  for (unsigned first = 0; first < kLanes; first += group) {
    std::array<uint8_t, kBanks> load = {};
    std::array<std::array<uint32_t, 32>, kBanks> seen;
    unsigned most = 0;
    for (unsigned lane = first; lane < std::min(first + group, kLanes);
         ++lane) {
      if (!(lanes >> lane & 1))
        continue;
      for (unsigned w = 0; w < words; ++w) {
        uint32_t word = addresses[lane] / 4 + w;
        auto &bank = seen[word % kBanks];
        uint8_t &count = load[word % kBanks];
        if (std::find(bank.begin(), bank.begin() + count, word) !=
                bank.begin() + count ||
            count == 32)
          continue;
        bank[count++] = word;
        most = std::max<unsigned>(most, count);
      }
    }
    conflicts += most > 1 ? most - 1 : 0;
  }
  return conflicts;
}

namespace {
/// One instruction's access: one address a lane, or two.
class DsAccess {
public:
  DsAccess(Wave &wave, const Instruction &instruction)
      : wave(wave), i(instruction), lanes(wave.exec()) {
    checkRead(wave, i.src[0], 1, lanes);
    forEachLane(lanes, [&](unsigned lane) {
      base[lane] = wave.row(i.src[0].index)[lane];
    });
  }

  void load();
  void store();
  void atomic();

private:
  unsigned parts() const { return i.memory.hasTwo ? 2 : 1; }
  uint32_t offset(unsigned part) const {
    if (!i.memory.hasTwo)
      return static_cast<uint32_t>(i.offset);
    int32_t number = part ? i.memory.offset1 : i.offset;
    return static_cast<uint32_t>(number) * i.memory.stride;
  }
  uint8_t *resolve(unsigned part, unsigned lane);
  void note(PendingAccess &access, unsigned part, unsigned lane,
            Lds::Access kind, const uint8_t *value);
  void count();

  Wave &wave;
  const Instruction &i;
  uint64_t lanes;
  std::array<uint32_t, kLanes> base;
};
} // namespace

uint8_t *DsAccess::resolve(unsigned part, unsigned lane) {
  uint64_t address = uint64_t(base[lane]) + offset(part);
  return checkLds(wave, address, i.memory.bytes,
                  std::min<unsigned>(i.memory.bytes, 4),
                  static_cast<int>(lane));
}

void DsAccess::note(PendingAccess &access, unsigned part, unsigned lane,
                    Lds::Access kind, const uint8_t *value) {
  uint32_t address = base[lane] + offset(part);
  uint8_t bytes = i.memory.bytes;
  Lds &lds = wave.group.lds;
  if (kind != Lds::Access::Write)
    lds.checkWritten(address, bytes, static_cast<int>(lane));
  lds.note(address, bytes, kind, wave.number, static_cast<int>(lane), value);
  if (kind == Lds::Access::Write)
    lds.markWritten(address, bytes);
  access.lds.push_back(
      {address, bytes, kind != Lds::Access::Read, kind == Lds::Access::Atomic});
}

void DsAccess::count() {
  Tally &tally = wave.group.tally;
  for (unsigned part = 0; part < parts(); ++part) {
    std::array<uint32_t, kLanes> addresses = {};
    for (unsigned lane = 0; lane < kLanes; ++lane)
      addresses[lane] = base[lane] + offset(part);
    ++tally.ldsAccesses;
    tally.ldsConflicts += countConflicts(addresses, lanes, i.memory.bytes);
  }
}

void DsAccess::load() {
  const MemoryControl &memory = i.memory;
  unsigned words = std::max(1u, memory.bytes / 4u);
  PendingAccess &access = startLoad(wave, i.dst, words * parts(), lanes,
                                    memory.isD16, memory.isD16High, kDsCounter);
  for (unsigned part = 0; part < parts(); ++part)
    forEachLane(lanes, [&](unsigned lane) {
      const uint8_t *place = resolve(part, lane);
      note(access, part, lane, Lds::Access::Read, nullptr);
      for (unsigned w = 0; w < words; ++w)
        access.data[size_t(part * words + w) * kLanes + lane] =
            memory.bytes < 4 ? extend(place, memory.bytes, memory.isSigned)
                             : extend(place + 4 * size_t(w), 4, false);
    });
  wave.queue.occupy(access, kDsCounter);
  count();
}

void DsAccess::store() {
  const MemoryControl &memory = i.memory;
  unsigned words = std::max(1u, memory.bytes / 4u);
  for (unsigned part = 0; part < parts(); ++part)
    checkRead(wave, i.src[1 + part], words, lanes);
  PendingAccess &access = wave.startAccess();
  for (unsigned part = 0; part < parts(); ++part) {
    const Operand &data = i.src[1 + part];
    unsigned shift = memory.isD16High || data.isHigh ? 16 : 0;
    forEachLane(lanes, [&](unsigned lane) {
      uint8_t *place = resolve(part, lane);
      std::array<uint32_t, 4> value = {};
      for (unsigned w = 0; w < words; ++w)
        value[w] = wave.row(data.index + w)[lane] >> shift;
      note(access, part, lane, Lds::Access::Write,
           reinterpret_cast<const uint8_t *>(value.data()));
      std::memcpy(place, value.data(), memory.bytes);
    });
  }
  wave.queue.occupy(access, kDsCounter);
  count();
}

void DsAccess::atomic() {
  const MemoryControl &memory = i.memory;
  unsigned words = memory.bytes / 4u;
  bool compares = i.src[2].kind == OperandKind::Vgpr;
  // The older order of a comparison's operands: what is compared, the new
  // value. `stride` says so.
  unsigned data = compares && memory.stride == 2 ? 2 : 1;
  unsigned compared = data == 1 ? 2 : 1;
  auto read = [&](unsigned source, unsigned lane) {
    uint64_t value = wave.row(i.src[source].index)[lane];
    if (words == 2)
      value |= uint64_t(wave.row(i.src[source].index + 1)[lane]) << 32;
    return value;
  };
  checkRead(wave, i.src[1], words, lanes);
  checkRead(wave, i.src[2], words, lanes);
  std::array<uint64_t, kLanes> old = {};
  PendingAccess *access =
      memory.returns ? &startLoad(wave, i.dst, words, lanes, false, false)
                     : &wave.startAccess();
  forEachLane(lanes, [&](unsigned lane) {
    uint8_t *place = resolve(0, lane);
    note(*access, 0, lane, Lds::Access::Atomic, nullptr);
    old[lane] =
        applyAtomic(place, memory.operation, memory.bytes, read(data, lane),
                    compares ? read(compared, lane) : 0, false);
  });
  if (memory.returns)
    for (unsigned w = 0; w < words; ++w)
      for (unsigned lane = 0; lane < kLanes; ++lane)
        access->data[size_t(w) * kLanes + lane] =
            static_cast<uint32_t>(old[lane] >> (32 * w));
  wave.queue.occupy(*access, kDsCounter);
  count();
}

static void runLoad(Wave &wave, const Instruction &i) {
  DsAccess(wave, i).load();
}
static void runStore(Wave &wave, const Instruction &i) {
  DsAccess(wave, i).store();
}
static void runAtomic(Wave &wave, const Instruction &i) {
  DsAccess(wave, i).atomic();
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

namespace {
struct DsWidth {
  /// Behind `ds_read_` or `ds_load_`, and `ds_write_` or `ds_store_`.
  const char *load, *store;
  uint8_t bytes;
  bool isSigned = false, isD16 = false, isHigh = false;
};
struct DsAtomic {
  /// With the type of 32 bits.
  const char *name, *operation;
  bool isFloat = false;
};
} // namespace

static const DsWidth kWidths[] = {
    {"b32", "b32", 4},
    {"b64", "b64", 8},
    {"b96", "b96", 12},
    {"b128", "b128", 16},
    {"u8", "b8", 1},
    {"i8", nullptr, 1, true},
    {"u16", "b16", 2},
    {"i16", nullptr, 2, true},
    {"u8_d16", nullptr, 1, false, true},
    {"u8_d16_hi", "b8_d16_hi", 1, false, true, true},
    {"i8_d16", nullptr, 1, true, true},
    {"i8_d16_hi", nullptr, 1, true, true, true},
    {"u16_d16", nullptr, 2, false, true},
    {"u16_d16_hi", "b16_d16_hi", 2, false, true, true},
};

static const DsAtomic kAtomics[] = {
    {"add_u32", "add"},
    {"sub_u32", "sub"},
    {"rsub_u32", "rsub"},
    {"inc_u32", "inc"},
    {"dec_u32", "dec"},
    {"min_i32", "smin"},
    {"max_i32", "smax"},
    {"min_u32", "umin"},
    {"max_u32", "umax"},
    {"and_b32", "and"},
    {"or_b32", "or"},
    {"xor_b32", "xor"},
    {"add_f32", "add_f", true},
    {"min_f32", "min_f", true},
    {"max_f32", "max_f", true},
    {"min_num_f32", "min_f", true},
    {"max_num_f32", "max_f", true},
};

static OpInfo memoryOp(Handler run, uint8_t bytes) {
  OpInfo info;
  info.form = OpForm::Ds;
  info.run = run;
  info.memory.bytes = bytes;
  return info;
}

static void addLoadsAndStores(OpTable &table) {
  for (const DsWidth &width : kWidths) {
    OpInfo info = memoryOp(runLoad, width.bytes);
    info.memory.isSigned = width.isSigned;
    info.memory.isD16 = width.isD16;
    info.memory.isD16High = width.isHigh;
    table.add(std::string("ds_read_") + width.load, info);
    table.add(std::string("ds_load_") + width.load, info);
    if (!width.store)
      continue;
    info.run = runStore;
    info.memory.isStore = true;
    table.add(std::string("ds_write_") + width.store, info);
    table.add(std::string("ds_store_") + width.store, info);
  }
  for (uint8_t bytes : {uint8_t(4), uint8_t(8)})
    for (bool isFar : {false, true}) {
      std::string type = bytes == 4 ? "b32" : "b64";
      OpInfo info = memoryOp(runLoad, bytes);
      info.memory.hasTwo = true;
      info.memory.stride = static_cast<uint16_t>(bytes * (isFar ? 64 : 1));
      std::string cdna = isFar ? "2st64_" : "2_";
      std::string rdna = isFar ? "_2addr_stride64_" : "_2addr_";
      cdna += type, rdna += type;
      table.add("ds_read" + cdna, info);
      table.add("ds_load" + rdna, info);
      info.run = runStore;
      info.memory.isStore = true;
      table.add("ds_write" + cdna, info);
      table.add("ds_store" + rdna, info);
    }
}

/// With and without a result: `ds_add_u32`, `ds_add_rtn_u32`.
static void addAtomic(OpTable &table, std::string name, const char *operation,
                      uint8_t bytes, uint16_t order = 1) {
  OpInfo info = memoryOp(runAtomic, bytes);
  info.memory.isAtomic = true;
  info.memory.stride = order;
  info.memory.operation = static_cast<uint8_t>(findAtomic(operation));
  table.add("ds_" + name, info);
  info.memory.returns = true;
  size_t type = name.rfind('_');
  table.add("ds_" + name.insert(type, "_rtn"), info);
}

static void addAtomics(OpTable &table) {
  for (const DsAtomic &atomic : kAtomics) {
    std::string name = atomic.name;
    addAtomic(table, name, atomic.operation, 4);
    addAtomic(table, name.replace(name.size() - 2, 2, "64"), atomic.operation,
              8);
  }
  for (uint8_t bytes : {uint8_t(4), uint8_t(8)}) {
    std::string type = bytes == 4 ? "_b32" : "_b64";
    addAtomic(table, "cmpst" + type, "cmpswap", bytes, 2);
    addAtomic(table, "cmpstore" + type, "cmpswap", bytes);
    addAtomic(table, "wrxchg" + type, "swap", bytes);
    addAtomic(table, "storexchg" + type, "swap", bytes);
  }
  addAtomic(table, "pk_add_f16", "pk_add_f16", 4);
  addAtomic(table, "pk_add_bf16", "pk_add_bf16", 4);
}

void terrazzo::amdsim::addDataShare(OpTable &table) {
  addLoadsAndStores(table);
  addAtomics(table);
}
