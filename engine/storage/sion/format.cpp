// SPDX-License-Identifier: BSD-3-Clause
#include "storage/sion/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "core/units.hpp"
#include "core/whole.hpp"

namespace effio::sion {
namespace {

constexpr std::array<char, 4> magic{'s', 'i', 'o', 'n'};
constexpr std::int64_t prefix_offset = 52;
constexpr std::int64_t prefix_bytes = longest_prefix + 1;
static_assert(lists_offset == prefix_offset + prefix_bytes);
constexpr std::int64_t bytes_besides_lists = lists_offset + 12;

/// Integers one after the other in memory.
class Encoder {
  public:
    explicit Encoder(ByteOrder order) : order_(order) {}

    void text(std::string_view bytes, std::size_t room) {
        for (const char c : bytes) bytes_.push_back(static_cast<std::byte>(c));
        bytes_.resize(bytes_.size() + room - bytes.size());
    }
    void byte(unsigned value) { bytes_.push_back(static_cast<std::byte>(value)); }
    void int32(std::int64_t value) { integer(static_cast<std::uint64_t>(value), 4); }
    void int64(std::int64_t value) { integer(static_cast<std::uint64_t>(value), 8); }
    void list(std::span<const std::int64_t> values) {
        for (const auto value : values) int64(value);
    }
    std::vector<std::byte> take() { return std::move(bytes_); }

  private:
    void integer(std::uint64_t value, int bytes) {
        for (int i = 0; i < bytes; ++i) {
            const int place = order_ == ByteOrder::little ? i : bytes - 1 - i;
            byte(static_cast<unsigned>(value >> (8 * place)) & 0xffU);
        }
    }
    ByteOrder order_;
    std::vector<std::byte> bytes_;
};

std::uint64_t decode(std::span<const std::byte> bytes, ByteOrder order) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        const std::size_t place = order == ByteOrder::big ? i : bytes.size() - 1 - i;
        value = value << 8U | std::to_integer<std::uint64_t>(bytes[place]);
    }
    return value;
}

/// Integers one after the other in a file; what is requested must be there.
class Decoder {
  public:
    Decoder(Source& source, std::int64_t offset) : source_(source), offset_(offset) {}

    ByteOrder order = ByteOrder::little;

    std::int64_t offset() const { return offset_; }
    const std::string& path() const { return source_.path(); }
    Error wrong(std::string cause) const { return malformed(path(), place_, std::move(cause)); }

    Status bytes(std::span<std::byte> data) {
        place_ = offset_;
        const auto length = static_cast<std::int64_t>(data.size());
        if (length > source_.size() - offset_) {
            return wrong(fmt::format("the file ends after {}, in the middle of its metadata",
                                     exact_size(source_.size())));
        }
        offset_ += length;
        // If a read does not fill the memory, these bytes are neither a valid number nor a valid
        // text.
        std::fill(data.begin(), data.end(), std::byte{0xff});
        return source_.read(place_, data);
    }
    Result<std::int64_t> int32() {
        const auto word = integer<4>();
        if (!word) return Error(word.error());
        return static_cast<std::int32_t>(static_cast<std::uint32_t>(*word));
    }
    Result<std::int64_t> int64() {
        const auto word = integer<8>();
        if (!word) return Error(word.error());
        return static_cast<std::int64_t>(*word);
    }
    /// `count` numbers; `accept(index, value)` says what is wrong with one, or nothing. The list
    /// grows as it is read and found good.
    template <class Accept>
    Result<std::vector<std::int64_t>> list(std::int64_t count, Accept&& accept) {
        place_ = offset_;
        if (count > (source_.size() - offset_) / 8) {
            return wrong(fmt::format("{} numbers of 8 B are to follow, and the file ends after {}",
                                     count, exact_size(source_.size())));
        }
        // A hole costs whoever made the file nothing; what is read from it costs memory.
        constexpr std::int64_t free_of_doubt = std::int64_t{1} << 20;
        constexpr std::int64_t sparsest = 8;
        if (count > free_of_doubt) {
            const std::int64_t stored = source_.stored(offset_, 8 * count);
            if (stored < 8 * count / sparsest) {
                return wrong(
                    fmt::format("{} numbers of 8 B are to follow, of which only {} are "
                                "stored: the rest is a hole",
                                count, exact_size(stored)));
            }
        }
        constexpr std::int64_t piece = 4096;
        std::array<std::byte, 8 * piece> buffer;
        std::vector<std::int64_t> values;
        while (std::ssize(values) < count) {
            const std::int64_t done = std::ssize(values);
            const auto now = static_cast<std::size_t>(std::min(piece, count - done));
            const auto part = std::span(buffer).first(8 * now);
            if (auto read = bytes(part); !read) return std::move(read.error());
            const std::int64_t begin = place_;
            for (std::size_t i = 0; i < now; ++i) {
                const auto value = static_cast<std::int64_t>(decode(part.subspan(8 * i, 8), order));
                place_ = begin + static_cast<std::int64_t>(8 * i);
                std::string reason = accept(done + static_cast<std::int64_t>(i), value);
                if (!reason.empty()) return wrong(std::move(reason));
                values.push_back(value);
            }
        }
        return values;
    }

  private:
    template <std::size_t Bytes>
    Result<std::uint64_t> integer() {
        std::array<std::byte, Bytes> word{};
        if (auto read = bytes(word); !read) return std::move(read.error());
        return decode(word, order);
    }

    Source& source_;
    std::int64_t offset_;
    std::int64_t place_ = 0;  ///< of the last number read
};

Status read_orders(Decoder& in, Header& head) {
    std::array<std::byte, 4> word{};
    if (auto read = in.bytes(word); !read) return read;
    const auto flag = [&](std::size_t i) { return std::to_integer<unsigned>(word[i]); };
    if (flag(0) > 1 || flag(1) > 1 || flag(0) != flag(3) || flag(1) != flag(2)) {
        return in.wrong(
            fmt::format("the byte order is written {:02x} {:02x} {:02x} {:02x}, which "
                        "is none",
                        flag(0), flag(1), flag(2), flag(3)));
    }
    head.metadata = flag(0) == 1 ? ByteOrder::big : ByteOrder::little;
    head.data = flag(1) == 1 ? ByteOrder::big : ByteOrder::little;
    in.order = head.metadata;
    return {};
}

/// The next number into `field`, if `least` <= it <= `most`.
template <class Field>
Status take(Decoder& in, Result<std::int64_t> (Decoder::*read)(), Field& field, const char* what,
            std::int64_t least, std::int64_t most) {
    const auto value = (in.*read)();
    if (!value) return Error(value.error());
    if (*value < least || *value > most) {
        return in.wrong(fmt::format("{} {} is not in {} … {}", what, *value, least, most));
    }
    field = static_cast<Field>(*value);
    return {};
}

Status read_prefix(Decoder& in, Header& head) {
    std::array<std::byte, prefix_bytes> name{};
    if (auto read = in.bytes(name); !read) return read;
    const auto end = std::find(name.begin(), name.end(), std::byte{0});
    if (end == name.end()) return in.wrong("the name of the container has no end");
    for (auto it = name.begin(); it != end; ++it) {
        head.prefix.push_back(static_cast<char>(std::to_integer<unsigned char>(*it)));
    }
    return {};
}

Status read_lists(Decoder& in, std::int64_t tasks, Header& head) {
    const std::int64_t begin = in.offset();
    const auto negative = [](std::int64_t, std::int64_t rank) {
        return rank < 0 ? fmt::format("rank {} of a task is negative", rank) : std::string();
    };
    auto ranks = in.list(tasks, negative);
    if (!ranks) return std::move(ranks.error());
    head.ranks = std::move(*ranks);
    // Unordered, as they may be; the second of two equal ones is the wrong one.
    std::vector<std::pair<std::int64_t, std::int64_t>> sorted;
    for (std::int64_t i = 0; i < tasks; ++i) {
        sorted.emplace_back(head.ranks[static_cast<std::size_t>(i)], i);
    }
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t i = 1; i < sorted.size(); ++i) {
        if (sorted[i].first != sorted[i - 1].first) continue;
        return malformed(in.path(), begin + 8 * sorted[i].second,
                         fmt::format("two tasks of the file have rank {}", sorted[i].first));
    }
    auto chunks = in.list(tasks, [](std::int64_t task, std::int64_t bytes) {
        return bytes < 0 ? fmt::format("the chunks of task {} have {}", task, exact_size(bytes))
                         : std::string();
    });
    if (!chunks) return std::move(chunks.error());
    head.chunks = std::move(*chunks);
    return {};
}

Result<Header> read_head(Source& source) {
    Header head;
    Decoder in(source, 0);
    std::array<std::byte, 4> begin{};
    if (auto read = in.bytes(begin); !read) return std::move(read.error());
    if (std::memcmp(begin.data(), magic.data(), magic.size()) != 0) {
        return in.wrong("not a SION file: it does not begin with \"sion\"");
    }
    constexpr std::int64_t most = 2147483647;
    constexpr std::int64_t any = std::int64_t{1} << 62;
    const auto int32 = &Decoder::int32;
    const auto int64 = &Decoder::int64;
    std::int64_t tasks = 0;
    std::int64_t mode = 0;
    std::int64_t flags = 0;
    Status s = read_orders(in, head);
    if (s) s = take(in, int32, head.library, "library version", 0, most);
    if (s) s = take(in, int32, head.patch, "patch level", 0, most);
    if (s) s = take(in, int32, head.version, "format version", oldest_version, newest_version);
    if (s) s = take(in, int32, head.block, "block size", 1, most);
    if (s) s = take(in, int32, tasks, "number of tasks", 1, most);
    if (s) s = take(in, int32, head.files, "number of files", 1, most);
    // The serial interface, and so siondefrag, numbers the only file of a container 1.
    const std::int64_t last = head.files == 1 ? 1 : head.files - 1;
    if (s) s = take(in, int32, head.file_number, "number of the file", 0, last);
    if (s && head.files == 1) head.file_number = 0;
    if (s) s = take(in, int64, mode, "flags", -any, any);
    if (!s) return std::move(s.error());
    const std::int64_t keys = mode >> 32;
    // Formats before 5 have no keys.
    if (head.version < newest_version || mode == 0) {
        head.key_values = KeyValues::none;
    } else if (keys < 50 || keys > 53) {
        return in.wrong(fmt::format("key-value mode {} is not in 50 … 53", keys));
    } else {
        head.key_values = static_cast<KeyValues>(keys);
    }
    s = take(in, int64, flags, "flags", -any, any);
    if (s) s = read_prefix(in, head);
    if (s) s = read_lists(in, tasks, head);
    if (s) s = take(in, int32, head.rows, "number of chunks", 0, most);
    if (s) s = take(in, int64, head.tail, "place of the tail", 0, any);
    if (!s) return std::move(s.error());
    return head;
}

Status read_chunk_uses(Decoder& in, File& file) {
    const Header& head = file.head;
    auto used = in.list(head.tasks(), [&](std::int64_t task, std::int64_t count) {
        return count >= 0 && count <= head.rows
                   ? std::string()
                   : fmt::format("task {} uses {} chunks of {}", task, count, head.rows);
    });
    if (!used) return std::move(used.error());
    file.tail.used = std::move(*used);
    // Cannot overflow: a list that does not fit into the file is refused by its length, and both
    // are below 2^31.
    auto bytes = in.list(head.rows * head.tasks(), [&](std::int64_t index, std::int64_t value) {
        const std::int64_t task = index % head.tasks();
        const std::int64_t row = index / head.tasks();
        const bool unused = row >= file.tail.used[static_cast<std::size_t>(task)];
        if (unused ? value == 0 || value == -1 : value >= 0 && value <= file.chunks.room(task)) {
            return std::string();
        }
        return unused ? fmt::format("chunk {} of task {} holds {} and is not used", row, task,
                                    exact_size(value))
                      : fmt::format("chunk {} of task {} holds {} of {}", row, task,
                                    exact_size(value), exact_size(file.chunks.room(task)));
    });
    if (!bytes) return std::move(bytes.error());
    file.tail.bytes = std::move(*bytes);
    return {};
}

Status read_places(Decoder& in, File& file) {
    const auto count = in.int32();
    if (!count) return Error(count.error());
    if (*count < file.head.files) {
        return in.wrong(fmt::format("places of {} ranks in {} files", *count, file.head.files));
    }
    // Two numbers of 4 bytes each: as one of 8, the first in its upper half where bytes are big.
    const bool big = in.order == ByteOrder::big;
    const auto place_of = [big](std::int64_t word) {
        const auto bits = static_cast<std::uint64_t>(word);
        const auto upper = static_cast<std::int32_t>(static_cast<std::uint32_t>(bits >> 32U));
        const auto lower = static_cast<std::int32_t>(static_cast<std::uint32_t>(bits));
        return big ? Tail::TaskIndex{upper, lower} : Tail::TaskIndex{lower, upper};
    };
    auto words = in.list(*count, [&](std::int64_t rank, std::int64_t word) {
        const Tail::TaskIndex place = place_of(word);
        return place.file >= 0 && place.file < file.head.files && place.task >= 0
                   ? std::string()
                   : fmt::format("rank {} is task {} of file {}; there are {} files", rank,
                                 place.task, place.file, file.head.files);
    });
    if (!words) return std::move(words.error());
    for (const auto word : *words) file.tail.places.push_back(place_of(word));
    return {};
}

}  // namespace

Error malformed(const std::string& path, std::int64_t offset, std::string cause) {
    Error error = io_error("cannot read SION metadata", path, std::move(cause));
    error.exit_code = ExitCode::data_errors;
    error.offset = offset;
    return error;
}

std::int64_t Header::bytes() const {
    return bytes_besides_lists + 16 * tasks();
}

Result<Chunks> Chunks::of(const Header& head) {
    const auto too_large = [&](std::size_t task) {
        return malformed({}, lists_offset + 8 * (head.tasks() + static_cast<std::int64_t>(task)),
                         "the chunks up to this one have more than 2^63 bytes");
    };
    if (head.block <= 0) return malformed({}, 20, "the block has no bytes");
    Chunks chunks;
    std::int64_t end = rounded_up(head.bytes(), head.block);
    chunks.begins_.push_back(end);
    for (std::size_t task = 0; task < head.chunks.size(); ++task) {
        std::int64_t room = head.chunks[task];
        if (head.version < 4) {
            if (!sum_of({room, head.block})) return too_large(task);
            room = rounded_up(room, head.block);
        }
        const auto next = sum_of({end, room});
        if (!next) return too_large(task);
        chunks.begins_.push_back(end = *next);
    }
    return chunks;
}

Result<std::int64_t> Chunks::tail(std::int64_t rows) const {
    const auto all = product_of({rows, row_bytes()});
    const auto end = all ? sum_of({begins_.front(), *all}) : all;
    if (!end)
        return malformed({}, 0, fmt::format("{} rows of chunks have more than 2^63 bytes", rows));
    return *end;
}

std::int64_t File::bytes_of(std::int64_t task) const {
    std::int64_t sum = 0;
    if (tail.used.empty()) return sum;
    for (std::int64_t row = 0; row < tail.used[static_cast<std::size_t>(task)]; ++row) {
        sum += bytes_in(task, row);
    }
    return sum;
}

std::vector<std::int64_t> own_chunks(std::span<const std::int64_t> asked, std::int64_t block) {
    std::vector<std::int64_t> chunks;
    for (const auto bytes : asked) chunks.push_back(rounded_up(bytes, block));
    return chunks;
}

std::vector<std::int64_t> collector_groups(std::span<const std::int64_t> asked, std::int64_t block,
                                           std::int64_t group_tasks) {
    const auto tasks = static_cast<std::int64_t>(asked.size());
    std::int64_t total = 0;
    for (const auto bytes : asked) total += bytes;
    const auto up = [](std::int64_t a, std::int64_t b) { return (a + b - 1) / b; };
    const std::int64_t groups =
        std::max<std::int64_t>(1, std::min(up(tasks, group_tasks), up(total, block)));
    const std::int64_t most = rounded_up(total / groups, block);
    std::vector<std::int64_t> ends;
    std::int64_t in_group = 0;
    for (std::size_t i = 0; i < asked.size(); ++i) {
        in_group += asked[i];
        const bool last = i + 1 == asked.size() || in_group + asked[i + 1] > most;
        if (!last) continue;
        ends.push_back(static_cast<std::int64_t>(i) + 1);
        in_group = 0;
    }
    return ends;
}

std::vector<std::int64_t> collected_chunks(std::span<const std::int64_t> asked, std::int64_t block,
                                           std::int64_t group_tasks) {
    std::vector<std::int64_t> chunks(asked.begin(), asked.end());
    std::size_t begin = 0;
    for (const auto end : collector_groups(asked, block, group_tasks)) {
        std::int64_t in_group = 0;
        for (; begin < static_cast<std::size_t>(end); ++begin) in_group += asked[begin];
        chunks[begin - 1] += rounded_up(in_group, block) - in_group;
    }
    return chunks;
}

std::int64_t file_of(std::int64_t rank, std::int64_t ranks, std::int64_t files) {
    return std::min(rank / (ranks / files), files - 1);
}

std::string name_of_file(const std::string& first, std::int64_t number) {
    return number == 0 ? first : fmt::format("{}.{:06d}", first, number);
}

std::vector<std::byte> encode(const Header& head) {
    Encoder out(head.metadata);
    out.text({magic.data(), magic.size()}, magic.size());
    const unsigned outer = head.metadata == ByteOrder::big ? 1 : 0;
    const unsigned inner = head.data == ByteOrder::big ? 1 : 0;
    for (const unsigned flag : {outer, inner, inner, outer}) out.byte(flag);
    for (const std::int64_t value :
         {std::int64_t{head.library}, std::int64_t{head.patch}, std::int64_t{head.version},
          head.block, head.tasks(), head.files, head.file_number}) {
        out.int32(value);
    }
    out.int64(static_cast<std::int64_t>(head.key_values) << 32);
    out.int64(0);
    out.text(head.prefix, prefix_bytes);
    out.list(head.ranks);
    out.list(head.chunks);
    out.int32(head.rows);
    out.int64(head.tail);
    return out.take();
}

std::vector<std::byte> encode_end_of_head(const Header& head) {
    Encoder out(head.metadata);
    out.int32(head.rows);
    out.int64(head.tail);
    return out.take();
}

std::vector<std::byte> encode(const Tail& tail, ByteOrder order) {
    Encoder out(order);
    out.list(tail.used);
    out.list(tail.bytes);
    if (!tail.places.empty()) {
        out.int32(std::ssize(tail.places));
        for (const auto& place : tail.places) {
            out.int32(place.file);
            out.int32(place.task);
        }
    }
    return out.take();
}

Result<File> read_file(Source& source) {
    File file;
    auto head = read_head(source);
    if (!head) return std::move(head.error());
    file.head = std::move(*head);
    const auto with_path = [&](Error error) {
        error.path = source.path();
        return error;
    };
    auto chunks = Chunks::of(file.head);
    if (!chunks) return with_path(std::move(chunks.error()));
    file.chunks = std::move(*chunks);
    if (!file.head.closed()) return file;
    const std::int64_t tail_field = file.head.offset_of_rows() + 4;
    auto expected = file.chunks.tail(file.head.rows);
    if (!expected) {
        expected.error().offset = file.head.offset_of_rows();
        return with_path(std::move(expected.error()));
    }
    if (*expected != file.head.tail) {
        return malformed(source.path(), tail_field,
                         fmt::format("the tail is said to begin at {}, and {} rows of chunks end "
                                     "at {}",
                                     file.head.tail, file.head.rows, *expected));
    }
    if (file.head.tail > source.size()) {
        return malformed(source.path(), tail_field,
                         fmt::format("the tail begins at {}, and the file ends after {}",
                                     file.head.tail, exact_size(source.size())));
    }
    Decoder in(source, file.head.tail);
    in.order = file.head.metadata;
    Status s = read_chunk_uses(in, file);
    if (s && file.head.files > 1 && file.head.file_number == 0) s = read_places(in, file);
    if (!s) return std::move(s.error());
    return file;
}

}  // namespace effio::sion
