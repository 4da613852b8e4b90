// SPDX-License-Identifier: BSD-3-Clause
// The parts of one timed operation in which all ranks take part, e.g. open, transfer, close of a
// shared file. After each part the ranks agree on how it went, so that none goes into a collective
// call that others will not reach.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/clock.hpp"
#include "parallel/agree.hpp"
#include "parallel/common_clock.hpp"
#include "parallel/over_ranks.hpp"
#include "parallel/session.hpp"

namespace effio {

class Phases {
  public:
    /// Collective: the interval begins after a barrier. `topology` as for CommonClock.
    Phases(Session& session, const Comm& comm, const Topology& topology)
        : session_(session),
          comm_(comm),
          common_(comm, topology),
          begin_(common_.start()),
          end_(begin_) {}

    /// From now on all ranks wait after each part for those of their `file`, then for all: two
    /// parts of their own, `file_barrier` and `global_barrier`.
    void wait_after_parts(const Comm& file) { file_ = &file; }

    /// Collective. Times `work`, which returns a Status, on this rank; then the ranks agree.
    /// Nothing is done once a part has failed. True if the part went well on all ranks.
    template <class Work>
    bool part(std::string name, Work&& work) {
        if (agreed_.failed()) return false;
        const double begin = session_.clock.now();
        Status status = work();
        const double seconds = session_.clock.now() - begin;
        wait();
        Outcome mine;
        if (!status) mine.fail(session_.signed_error(std::move(status.error())));
        mine.interrupted = session_.interrupted.load();
        agreed_ = agree(session_, comm_, mine);
        end_ = session_.clock.now();
        parts_.push_back({std::move(name), seconds, end_ - begin});
        return !agreed_.failed();
    }

    /// Collective, once, after the last part.
    void finish() { late_ = common_.late(); }

    const Agreed& agreed() const { return agreed_; }
    /// This rank's clock at the ranks' common start; known after finish().
    double start() const { return begin_ - late_; }
    /// Seconds from the ranks' common start to the end of this rank's last part.
    double total() const { return late_ + end_ - begin_; }
    /// The same without the part `name` and the agreement after it.
    double total_without(const std::string& name) const {
        double seconds = total();
        for (const auto& part : parts_) {
            if (part.name == name) seconds -= part.with_agreement;
        }
        return seconds;
    }
    /// "total", the parts by name, "late": before this rank's own start, and "agree": what lies
    /// between the parts.
    std::vector<Named> seconds() const {
        std::vector<Named> list{{"total", total()}};
        double rest = total() - late_;
        for (const auto& part : parts_) {
            list.emplace_back(part.name, part.seconds);
            rest -= part.seconds;
        }
        if (file_ != nullptr) {
            list.emplace_back("file_barrier", file_wait_);
            list.emplace_back("global_barrier", global_wait_);
            rest -= file_wait_ + global_wait_;
        }
        list.emplace_back("late", late_);
        list.emplace_back("agree", rest);
        return list;
    }

  private:
    void wait() {
        if (file_ == nullptr) return;
        const double begin = session_.clock.now();
        file_->barrier();
        const double middle = session_.clock.now();
        comm_.barrier();
        file_wait_ += middle - begin;
        global_wait_ += session_.clock.now() - middle;
    }

    struct Part {
        std::string name;
        double seconds = 0;
        double with_agreement = 0;
    };
    Session& session_;
    const Comm& comm_;
    CommonClock common_;
    double begin_;
    double end_;
    double late_ = 0;
    const Comm* file_ = nullptr;
    double file_wait_ = 0;
    double global_wait_ = 0;
    std::vector<Part> parts_;
    Agreed agreed_;
};

}  // namespace effio
