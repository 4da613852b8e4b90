// SPDX-License-Identifier: BSD-3-Clause
// Fortran unformatted sequential records as gfortran writes them by default: a length mark of four
// bytes before and after the payload. A payload of more than 2^31-9 bytes goes into subrecords; the
// leading mark of a subrecord is negative if another follows, the trailing one if one came before
// (docs/definitions/libraries.md; gfortran manual, "File format of unformatted sequential files").
#pragma once

#include <algorithm>
#include <cstdint>

namespace effio {

class RecordLayout {
  public:
    static constexpr std::int64_t mark_bytes = 4;
    static constexpr std::int64_t subrecord_limit = 2147483639;

    /// `limit` other than the default is for tests.
    explicit RecordLayout(std::int64_t payload, std::int64_t limit = subrecord_limit)
        : payload_(payload), limit_(limit) {}

    std::int64_t subrecords() const {
        return std::max<std::int64_t>(1, (payload_ + limit_ - 1) / limit_);
    }
    /// Payload and marks.
    std::int64_t bytes() const { return payload_ + 2 * mark_bytes * subrecords(); }

    struct Subrecord {
        std::int64_t payload_begin = 0;  ///< in the payload
        std::int64_t payload_bytes = 0;
        std::int64_t leading_at = 0;   ///< in the record, of the leading mark
        std::int64_t data_at = 0;      ///< in the record, of the data
        std::int64_t trailing_at = 0;  ///< in the record, of the trailing mark
        std::int32_t leading = 0;
        std::int32_t trailing = 0;
    };
    Subrecord subrecord(std::int64_t index) const {
        Subrecord s;
        s.payload_begin = index * limit_;
        s.payload_bytes = std::min(limit_, payload_ - s.payload_begin);
        s.leading_at = index * (limit_ + 2 * mark_bytes);
        s.data_at = s.leading_at + mark_bytes;
        s.trailing_at = s.data_at + s.payload_bytes;
        const auto length = static_cast<std::int32_t>(s.payload_bytes);
        s.leading = index + 1 < subrecords() ? -length : length;
        s.trailing = index > 0 ? -length : length;
        return s;
    }
    /// The subrecord that holds a byte of the payload.
    std::int64_t subrecord_of(std::int64_t payload_offset) const { return payload_offset / limit_; }

  private:
    std::int64_t payload_;
    std::int64_t limit_;
};

}  // namespace effio
