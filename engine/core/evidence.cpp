// SPDX-License-Identifier: BSD-3-Clause
#include "core/evidence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/or_null.hpp"

namespace effio {
std::string_view name(Whereabouts where) {
    switch (where) {
        case Whereabouts::cache:
            return "cache";
        case Whereabouts::mixed:
            return "mixed";
        case Whereabouts::device:
            return "device";
        case Whereabouts::unknown:
            break;
    }
    return "unknown";
}

Whereabouts whereabouts_of(double storage_fraction) {
    constexpr double nearly = 0.05;
    if (storage_fraction >= 1 - nearly) return Whereabouts::device;
    return storage_fraction <= nearly ? Whereabouts::cache : Whereabouts::mixed;
}

std::string words(Whereabouts where, std::optional<double> storage_fraction, bool reading) {
    const char* place = reading ? "from storage" : "on storage";
    switch (where) {
        case Whereabouts::device:
            return place;
        case Whereabouts::cache:
            return reading ? "from memory" : "into memory";
        case Whereabouts::mixed:
            if (!storage_fraction) return fmt::format("partly {}", place);
            // Never "100 %" or "0 %" if a part is elsewhere.
            return fmt::format("{:.0f} % {}", std::clamp(100 * *storage_fraction, 1.0, 99.0),
                               place);
        case Whereabouts::unknown:
            break;
    }
    return "memory or storage: not known";
}

Json NetworkEvidence::to_json() const {
    const auto json_of = [](const std::optional<NetworkBytes>& bytes) {
        if (!bytes) return Json(nullptr);
        return Json{{"received_bytes", bytes->received}, {"sent_bytes", bytes->sent}};
    };
    return Json{
        {"interfaces", json_of(interfaces)}, {"client", json_of(client)}, {"copies", copies}};
}

Json CacheEvidence::to_json() const {
    Json out{{"verdict", name(verdict)},
             {"storage_fraction", or_null(storage_fraction)},
             {"reason", reason},
             {"methods", methods},
             {"resident_before_fraction", or_null(resident_before)},
             {"resident_after_fraction", or_null(resident_after)},
             {"process_read_bytes", or_null(process_read)},
             {"process_written_bytes", or_null(process_written)},
             {"device_read_bytes", or_null(device_read)},
             {"device_written_bytes", or_null(device_written)},
             {"client", client.empty() ? Json(nullptr) : Json(client)},
             {"client_read_bytes", or_null(client_read)},
             {"client_written_bytes", or_null(client_written)},
             {"unwritten_bytes", or_null(unwritten)},
             {"others_bytes", or_null(others)}};
    if (holes) out["hole_fraction"] = *holes;
    if (network) out["network"] = network->to_json();
    return out;
}

void StorageShare::add(const std::optional<CacheEvidence>& evidence, std::int64_t bytes) {
    const auto all = static_cast<double>(bytes);
    if (!evidence || !evidence->storage_fraction) {
        unknown_bytes_ += all;
        return;
    }
    known_bytes_ += all;
    storage_bytes_ += *evidence->storage_fraction * all;
}

std::optional<double> StorageShare::value() const {
    constexpr double nearly = 0.05;
    if (!(known_bytes_ > 0) || unknown_bytes_ > nearly * (known_bytes_ + unknown_bytes_)) return {};
    return storage_bytes_ / known_bytes_;
}

std::string StorageShare::words(bool reading) const {
    const auto share = value();
    return effio::words(share ? whereabouts_of(*share) : Whereabouts::unknown, share, reading);
}

}  // namespace effio
