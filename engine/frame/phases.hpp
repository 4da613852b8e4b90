// SPDX-License-Identifier: BSD-3-Clause
// The parts of one timed operation in which all ranks take part, e.g. open, transfer, close of a
// shared file. After a part the ranks agree on how it went, so that none goes into a collective
// call that others will not reach; where no such call follows, each can continue alone.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/clock.hpp"
#include "parallel/agree.hpp"
#include "parallel/common_clock.hpp"
#include "parallel/over_ranks.hpp"
#include "parallel/session.hpp"

namespace effio {

/// When a rank did a part: seconds since the ranks' common start.
struct PartSpan {
    std::string name;
    double begin = 0;
    double end = 0;     ///< of its own work
    double agreed = 0;  ///< the end of the agreement after it, if there was one
    // Seconds of waiting after it, where ranks wait after each part:
    double file_wait = 0;    ///< for the ranks of the same file
    double global_wait = 0;  ///< for all, after that
    double seconds() const { return end - begin; }
};
/// The one of this name; one that was left out took no time.
inline const PartSpan& part_of(const std::vector<PartSpan>& parts, std::string_view name) {
    static const PartSpan none;
    for (const auto& part : parts) {
        if (part.name == name) return part;
    }
    return none;
}

class Phases {
  public:
    /// Collective: the interval begins after a barrier of `common`, which is of `comm`. `mine` is
    /// what this rank knows, and all learn it at the next agreement.
    Phases(Session& session, const Comm& comm, CommonClock& common, Outcome& mine)
        : session_(session), comm_(comm), common_(common), mine_(mine), begin_(common_.start()) {}

    /// From now on all ranks wait after each part for those of their `file`, then for all: two
    /// separate parts, `file_barrier` and `global_barrier`.
    void wait_after_parts(const Comm& file) { file_ = &file; }

    /// Times `work`, which returns a Status, on this rank. Collective unless the ranks continue
    /// `alone`: then nothing is agreed on, and what failed here stops no other rank. True if all is
    /// well, on all ranks or on this one. Wrong data stop no rank.
    template <class Work>
    bool part(std::string name, bool alone, Work&& work) {
        const double begin = now();
        if (Status status = work(); !status) {
            mine_.fail(session_.signed_error(std::move(status.error())));
        }
        parts_.push_back({std::move(name), begin, now()});
        PartSpan& part = parts_.back();
        wait_after(part);
        if (alone) {
            part.agreed = part.end;
            return !stops(mine_.error);
        }
        mine_.interrupted = session_.interrupted.load();
        agreed_ = agree(session_, comm_, mine_);
        part.agreed = now();
        return !stops(agreed_.error);
    }

    /// The same for `work` that belongs to no part and to no sum of seconds: the rank's clock
    /// is stopped until it is over.
    template <class Work>
    bool untimed(bool alone, Work&& work) {
        const double begin = now();
        if (Status status = work(); !status) {
            mine_.fail(session_.signed_error(std::move(status.error())));
        }
        bool good = !stops(mine_.error);
        if (!alone) {
            mine_.interrupted = session_.interrupted.load();
            agreed_ = agree(session_, comm_, mine_);
            good = !stops(agreed_.error);
        }
        begin_ += now() - begin;
        return good;
    }

    /// Collective, once, after the last part.
    void finish() {
        late_ = common_.late();
        for (PartSpan& part : parts_) {
            for (double* moment : {&part.begin, &part.end, &part.agreed}) *moment += late_;
        }
    }

    /// What the ranks agreed on last.
    const Agreed& agreed() const { return agreed_; }
    /// This rank's clock at the ranks' common start; known after finish().
    double start() const { return begin_ - late_; }
    /// Seconds by which this rank started after the first one.
    double late() const { return late_; }
    const std::vector<PartSpan>& parts() const { return parts_; }
    /// Seconds from the ranks' common start to the end of this rank's last part.
    double total() const { return parts_.empty() ? late_ : parts_.back().agreed; }
    /// The same without the part `name` and the agreement after it.
    double total_without(std::string_view name) const {
        double without = 0;
        for (const auto& part : parts_) {
            if (part.name == name) without += part.agreed - part.begin;
        }
        return remainder_of(total(), without);
    }
    /// "total", the parts by name, "late": before this rank's own start, and "agree": what is
    /// between the parts.
    std::vector<NamedNumber> seconds() const {
        std::vector<NamedNumber> list{{"total", total()}};
        double known = late_;
        for (const auto& part : parts_) {
            list.emplace_back(part.name, part.seconds());
            known += part.seconds();
        }
        if (file_ != nullptr) {
            double file_wait = 0;
            double global_wait = 0;
            for (const auto& part : parts_) {
                file_wait += part.file_wait;
                global_wait += part.global_wait;
            }
            list.emplace_back("file_barrier", file_wait);
            list.emplace_back("global_barrier", global_wait);
            known += file_wait + global_wait;
        }
        list.emplace_back("late", late_);
        list.emplace_back("agree", remainder_of(total(), known));
        return list;
    }

  private:
    static bool stops(const std::optional<Error>& error) {
        return error && error->exit_code != ExitCode::data_errors;
    }
    /// Seconds since this rank's own start.
    double now() const { return session_.clock.now() - begin_; }
    void wait_after(PartSpan& part) const {
        if (file_ == nullptr) return;
        const double begin = now();
        file_->barrier();
        const double middle = now();
        comm_.barrier();
        part.file_wait = middle - begin;
        part.global_wait = now() - middle;
    }

    Session& session_;
    const Comm& comm_;
    CommonClock& common_;
    Outcome& mine_;
    double begin_;
    double late_ = 0;
    const Comm* file_ = nullptr;
    std::vector<PartSpan> parts_;
    Agreed agreed_;
};

}  // namespace effio
