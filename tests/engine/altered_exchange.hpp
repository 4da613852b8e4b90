// SPDX-License-Identifier: BSD-3-Clause
// An exchange that changes messages after they have arrived.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <utility>

#include "parallel/exchange.hpp"

namespace effio {

class AlteredExchange : public Exchange {
  public:
    /// `alter` is called for each message that arrives.
    using Alter = std::function<void(Method, const Step&)>;
    AlteredExchange(std::unique_ptr<Exchange> inner, Alter alter)
        : inner_(std::move(inner)), alter_(std::move(alter)) {}

  protected:
    void do_prepare(Method method) override { inner_->prepare(method); }
    void sendrecv(std::span<const Step> steps) override { pass(Method::sendrecv, steps); }
    void alltoallv(std::span<const Step> steps) override { pass(Method::alltoallv, steps); }
    void nonblocking(std::span<const Step> steps) override { pass(Method::nonblocking, steps); }

  private:
    void pass(Method method, std::span<const Step> steps) {
        inner_->run(method, steps);
        for (const Step& step : steps) {
            if (step.from) alter_(method, step);
        }
    }
    std::unique_ptr<Exchange> inner_;
    Alter alter_;
};

}  // namespace effio
