// SPDX-License-Identifier: BSD-3-Clause
// What the data of effio cost: writes of 1 MiB from a StampedBuffer, whose pages are all
// different, and from the former buffer, which repeated every MiB but for eight bytes in each 4 KiB
// (bench/data.py).
//
//   paired_data DIRECTORY MEBIBYTES TURNS    bytes per second
#include <fcntl.h>
#include <mpi.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <span>
#include <string>

#include "core/buffer.hpp"
#include "core/pattern.hpp"
#include "paired.hpp"

namespace {

constexpr std::int64_t call = effio::StampedPattern::period;

/// The former data: random words of one period, and in each page its number.
class FormerBuffer {
  public:
    FormerBuffer() : memory_(static_cast<std::size_t>(call)) {
        effio::StampedPattern(1, 1).fill_base(memory_.bytes(), 0);
    }
    std::span<const std::byte> at(std::int64_t offset) {
        for (std::int64_t page = 0; page < call; page += effio::StampedPattern::page) {
            const auto number =
                static_cast<std::uint64_t>((offset + page) / effio::StampedPattern::page);
            const std::uint64_t stamp = effio::mix64(number);
            std::memcpy(memory_.bytes().data() + page, &stamp, sizeof stamp);
        }
        return memory_.bytes();
    }

  private:
    effio::Buffer memory_;
};

/// Bytes per second; 0 if a write failed.
template <class Data>
double written(const effio::Clock& clock, int file, std::int64_t calls, const Data& data) {
    const double start = clock.now();
    for (std::int64_t i = 0; i < calls; ++i) {
        const std::span<const std::byte> piece = data(i * call);
        if (pwrite(file, piece.data(), piece.size(), i * call) != call) return 0;
    }
    return static_cast<double>(calls * call) / (clock.now() - start);
}

}  // namespace

int main(int argc, char** argv) {
    return paired::program(
        argc, argv, "paired_data DIRECTORY MEBIBYTES TURNS",
        [&](effio::Session& session, const std::string& directory, paired::Numbers numbers) {
            const auto calls = static_cast<std::int64_t>(numbers[0]);
            const std::string path = directory + "/data";
            const int file = open(path.c_str(), O_CREAT | O_RDWR, 0600);
            if (file < 0) return 2;
            effio::StampedBuffer ours(effio::StampedPattern(1, 1), static_cast<std::size_t>(call));
            FormerBuffer former;
            const auto from_ours = [&](std::int64_t offset) {
                return ours.at(offset, static_cast<std::size_t>(call));
            };
            const auto from_former = [&](std::int64_t offset) { return former.at(offset); };
            // The pages of the file are there before anything counts.
            (void)written(session.clock, file, calls, from_former);
            for (int turn = 0; turn < static_cast<int>(numbers[1]); ++turn) {
                const auto rates = paired::both(
                    turn % 2 == 0, [&] { return written(session.clock, file, calls, from_ours); },
                    [&] { return written(session.clock, file, calls, from_former); });
                std::printf("write_1MiB %.6g %.6g\n", rates.ours, rates.theirs);
            }
            close(file);
            unlink(path.c_str());
            return 0;
        });
}
