// SPDX-License-Identifier: BSD-3-Clause
#include "storage/sion/collector.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "parallel/mpi_comm.hpp"

namespace effio::sion {
namespace {

constexpr int places_tag = 1;
constexpr int data_tag = 2;
constexpr int answer_tag = 3;

constexpr int words_of_place = 3;

}  // namespace

Collector::Collector(Session& session, Comm group, PathOf path_of)
    : session_(session), group_(std::move(group)), path_of_(std::move(path_of)) {
    collector_ = session.world_rank;
    group_.broadcast(collector_);
}

void Collector::note(Answer& answer, const FileRange& place, const Result<std::int64_t>& moved) {
    if (moved) {
        answer.moved += *moved;
        return;
    }
    const Error& error = moved.error();
    const auto call = std::find(calls.begin(), calls.end(), error.operation);
    answer.call = 1 + (call == calls.end() ? 0 : call - calls.begin());
    answer.code = error.system_code;
    answer.file = place.file;
    answer.offset = error.offset.value_or(place.offset);
}

Result<std::int64_t> Collector::result_of(const Answer& answer) const {
    if (answer.call == 0) return answer.moved;
    Error error = system_error(calls.at(static_cast<std::size_t>(answer.call) - 1),
                               path_of_(answer.file), static_cast<int>(answer.code), answer.offset);
    error.cause += fmt::format(" (on rank {}, the collector)", collector_);
    return error;
}

template <class Byte, class Move>
Result<std::int64_t> Collector::move_own(std::span<const FileRange> places, std::span<Byte> data,
                                         const Move& move) {
    std::int64_t done = 0;
    for (const FileRange& place : places) {
        auto moved = move(place, data.subspan(static_cast<std::size_t>(done),
                                              static_cast<std::size_t>(place.bytes)));
        if (!moved) return moved;
        done += *moved;
        if (*moved < place.bytes) break;
    }
    return done;
}

/// On the collector: the bytes of one member, some at a time; `serve(place, memory, go_on)` moves
/// them between the member and the file, where nothing went wrong before.
template <class Serve>
void Collector::serve_member(int member, Serve&& serve) {
    MPI_Status status;
    MPI_Probe(member, places_tag, raw(group_), &status);
    int words = 0;
    MPI_Get_count(&status, MPI_INT64_T, &words);
    std::vector<std::int64_t> list(static_cast<std::size_t>(words));
    MPI_Recv(list.data(), words, MPI_INT64_T, member, places_tag, raw(group_), MPI_STATUS_IGNORE);
    Answer answer;
    bool good = true;
    for (std::size_t i = 0; i + words_of_place <= list.size(); i += words_of_place) {
        FileRange place{list[i], list[i + 1], list[i + 2]};
        for (std::int64_t rest = place.bytes; rest > 0; rest -= place.bytes) {
            place.bytes = std::min(rest, most_at_once);
            buffer_.resize(std::max(buffer_.size(), static_cast<std::size_t>(place.bytes)));
            const auto memory = std::span(buffer_).first(static_cast<std::size_t>(place.bytes));
            const Result<std::int64_t> moved = serve(place, memory, good);
            if (good) {
                note(answer, place, moved);
                good = moved && *moved == place.bytes;
            }
            place.offset += place.bytes;
            session_.progress.beat();
        }
    }
    const std::array words_of_answer{answer.moved, answer.call, answer.code, answer.file,
                                     answer.offset};
    MPI_Send(words_of_answer.data(), static_cast<int>(words_of_answer.size()), MPI_INT64_T, member,
             answer_tag, raw(group_));
}

/// On a member: hands its places over, `pass(memory)` for each message of data, and learns the
/// outcome.
template <class Byte, class Pass>
Result<std::int64_t> Collector::be_served(std::span<const FileRange> places, std::span<Byte> data,
                                          Pass&& pass) {
    std::vector<std::int64_t> list;
    for (const FileRange& place : places) {
        list.insert(list.end(), {place.file, place.offset, place.bytes});
    }
    MPI_Send(list.data(), static_cast<int>(list.size()), MPI_INT64_T, 0, places_tag, raw(group_));
    for (const FileRange& place : places) {
        for (std::int64_t rest = place.bytes; rest > 0;) {
            const std::int64_t bytes = std::min(rest, most_at_once);
            pass(data.first(static_cast<std::size_t>(bytes)));
            data = data.subspan(static_cast<std::size_t>(bytes));
            rest -= bytes;
            session_.progress.beat();
        }
    }
    std::array<std::int64_t, 5> words{};
    MPI_Recv(words.data(), static_cast<int>(words.size()), MPI_INT64_T, 0, answer_tag, raw(group_),
             MPI_STATUS_IGNORE);
    return result_of({words[0], words[1], words[2], words[3], words[4]});
}

Result<std::int64_t> Collector::write(std::span<const FileRange> places,
                                      std::span<const std::byte> data, const Write& move) {
    if (!group_.is_root()) {
        return be_served(places, data, [&](std::span<const std::byte> part) {
            MPI_Send(part.data(), static_cast<int>(part.size()), MPI_BYTE, 0, data_tag,
                     raw(group_));
        });
    }
    auto own = move_own(places, data, move);
    for (int member = 1; member < group_.size(); ++member) {
        serve_member(member, [&](const FileRange& place, std::span<std::byte> memory, bool good) {
            MPI_Recv(memory.data(), static_cast<int>(memory.size()), MPI_BYTE, member, data_tag,
                     raw(group_), MPI_STATUS_IGNORE);
            return good ? move(place, memory) : Result<std::int64_t>(0);
        });
    }
    return own;
}

Result<std::int64_t> Collector::read(std::span<const FileRange> places, std::span<std::byte> data,
                                     const Read& move) {
    if (!group_.is_root()) {
        return be_served(places, data, [&](std::span<std::byte> part) {
            MPI_Recv(part.data(), static_cast<int>(part.size()), MPI_BYTE, 0, data_tag, raw(group_),
                     MPI_STATUS_IGNORE);
        });
    }
    auto own = move_own(places, data, move);
    for (int member = 1; member < group_.size(); ++member) {
        serve_member(member, [&](const FileRange& place, std::span<std::byte> memory, bool good) {
            auto moved = good ? move(place, memory) : Result<std::int64_t>(0);
            const int bytes = moved ? static_cast<int>(*moved) : 0;
            MPI_Send(memory.data(), bytes, MPI_BYTE, member, data_tag, raw(group_));
            return moved;
        });
    }
    return own;
}

}  // namespace effio::sion
