//===- Loader.cpp - Object file to callable code --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ORC with nothing around it: an execution session, JITLink, one JITDylib a
// kernel. LLJIT would add an IR compiler that is never used. Everything runs on
// the calling thread, so a load needs no thread pool of LLVM's. There is
// nothing to link with: a kernel reaches the runtime by its context (CpuAbi.h).
//===----------------------------------------------------------------------===//

#include "Loader.h"

#include "llvm/ExecutionEngine/Orc/Core.h"
#include "llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h"
#include "llvm/ExecutionEngine/Orc/SelfExecutorProcessControl.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/TargetParser/Host.h"

#include <atomic>

namespace terrazzo::runtime {
namespace {

/// What ORC reported on this thread: its errors come in two parts, and the one
/// that a call returns only says that it failed.
thread_local std::string reported;

class OrcLoader final : public CodeLoader,
                        public std::enable_shared_from_this<OrcLoader> {
public:
  OrcLoader();
  ~OrcLoader() override { llvm::consumeError(session->endSession()); }
  std::unique_ptr<LoadedCode> load(const Artifact &artifact) override;
  void unload(llvm::orc::JITDylib &dylib) {
    llvm::consumeError(session->removeJITDylib(dylib));
  }

private:
  std::unique_ptr<llvm::orc::ExecutionSession> session;
  std::unique_ptr<llvm::orc::ObjectLinkingLayer> linker;
  std::atomic<uint64_t> loads{0};
};

class OrcCode final : public LoadedCode {
public:
  OrcCode(std::shared_ptr<OrcLoader> loader, llvm::orc::JITDylib &dylib)
      : loader(std::move(loader)), dylib(dylib) {}
  ~OrcCode() override { loader->unload(dylib); }

  std::shared_ptr<OrcLoader> loader;
  llvm::orc::JITDylib &dylib;
};

[[noreturn]] void failLoad(const Artifact &artifact, llvm::Error error) {
  std::string text = llvm::toString(std::move(error));
  if (!reported.empty())
    text += "; " + reported;
  throw Error(
      Status::InvalidArgument,
      "load of kernel '" + artifact.entry +
          "' by driver 'cpu': expected an object that defines the entry "
          "and calls no library, but linking failed: " +
          text);
}

OrcLoader::OrcLoader() {
  auto control = llvm::orc::SelfExecutorProcessControl::Create(
      nullptr, std::make_unique<llvm::orc::InPlaceTaskDispatcher>());
  if (!control)
    throw Error(Status::Unavailable,
                "open driver 'cpu': " + llvm::toString(control.takeError()));
  session = std::make_unique<llvm::orc::ExecutionSession>(std::move(*control));
  session->setErrorReporter([](llvm::Error error) {
    if (!reported.empty())
      reported += "; ";
    reported += llvm::toString(std::move(error));
  });
  linker = std::make_unique<llvm::orc::ObjectLinkingLayer>(*session);
}

std::unique_ptr<LoadedCode> OrcLoader::load(const Artifact &artifact) {
  reported.clear();
  std::string name =
      artifact.entry + "#" + std::to_string(loads.fetch_add(1) + 1);
  llvm::orc::JITDylib &dylib = session->createBareJITDylib(name);
  // Owns the dylib from here on, so that a failure removes it.
  auto code = std::make_unique<OrcCode>(shared_from_this(), dylib);
  llvm::StringRef bytes(reinterpret_cast<const char *>(artifact.code.data()),
                        artifact.code.size());
  auto buffer = llvm::MemoryBuffer::getMemBufferCopy(bytes, name);
  if (llvm::Error error = linker->add(dylib, std::move(buffer)))
    failLoad(artifact, std::move(error));
  auto symbol = session->lookup({&dylib}, session->intern(artifact.entry));
  if (!symbol)
    failLoad(artifact, symbol.takeError());
  code->entry = symbol->getAddress().toPtr<KernelEntry>();
  return code;
}

} // namespace

std::shared_ptr<CodeLoader> CodeLoader::create() {
  return std::make_shared<OrcLoader>();
}

std::string hostProcessor() { return llvm::sys::getHostCPUName().str(); }

bool hostHasFeature(std::string_view feature) {
  static const llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  return features.lookup(llvm::StringRef(feature.data(), feature.size()));
}

} // namespace terrazzo::runtime
