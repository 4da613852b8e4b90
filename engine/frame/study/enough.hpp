// SPDX-License-Identifier: BSD-3-Clause
// Of a study over numbers of ranks: how many are enough for each of its curves.
#pragma once

#include <string>
#include <vector>

#include "core/saturation.hpp"
#include "frame/study/result.hpp"

namespace effio::study {

/// One curve: all that is alike but for the number of ranks.
struct EnoughRanks {
    Json where = Json::object();  ///< coordinates without that of the ranks
    std::string where_text;
    std::string fault_text;  ///< of the first point that has one, with its number of ranks
    std::vector<int> ranks;
    std::int64_t rounds = 0;  ///< that measured all of them
    Saturation found;

    int of_point() const { return ranks[found.point]; }
    /// The smallest number of ranks that is enough; no value if it is not known.
    Figure figure(const std::string& benchmark) const;
    /// "use 12 of 64 processes for I/O …".
    std::string sentence() const;
    /// Why the number is not known; empty if it is.
    std::string why_not_known() const;
};

/// The figure's detail.
const Fields<EnoughRanks>& enough_fields();
/// Curves of two numbers of ranks at least, by the repetitions that measured all of them.
std::vector<EnoughRanks> enough_of(const Definition& definition, const std::vector<Mean>& means);

}  // namespace effio::study
