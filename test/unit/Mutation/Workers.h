//===- Workers.h - Numbered jobs that may crash -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Forked processes take turns in doing the jobs, many a process: a fork for
// each job would cost more than most jobs. A process that dies is replaced by
// one that goes on behind the job that killed it.
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_TEST_UNIT_MUTATION_WORKERS_H
#define TERRAZZO_TEST_UNIT_MUTATION_WORKERS_H

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace terrazzo::mutation {

/// What a job says of itself, in memory that outlives its process. Text that is
/// longer is cut.
struct Note {
  /// What is worth knowing if the job fails.
  char input[1 << 17];
  /// Empty: it went well.
  char failure[4096];
  /// Counted over all jobs, by the job's own numbers.
  size_t counts[4];

  void setInput(const std::string &text);
  void setFailure(const std::string &text);
};

struct Failure {
  size_t job;
  std::string what, input;
};

struct Outcome {
  std::vector<Failure> failures;
  std::vector<size_t> counts;
};

/// Does the jobs 0 to count - 1 in `processes` processes. A job fails that says
/// so, that ends its process, or that takes more processor time than any should
/// by far. `folder` is for files that the processes write.
Outcome runJobs(size_t count, size_t processes, const std::string &folder,
                const std::function<void(size_t job, Note &note)> &job);

} // namespace terrazzo::mutation

#endif // TERRAZZO_TEST_UNIT_MUTATION_WORKERS_H
