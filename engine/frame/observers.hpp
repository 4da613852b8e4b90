// SPDX-License-Identifier: BSD-3-Clause
// Observers of a run: on its root only.
#pragma once

#include <utility>
#include <vector>

#include "parallel/session.hpp"

namespace effio {

/// What is used through its base.
class Interface {
  public:
    virtual ~Interface() = default;
    Interface(const Interface&) = delete;
    Interface& operator=(const Interface&) = delete;

  protected:
    Interface() = default;
};

template <class Observer>
class Observers {
  public:
    /// All outlive this; a null pointer is ignored.
    Observers(const Session& session, std::vector<Observer*> all)
        : session_(session), all_(std::move(all)) {}

    /// `event(observer)` for each, in their order.
    template <class Event>
    void operator()(Event&& event) const {
        if (!session_.comm.is_root()) return;
        for (Observer* observer : all_) {
            if (observer != nullptr) event(*observer);
        }
    }

  private:
    const Session& session_;
    std::vector<Observer*> all_;
};

}  // namespace effio
