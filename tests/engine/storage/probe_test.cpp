// SPDX-License-Identifier: BSD-3-Clause
// The probe of the shared file pointer: believed only where ordered calls put data in rank order.
#include "storage/probe.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "../shared_directory.hpp"
#include "../test_session.hpp"
#include "storage/backends.hpp"

namespace effio {
namespace {

/// Each rank has a separate pointer where a shared one is requested, as in some libraries on file
/// systems without locks.
class OwnPointers : public Storage {
  public:
    OwnPointers(Session& session, bool states_it)
        : Storage(session), states_it_(states_it), self_(Comm::self(session.clock)) {
        BackendChoice choice;
        choice.name = "posix";
        inner_ = make_storage(session, choice, nullptr);
    }
    std::string_view name() const override { return "own pointers"; }
    Capabilities capabilities() const override {
        Capabilities c = inner_->capabilities();
        c.ordered_pointer = !states_it_;
        return c;
    }
    Result<std::unique_ptr<ByteFile>> open(const Comm&, const OpenRequest& request) override {
        OpenRequest own = request;
        own.mode.delete_on_close = false;
        return inner_->open(self_, own);
    }
    Status remove(const std::string& path) override { return inner_->remove(path); }

  private:
    bool states_it_;
    Comm self_;
    std::unique_ptr<Storage> inner_;
};

struct Probe : testing::Test {
    TestSession at;
    SharedDirectory directory{at.comm};
};

TEST_F(Probe, finds_a_pointer_that_works_names_what_serves_it_and_leaves_nothing) {
    for (const char* name : {"mpiio", "posix"}) {
        BackendChoice choice;
        choice.name = name;
        const auto storage = make_storage(at.session, choice, nullptr);
        const auto found = probe_shared_pointer(at.session, *storage, directory / "probe");
        EXPECT_TRUE(found.works) << name << ": " << found.note;
        EXPECT_FALSE(found.note.empty());
        at.comm.barrier();
        EXPECT_TRUE(std::filesystem::is_empty(directory.path())) << name;
        at.comm.barrier();
    }
}

TEST_F(Probe, data_in_wrong_places_are_seen_on_all_ranks) {
    OwnPointers storage(at.session, false);
    const auto found = probe_shared_pointer(at.session, storage, directory / "probe");
    // A single rank shares with no other.
    EXPECT_EQ(found.works, at.comm.size() == 1);
    if (at.comm.size() > 1) {
        // The second rank's data are not where they must be: other data are, or the file ends
        // before.
        EXPECT_TRUE(found.note.find("wrong places") != std::string::npos ||
                    found.note.find("pread") != std::string::npos)
            << found.note;
    }
}

TEST_F(Probe, a_backend_that_states_that_it_has_none_is_not_tried) {
    OwnPointers storage(at.session, true);
    const auto found = probe_shared_pointer(at.session, storage, directory / "probe");
    EXPECT_FALSE(found.works);
    EXPECT_EQ(found.note, "own pointers has no shared file pointer");
    at.comm.barrier();
    EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
}

TEST_F(Probe, a_file_that_cannot_be_made_is_reported_with_path_and_cause) {
    BackendChoice choice;
    choice.name = "mpiio";
    const auto storage = make_storage(at.session, choice, nullptr);
    const auto found = probe_shared_pointer(at.session, *storage, directory / "none/probe");
    EXPECT_FALSE(found.works);
    EXPECT_NE(found.note.find(directory / "none/probe"), std::string::npos) << found.note;
}

}  // namespace
}  // namespace effio
