// SPDX-License-Identifier: BSD-3-Clause
// The threads of a rank that work on one phase together.
//
// Number 0 is the thread that calls `run` and the only one that may call MPI. Threads live from the
// begin to the end of `run`; they start their clocks at a `meet`, so that making them is not
// measured. What they are given to do must not throw.
#pragma once

#include <barrier>
#include <thread>
#include <vector>

namespace effio {

class WorkerThreads {
  public:
    explicit WorkerThreads(int size) : size_(size), barrier_(size) {}
    WorkerThreads(const WorkerThreads&) = delete;
    WorkerThreads& operator=(const WorkerThreads&) = delete;

    int size() const { return size_; }

    /// Calls `work(number)` on all threads at the same time; returns when all are back.
    template <class Work>
    void run(Work&& work) {
        std::vector<std::jthread> others;
        others.reserve(static_cast<std::size_t>(size_ - 1));
        for (int number = 1; number < size_; ++number) {
            others.emplace_back([&work, number] { work(number); });
        }
        work(0);
    }

    /// Called by all threads of a `run`: when the last has come, number 0 does `once`, then all go
    /// on.
    template <class Once>
    void meet(int number, Once&& once) {
        if (size_ > 1) barrier_.arrive_and_wait();
        if (number == 0) once();
        if (size_ > 1) barrier_.arrive_and_wait();
    }

  private:
    int size_;
    std::barrier<> barrier_;
};

}  // namespace effio
