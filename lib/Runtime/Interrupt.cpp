//===- Interrupt.cpp - Stopping launches from outside ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every thread that ever launched has a node in a list that only grows (nodes
// of finished threads are used again), so a signal handler can walk it without
// a lock.
//===----------------------------------------------------------------------===//

#include "terrazzo/Runtime/Interrupt.h"
#include "terrazzo/Runtime/Error.h"

#include <cerrno>
#include <csignal>
#include <list>
#include <mutex>

namespace terrazzo::runtime {
namespace {

struct Node {
  std::atomic<int32_t> flag{0};
  std::atomic<bool> launching{false};
  std::atomic<bool> owned{true};
  Node *next = nullptr;
};

std::atomic<Node *> head{nullptr};

Node *acquireNode() {
  for (Node *node = head.load(std::memory_order_acquire); node;
       node = node->next) {
    bool owned = false;
    if (node->owned.compare_exchange_strong(owned, true))
      return node;
  }
  Node *node = new Node;
  node->next = head.load(std::memory_order_relaxed);
  while (
      !head.compare_exchange_weak(node->next, node, std::memory_order_release))
    ;
  return node;
}

struct ThreadNode {
  Node *node = acquireNode();
  int depth = 0;
  ~ThreadNode() { node->owned.store(false, std::memory_order_release); }
};

ThreadNode &threadNode() {
  thread_local ThreadNode node;
  return node;
}

/// The handler that was there before ours. Replaced, never edited: a signal may
/// arrive at any moment in any thread.
std::atomic<struct sigaction *> previous{nullptr};

void onInterrupt(int signal, siginfo_t *info, void *context) {
  // Another library may have chained to us and we to it.
  static thread_local volatile sig_atomic_t inside = 0;
  if (inside)
    return;
  inside = 1;
  int savedErrno = errno;
  cancelLaunches();
  struct sigaction *old = previous.load(std::memory_order_acquire);
  if (old && (old->sa_flags & SA_SIGINFO)) {
    old->sa_sigaction(signal, info, context);
  } else if (old && old->sa_handler == SIG_DFL) {
    std::signal(SIGINT, SIG_DFL);
    raise(SIGINT);
  } else if (old && old->sa_handler != SIG_IGN) {
    old->sa_handler(signal);
  }
  errno = savedErrno;
  inside = 0;
}

} // namespace

CancelScope::CancelScope() {
  ThreadNode &thread = threadNode();
  value = &thread.node->flag;
  if (thread.depth++ == 0) {
    value->store(0, std::memory_order_relaxed);
    thread.node->launching.store(true, std::memory_order_release);
  }
}

CancelScope::~CancelScope() {
  ThreadNode &thread = threadNode();
  if (--thread.depth == 0)
    thread.node->launching.store(false, std::memory_order_release);
}

void cancelLaunches() {
  for (Node *node = head.load(std::memory_order_acquire); node;
       node = node->next)
    if (node->launching.load(std::memory_order_acquire))
      node->flag.store(1, std::memory_order_release);
}

void installInterruptHandler() {
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  struct sigaction now;
  auto check = [](int result) {
    if (result != 0)
      throw Error(Status::Unavailable,
                  "install the interrupt handler: sigaction(SIGINT) failed: " +
                      errnoText(errno));
  };
  check(sigaction(SIGINT, nullptr, &now));
  bool isOurs = (now.sa_flags & SA_SIGINFO) && now.sa_sigaction == onInterrupt;
  bool isIgnored = !(now.sa_flags & SA_SIGINFO) && now.sa_handler == SIG_IGN;
  if (isOurs || isIgnored)
    return;
  struct sigaction mine = now;
  mine.sa_flags |= SA_SIGINFO;
  mine.sa_sigaction = onInterrupt;
  // All old ones are kept: a handler may be reading one.
  static auto &handlers = *new std::list<struct sigaction>;
  handlers.push_back(now);
  previous.store(&handlers.back(), std::memory_order_release);
  check(sigaction(SIGINT, &mine, nullptr));
}

} // namespace terrazzo::runtime
