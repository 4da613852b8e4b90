// SPDX-License-Identifier: BSD-3-Clause
// Operations on names: one suite for every backend that keeps names, then what is its own.
#include "storage/names.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>

#include "../own_directory.hpp"
#include "../test_session.hpp"
#include "core/pattern.hpp"
#include "storage/backends.hpp"

namespace effio {
namespace {

using Kind = Attributes::Kind;

class EveryNames : public testing::TestWithParam<const char*> {
  protected:
    EveryNames() : real_(std::string(GetParam()) == "posix") {
        if (real_) {
            names_ = make_posix_names();
            base_ = place_ / "base";
        } else {
            room_ = std::move(*SimRoom::create(virtual_.comm));
            names_ = make_sim_names(virtual_.session, SimModel{}, *room_);
            base_ = std::to_string(virtual_.comm.rank());
        }
        EXPECT_TRUE(names_->make_directory(base_));
    }
    std::string at(const std::string& name) const { return base_ + "/" + name; }
    Attributes attributes(const std::string& name) {
        auto found = names_->stat(at(name));
        EXPECT_TRUE(found) << name;
        return found ? *found : Attributes{};
    }
    std::set<std::string> listed(const std::string& path) {
        auto list = names_->list(path);
        EXPECT_TRUE(list);
        return {list->begin(), list->end()};
    }

    bool real_;
    OwnDirectory place_;
    TestSession virtual_{Clock::Kind::virtual_time};
    std::unique_ptr<SimRoom> room_;
    std::unique_ptr<Names> names_;
    std::string base_;
};

TEST_P(EveryNames, files_come_and_go) {
    EXPECT_TRUE(names_->create(at("a")));
    EXPECT_TRUE(names_->make_node(at("b")));
    EXPECT_EQ(attributes("a").kind, Kind::file);
    EXPECT_EQ(attributes("b").kind, Kind::file);
    EXPECT_EQ(listed(base_), (std::set<std::string>{"a", "b"}));
    EXPECT_TRUE(names_->unlink(at("a")));
    EXPECT_EQ(listed(base_), (std::set<std::string>{"b"}));
}

TEST_P(EveryNames, creating_what_exists_fails_and_writing_it_does_not) {
    EXPECT_TRUE(names_->create(at("a")));
    for (const Status& again : {names_->create(at("a")), names_->make_node(at("a")),
                                names_->create_with(at("a"), {}, false)}) {
        ASSERT_FALSE(again);
        EXPECT_EQ(again.error().system_code, EEXIST);
        EXPECT_NE(again.error().path.find('a'), std::string::npos);
    }
    const std::array<std::byte, 3> data{};
    EXPECT_TRUE(names_->write(at("a"), data, false));
    EXPECT_TRUE(names_->write(at("new"), {}, true));
    EXPECT_EQ(attributes("a").bytes, 3);
    EXPECT_EQ(attributes("new").bytes, 0);
}

TEST_P(EveryNames, data_written_are_read_back_and_a_short_file_is_an_error) {
    std::array<std::byte, 5000> data{};
    Pattern(1, 2).fill(data, 0);
    EXPECT_TRUE(names_->create_with(at("a"), data, true));
    EXPECT_EQ(attributes("a").bytes, 5000);
    std::array<std::byte, 5000> back{};
    EXPECT_TRUE(names_->read(at("a"), back));
    EXPECT_EQ(data, back);
    EXPECT_TRUE(names_->truncate(at("a"), 4999));
    const auto missing = names_->read(at("a"), back);
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().cause, "the file holds 4.882 KiB (4999 B) of 4.883 KiB (5000 B)");
}

TEST_P(EveryNames, directories_links_and_renames) {
    EXPECT_TRUE(names_->make_directory(at("d")));
    EXPECT_TRUE(names_->make_directory(at("e")));
    EXPECT_EQ(attributes("d").kind, Kind::directory);
    EXPECT_TRUE(names_->create(at("d/a")));
    EXPECT_EQ(names_->remove_directory(at("d")).error().system_code, ENOTEMPTY);
    EXPECT_TRUE(names_->rename(at("d/a"), at("e/b")));
    EXPECT_TRUE(names_->hard_link(at("e/b"), at("e/hard")));
    EXPECT_EQ(attributes("e/b").links, 2);
    EXPECT_TRUE(names_->symbolic_link("b", at("e/soft")));
    EXPECT_EQ(attributes("e/soft").kind, Kind::link);
    std::array<char, 8> target{};
    EXPECT_EQ(*names_->read_link(at("e/soft"), target), 1);
    EXPECT_EQ(target[0], 'b');
    EXPECT_EQ(listed(at("e")), (std::set<std::string>{"b", "hard", "soft"}));
    EXPECT_TRUE(names_->remove_directory(at("d")));
    EXPECT_EQ(names_->stat(at("d")).error().system_code, ENOENT);
}

TEST_P(EveryNames, modes_and_attributes) {
    EXPECT_TRUE(names_->create(at("a")));
    EXPECT_TRUE(names_->change_mode(at("a"), 0640));
    EXPECT_EQ(attributes("a").mode, 0640U);
    const auto set = names_->set_attribute(at("a"), "user.effio", "value");
    if (!set && set.error().system_code == ENOTSUP) GTEST_SKIP() << "no user attributes here";
    ASSERT_TRUE(set);
    std::array<char, 16> value{};
    EXPECT_EQ(*names_->get_attribute(at("a"), "user.effio", value), 5);
    EXPECT_EQ(std::string(value.data()), "value");
    EXPECT_FALSE(names_->get_attribute(at("a"), "user.other", value));
    EXPECT_TRUE(names_->sync_all(base_));
}

TEST_P(EveryNames, a_failure_names_call_path_and_cause) {
    const auto failed = names_->unlink(at("none"));
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().operation, "unlink");
    EXPECT_EQ(failed.error().cause, "No such file or directory");
    EXPECT_TRUE(failed.error().path.ends_with("/none"));
    EXPECT_EQ(names_->list(at("none")).error().operation, "opendir");
}

INSTANTIATE_TEST_SUITE_P(Names, EveryNames, testing::Values("posix", "sim"),
                         [](const auto& suite) { return suite.param; });

TEST(SimNames, every_operation_costs_the_metadata_time_and_data_their_transfer) {
    TestSession s(Clock::Kind::virtual_time);
    const auto room = std::move(*SimRoom::create(s.comm));
    SimModel model;
    model.metadata = Seconds{0.25};
    model.latency = Seconds{0.5};
    model.rank_rate = BytesPerSecond{1000};
    model.sync = Seconds{3};
    const auto names = make_sim_names(s.session, model, *room);
    const std::string file = "/" + std::to_string(s.comm.rank());
    EXPECT_TRUE(names->create(file));
    EXPECT_DOUBLE_EQ(s.clock.now(), 0.25);
    const std::array<std::byte, 2000> data{};
    EXPECT_TRUE(names->write(file, data, true));
    EXPECT_DOUBLE_EQ(s.clock.now(), 0.25 + (0.25 + 0.5 + 2 + 3));
    EXPECT_TRUE(names->stat(file));
    EXPECT_DOUBLE_EQ(s.clock.now(), 6.25);
}

TEST(SimNames, nothing_but_what_was_requested_is_created) {
    TestSession s(Clock::Kind::virtual_time);
    const auto room = std::move(*SimRoom::create(s.comm));
    const auto names = make_sim_names(s.session, SimModel{}, *room);
    EXPECT_EQ(names->create("/no/such/directory").error().system_code, ENOENT);
}

TEST(NullNames, takes_the_programmed_time_on_the_rank_that_has_it) {
    TestSession s;
    NullNameDelays delays;
    delays.stat = Seconds{0.02};
    delays.only_rank = s.comm.size() - 1;
    const auto names = make_null_names(s.session, delays);
    const double start = s.clock.now();
    EXPECT_TRUE(names->stat("anything"));
    if (s.comm.rank() == s.comm.size() - 1) {
        EXPECT_GE(s.clock.now() - start, 0.02);
    }
    EXPECT_FALSE(names->capabilities().keeps);
    EXPECT_TRUE(names->list("anything")->empty());
}

TEST(Backends, settings_of_names_and_of_bytes_are_apart) {
    BackendChoice choice;
    choice.name = "null";
    choice.settings = "stat=2ms,only-rank=1";
    ASSERT_TRUE(apply_settings(Serves::names, choice));
    EXPECT_DOUBLE_EQ(choice.null_name_delays.stat.count, 0.002);
    EXPECT_EQ(choice.null_name_delays.only_rank, 1);
    EXPECT_FALSE(apply_settings(Serves::bytes, choice));
    choice.name = "posix";
    EXPECT_EQ(apply_settings(Serves::names, choice).error().cause,
              "--backend-options: posix takes no settings");
    EXPECT_EQ(backend_names(Serves::names),
              (std::vector<std::string>{"posix", "direct", "null", "sim"}));
}

}  // namespace
}  // namespace effio
