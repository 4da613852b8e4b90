// SPDX-License-Identifier: BSD-3-Clause
// The loops of the library comparison: repetitions, sizes, numbers of processes, libraries with
// their hints.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "benchmarks/benchmark.hpp"
#include "benchmarks/libraries/parameters.hpp"
#include "benchmarks/libraries/result.hpp"
#include "core/buffer.hpp"
#include "storage/target.hpp"

namespace effio::libraries {

/// A library with a set of hints.
struct Contender {
    std::string library;
    const HintSet* set;
    std::unique_ptr<ArrayLibrary> made;
    std::string file;
    std::string label() const { return set->name == "none" ? library : library + " " + set->name; }
};

/// All that are compared, and why some pairs of the options are not.
struct Selection {
    std::vector<Contender> contenders;
    std::vector<std::string> left_out;
};
Selection select(Session& session, const Parameters& parameters, const SimRoom* room);

/// Root only.
class Observer {
  public:
    virtual ~Observer() = default;
    Observer(const Observer&) = delete;
    Observer& operator=(const Observer&) = delete;
    virtual void cell(const Cell&) {}
    virtual void end(const Comparison&) {}

  protected:
    Observer() = default;
};

class Runner {
  public:
    Runner(Job& job, const Parameters& parameters, Selection& selection, const Target& target,
           std::vector<Observer*> observers);

    Ending run();

  private:
    /// One pass of all contenders: a repetition, or the warm-up, of which only failures are told.
    struct Pass {
        std::int64_t repetition = 0;
        bool warm_up = false;
    };
    void all_points(const Pass& pass);
    void measure(const Pass& pass, const Volume& volume, const Comm& comm);
    void measure_one(const Pass& pass, const Volume& volume, const Comm& comm, Contender& contender,
                     int partner);
    void carry_out(const Pass& pass, Cell cell, const Comm& comm, const ArrayTransfer& transfer);
    template <class Work>
    void each_cube(const Volume& volume, int owner, Work&& work);

    Job& job_;
    Session& session_;
    const Parameters& parameters_;
    Selection& selection_;
    const Target& target_;
    std::vector<Observer*> observers_;
    Buffer memory_;
    Comparison comparison_;
    std::int64_t number_ = 0;  ///< of the pass, so that no file can be mistaken for another
    std::int64_t points_ = 0;
    std::int64_t data_errors_ = 0;
    Outcome fatal_;
    bool stopping_ = false;
};

}  // namespace effio::libraries
