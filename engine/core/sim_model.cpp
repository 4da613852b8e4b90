// SPDX-License-Identifier: BSD-3-Clause
#include "core/sim_model.hpp"

namespace effio {

void SimModel::declare(OptionTable& table) {
    table.add("latency", latency, "of each transfer").range(0, 1e6);
    table.add("rank-rate", rank_rate, "storage rate of one rank; 0 = no limit").range(0, 1e18);
    table
        .add("shared-rate", shared_rate,
             "storage rate shared evenly by the active ranks; 0 = no limit")
        .range(0, 1e18);
    table.add("open", open, "cost of an open").range(0, 1e6);
    table.add("close", close, "cost of a close").range(0, 1e6);
    table.add("sync", sync, "cost of a sync beside the flush of the cache").range(0, 1e6);
    table.add("cache", cache, "write-back cache of a rank").range(0, 1e18);
    table.add("cache-rate", cache_rate, "rate of transfers the cache takes; 0 = no limit")
        .range(0, 1e18);
    table.add("metadata", metadata, "cost of a namespace operation").range(0, 1e6);
    table.flag("no-content", no_content, "keep no data; verification is then impossible");
    declare_messages(table);
}

void SimModel::declare_messages(OptionTable& table) {
    table.add("message-latency", message_latency, "of a message").range(0, 1e6);
    table.add("message-rate", message_rate, "rate of a message; 0 = no limit").range(0, 1e18);
    table
        .add("link-rate", link_rate,
             "rate of a link that all messages under way share; 0 = no limit")
        .range(0, 1e18);
    table.add("collective", collective, "cost of a barrier, broadcast or reduction").range(0, 1e6);
}

}  // namespace effio
