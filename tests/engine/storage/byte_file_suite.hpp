// SPDX-License-Identifier: BSD-3-Clause
// The fixture of the conformance suite over all backends of bytes: a file that all ranks share, and
// one pattern that every write takes its part of.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "../shared_directory.hpp"
#include "../test_session.hpp"
#include "core/buffer.hpp"
#include "core/pattern.hpp"
#include "storage/backends.hpp"
#include "storage/byte_file.hpp"

namespace effio {

inline constexpr CallForm at_own{Pointer::at, false};
inline constexpr CallForm at_all{Pointer::at, true};
inline constexpr CallForm individual{Pointer::individual, false};
inline constexpr CallForm individual_all{Pointer::individual, true};
inline constexpr CallForm shared{Pointer::shared, false};
inline constexpr CallForm ordered{Pointer::shared, true};

/// MPI-IO in atomic mode, with split collectives.
inline constexpr const char* mpiio_variant = "mpiio_atomic_split";

inline std::vector<std::string> byte_files() {
    auto all = present_backends(Serves::bytes);
    all.emplace_back(mpiio_variant);
    return all;
}

inline const Pattern& pattern() {
    static const Pattern p(17, 4);
    return p;
}

class EveryByteFile : public testing::TestWithParam<std::string> {
  protected:
    EveryByteFile()
        : at_(GetParam() == "sim" ? Clock::Kind::virtual_time : Clock::Kind::real),
          directory_(at_.comm),
          ranks_(at_.comm.size()),
          rank_(at_.comm.rank()) {
        BackendChoice choice;
        choice.name = GetParam();
        if (choice.name == mpiio_variant) {
            choice.name = "mpiio";
            choice.mpiio.atomic = choice.mpiio.split = true;
        }
        choice.direct.buffers_unaligned = true;  // O_DIRECT where it can be
        if (at_.clock.is_virtual()) room_ = std::move(*SimRoom::create(at_.comm));
        storage_ = make_storage(at_.session, choice, room_.get());
        can_ = storage_->capabilities();
    }

    void SetUp() override {
        if (GetParam() != "direct") return;
        const auto tried =
            storage_->open(comm(), {path(), OpenMode::creating(), Element::byte, {}});
        if (!tried) GTEST_SKIP() << tried.error().text();
        ASSERT_TRUE((*tried)->close());
        comm().barrier();
        ASSERT_TRUE(storage_->remove(path()));
        comm().barrier();
    }

    const Comm& comm() const { return at_.comm; }
    std::string path(const std::string& name = "data") const { return directory_ / name; }
    /// Where the bytes really lie.
    std::string real_path(const std::string& name = "data") const {
        return room_ ? room_->place_of(path(name)) : path(name);
    }

    std::unique_ptr<ByteFile> open(OpenMode mode, Element element = Element::byte,
                                   const std::string& name = "data") {
        auto file = storage_->open(comm(), {path(name), mode, element, {}});
        EXPECT_TRUE(file) << file.error().text();
        if (!file) return nullptr;
        if (element != Element::byte) {
            EXPECT_TRUE((*file)->set_view(View{}, Hints{}));
        }
        return std::move(*file);
    }

    /// The pattern's bytes at the file offsets `where(0…bytes-1)` of a rank's stream.
    template <class Where>
    Buffer bytes_at(std::int64_t bytes, Where&& where) const {
        Buffer out(static_cast<std::size_t>(bytes));
        for (std::int64_t i = 0; i < bytes; ++i) {
            pattern().fill(out.bytes().subspan(static_cast<std::size_t>(i), 1), where(i));
        }
        return out;
    }
    Buffer bytes_from(std::int64_t offset, std::int64_t bytes) const {
        Buffer out(static_cast<std::size_t>(bytes));
        pattern().fill(out.bytes(), offset);
        return out;
    }
    void expect_read(ByteFile& file, CallForm form, const Buffer& expected,
                     std::int64_t offset = 0) const {
        Buffer found(expected.size());
        const auto done = file.read(form, found.bytes(), offset);
        ASSERT_TRUE(done) << done.error().text();
        if (!can_.stores_data) return;
        const auto wrong = compare(expected.bytes(), found.bytes(), offset);
        EXPECT_FALSE(wrong) << wrong->text();
    }
    /// Collective. Each rank's writes are over and can be seen by the others.
    void settle(ByteFile& file) const {
        ASSERT_TRUE(file.sync());
        comm().barrier();
    }
    /// Collective: closes, and the root compares all of the file.
    void expect_whole(ByteFile& file, std::int64_t bytes, const std::string& name = "data") {
        settle(file);
        const auto size = file.size();
        ASSERT_TRUE(size) << size.error().text();
        EXPECT_EQ(*size, bytes);
        comm().barrier();
        ASSERT_TRUE(file.close());
        comm().barrier();
        if (!comm().is_root() || !can_.stores_data) return;
        std::ifstream in(real_path(name), std::ios::binary);
        std::vector<char> found(static_cast<std::size_t>(bytes) + 1);
        in.read(found.data(), bytes + 1);
        ASSERT_EQ(in.gcount(), bytes);
        found.resize(static_cast<std::size_t>(bytes));
        const auto wrong = pattern().check(std::as_bytes(std::span(found)), 0);
        EXPECT_FALSE(wrong) << wrong->text();
    }

    TestSession at_;
    SharedDirectory directory_;
    std::int64_t ranks_;
    std::int64_t rank_;
    std::unique_ptr<SimRoom> room_;
    std::unique_ptr<Storage> storage_;
    Capabilities can_;
};

}  // namespace effio
