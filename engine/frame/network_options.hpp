// SPDX-License-Identifier: BSD-3-Clause
// The options that all benchmarks of communication share: what their messages travel over.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/json.hpp"
#include "core/options.hpp"
#include "core/sim_model.hpp"
#include "parallel/exchange.hpp"

namespace effio {

/// Makes the exchange of a communicator; tests put themselves in between here.
using ExchangeMaker = std::function<std::unique_ptr<Exchange>(const Comm&, LinkLoad)>;

/// Bytes of messages that are checked: the first and last byte of each message, or in addition,
/// after each timed series, all bytes of its messages (KeptMessages).
enum class VerifiedBytes : char { ends, all };

struct NetworkOptions {
    std::string backend = "mpi";
    VerifiedBytes verify = VerifiedBytes::ends;
    std::string settings;  ///< "key=value,key=value"
    SimModel model;

    void declare(OptionTable& table);
    /// Reads the settings; call from Benchmark::check. A model in which messages take no time is
    /// refused.
    Status check();
    bool verifies_all() const { return verify == VerifiedBytes::all; }
    bool virtual_time() const { return backend == "sim"; }
    Json describe() const;
    ExchangeMaker maker() const;

  private:
    Status read_settings();
};

}  // namespace effio
