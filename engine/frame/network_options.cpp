// SPDX-License-Identifier: BSD-3-Clause
#include "frame/network_options.hpp"

#include <fmt/format.h>

namespace effio {

void NetworkOptions::declare(OptionTable& table) {
    table.group("Messages");
    table.add("backend", backend, "what carries the messages: MPI, or a model in virtual time")
        .choices({"mpi", "sim"});
    table
        .add("backend-options", settings,
             "settings of sim, key=value,…: message-latency, message-rate, link-rate (shared by "
             "all messages under way), collective (cost of a barrier or reduction), noise (kinds: "
             "see Known noise in docs/reading.md), noise-seed")
        .metavar("K=V,…");
    table.choice("verify", verify, {{"ends", VerifiedBytes::ends}, {"all", VerifiedBytes::all}},
                 "bytes to check: the first and last byte of each message, inside the timed "
                 "interval (ends); also, after each timed series, all bytes of its last 64 MiB of "
                 "messages (all)");
}

Status NetworkOptions::check() {
    if (auto set = read_settings(); !set) return set;
    // Loops are made longer until time passes, which here it never would.
    const bool free = model.message_latency.count <= 0 && model.message_rate.count <= 0 &&
                      model.link_rate.count <= 0;
    if (virtual_time() && free) {
        return usage_error(
            "--backend sim: messages take no time; give --backend-options message-latency=TIME, "
            "message-rate=RATE or link-rate=RATE");
    }
    return {};
}

Status NetworkOptions::read_settings() {
    if (settings.empty()) return {};
    if (!virtual_time()) {
        return usage_error(fmt::format("--backend-options: {} takes no settings", backend));
    }
    OptionTable table("sim", "messages in virtual time by a model");
    model.declare_messages(table);
    if (auto set = table.set_all(settings); !set) {
        return usage_error(fmt::format("--backend-options ({}): {}", backend, set.error().cause));
    }
    return {};
}

Json NetworkOptions::describe() const {
    if (!virtual_time()) return Json{{"name", backend}, {"settings", Json::object()}};
    SimModel copy = model;
    OptionTable table("sim", "messages in virtual time by a model");
    copy.declare_messages(table);
    return Json{{"name", backend}, {"settings", table.values()}};
}

ExchangeMaker NetworkOptions::maker() const {
    if (!virtual_time()) {
        return [](const Comm& comm, LinkLoad) { return make_mpi_exchange(comm); };
    }
    // Each exchange has its own noise; otherwise every pattern would have the same noise.
    constexpr std::int64_t apart = 100'003;
    return [model = model, made = std::int64_t{0}](const Comm& comm, LinkLoad load) mutable {
        SimModel own = model;
        own.noise_seed += apart * made++;
        return make_sim_exchange(comm, own, load);
    };
}

}  // namespace effio
