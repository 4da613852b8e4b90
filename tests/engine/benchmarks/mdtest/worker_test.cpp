// SPDX-License-Identifier: BSD-3-Clause
// Who touches what: every call of every rank in every phase, looked at from behind the storage.
#include "benchmarks/mdtest/worker.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

#include "benchmarks/mdtest/measure.hpp"
#include "test_session.hpp"

namespace effio::mdtest {
namespace {

/// Remembers calls and keeps nothing.
class Witness : public Names {
  public:
    std::string_view name() const override { return "witness"; }
    Status create(const std::string& p) override { return saw("create", p); }
    Status make_node(const std::string& p) override { return saw("mknod", p); }
    Status create_with(const std::string& p, std::span<const std::byte> data, bool sync) override {
        written = {data.begin(), data.end()};
        return saw(sync ? "create+sync" : "create+write", p);
    }
    Status write(const std::string& p, std::span<const std::byte>, bool) override {
        return saw("write", p);
    }
    Status read(const std::string& p, std::span<std::byte> into) override {
        if (calls.size() < stale_reads) return saw("read", p);
        if (into.size() == written.size()) std::copy(written.begin(), written.end(), into.begin());
        return saw("read", p);
    }
    Result<Attributes> stat(const std::string& p) override {
        (void)saw("stat", p);
        if (fails_at == p) return system_error("stat", p, 2);
        const auto known = there.find(p.substr(p.rfind('/') + 1));
        return known == there.end() ? Attributes{} : known->second;
    }
    Status unlink(const std::string& p) override { return saw("unlink", p); }
    Status make_directory(const std::string& p) override { return saw("mkdir", p); }
    Status remove_directory(const std::string& p) override { return saw("rmdir", p); }
    Status visit(const std::string& p,
                 const std::function<void(std::string_view)>& visit) override {
        visit("one");
        for (const auto& [name, attributes] : there) visit(name);
        return saw("list", p);
    }
    Status rename(const std::string& a, const std::string& b) override {
        return saw("rename", a + " " + b);
    }
    Status hard_link(const std::string& a, const std::string& b) override {
        return saw("link", a + " " + b);
    }
    Status symbolic_link(const std::string& a, const std::string& b) override {
        return saw("symlink", a + " " + b);
    }
    Result<std::int64_t> read_link(const std::string& p, std::span<char>) override {
        (void)saw("readlink", p);
        return std::int64_t{0};
    }
    Status change_mode(const std::string& p, unsigned) override { return saw("chmod", p); }
    Status truncate(const std::string& p, std::int64_t n) override {
        return saw("truncate", p + " " + std::to_string(n));
    }
    Status set_attribute(const std::string& p, const std::string&, std::string_view) override {
        return saw("setxattr", p);
    }
    Result<std::int64_t> get_attribute(const std::string& p, const std::string&,
                                       std::span<char>) override {
        (void)saw("getxattr", p);
        return std::int64_t{0};
    }
    Status sync_all(const std::string& p) override { return saw("sync", p); }

    std::vector<std::string> calls;
    std::vector<std::byte> written;
    std::size_t stale_reads = 0;  ///< the first calls, if they read, leave the memory as it was
    std::string fails_at;
    std::map<std::string, Attributes> there;

  private:
    Status saw(const std::string& call, const std::string& path) {
        calls.push_back(call + " " + path);
        return {};
    }
};

const Phase& phase_of(ItemKind thing, Action action) {
    const auto all = all_phases();
    return *std::find_if(all.begin(), all.end(),
                         [&](const Phase& p) { return p.thing == thing && p.action == action; });
}

class MdtestWorkers : public testing::Test {
  protected:
    MdtestWorkers() {
        parameters_.per_directory = 4;
        parameters_.storage.call_times = true;
    }
    int rank() const { return s_.comm.rank(); }
    int size() const { return s_.comm.size(); }

    LocalResult run(ItemKind thing, Action action) {
        expect_sound();
        paths_.emplace(parameters_.bases(), parameters_.workload(), 0);
        if (parameters_.rank_shift > 0) {
            order_ = std::make_unique<NodeOrder>(s_.comm, find_topology(s_.comm));
        }
        Iteration iteration{s_.session, s_.comm,      parameters_, *paths_,
                            witness_,   order_.get(), 0,           parameters_.workload().items};
        mdtest::Workers workers;
        workers.push_back(std::make_unique<Worker>(iteration, 0));
        WorkerThreads threads(1);
        witness_.calls.clear();
        CommonClock common(s_.comm, find_topology(s_.comm));
        return measure_phase(iteration, phase_of(thing, action), common, workers, threads);
    }
    void expect_sound() {
        const auto ok = parameters_.check();
        ASSERT_TRUE(ok) << ok.error().text();
    }
    std::string file(int owner, int item, const std::string& suffix = "") const {
        return "./test-dir.0-0/mdtest_tree.0/file.mdtest." + std::to_string(owner) + "." +
               std::to_string(item) + suffix;
    }
    std::vector<std::string> on_files(const std::string& call, int owner,
                                      const std::string& suffix = "") const {
        std::vector<std::string> all;
        for (int i = 0; i < 4; ++i) all.push_back(call + " " + file(owner, i, suffix));
        return all;
    }

    TestSession s_;
    Parameters parameters_;
    std::optional<Paths> paths_;
    std::unique_ptr<NodeOrder> order_;
    Witness witness_;
};

TEST_F(MdtestWorkers, without_a_shift_each_rank_works_on_its_own_files_in_order) {
    run(ItemKind::file, Action::create);
    EXPECT_EQ(witness_.calls, on_files("create", rank()));
    run(ItemKind::file, Action::stat);
    EXPECT_EQ(witness_.calls, on_files("stat", rank()));
    run(ItemKind::file, Action::read);
    EXPECT_EQ(witness_.calls, on_files("read", rank()));
    const auto local = run(ItemKind::file, Action::remove);
    EXPECT_EQ(witness_.calls, on_files("unlink", rank()));
    EXPECT_EQ(local.operations, 4);
    EXPECT_EQ(local.calls.count(), 4U);
    EXPECT_EQ(local.stopped, StopReason::count);
}

TEST_F(MdtestWorkers, the_shift_leads_one_two_and_three_ranks_further_on) {
    parameters_.rank_shift = 1;
    const auto further = [&](int by) {
        // On one node a shift that would lead back to the own rank goes to the next.
        const int step = size() == 1 ? 0 : std::clamp(by % size(), 1, size() - 1);
        return (rank() + step) % size();
    };
    run(ItemKind::file, Action::create);
    EXPECT_EQ(witness_.calls, on_files("create", rank()));
    run(ItemKind::file, Action::stat);
    EXPECT_EQ(witness_.calls, on_files("stat", further(1)));
    run(ItemKind::file, Action::read);
    EXPECT_EQ(witness_.calls, on_files("read", further(2)));
    run(ItemKind::file, Action::remove);
    EXPECT_EQ(witness_.calls, on_files("unlink", further(3)));
}

TEST_F(MdtestWorkers, every_item_is_touched_by_exactly_one_rank_whatever_the_shift) {
    for (const int shift : {1, 2, 3, 5}) {
        parameters_.rank_shift = shift;
        for (const Action action : {Action::stat, Action::read, Action::remove}) {
            run(ItemKind::file, action);
            std::vector<double> touched(static_cast<std::size_t>(size()), 0);
            for (int owner = 0; owner < size(); ++owner) {
                const std::string stem = "file.mdtest." + std::to_string(owner) + ".";
                for (const auto& call : witness_.calls) {
                    touched[static_cast<std::size_t>(owner)] +=
                        call.find(stem) != std::string::npos ? 1 : 0;
                }
            }
            s_.comm.sum(std::span<double>(touched));
            for (const double count : touched) EXPECT_EQ(count, 4);
        }
    }
}

TEST_F(MdtestWorkers, random_order_touches_each_item_once_and_not_in_order) {
    parameters_.per_directory = 64;
    parameters_.random_order = true;
    run(ItemKind::file, Action::create);
    const auto in_order = witness_.calls;
    EXPECT_TRUE(in_order.front().ends_with(".0"));
    EXPECT_TRUE(in_order.back().ends_with(".63"));
    run(ItemKind::file, Action::stat);
    const std::set<std::string> once(witness_.calls.begin(), witness_.calls.end());
    EXPECT_EQ(once.size(), 64U);
    const auto sorted = run(ItemKind::file, Action::remove);
    EXPECT_EQ(sorted.operations, 64);
    EXPECT_TRUE(witness_.calls.front().ends_with(".0"));
}

TEST_F(MdtestWorkers, by_root_one_rank_creates_and_removes_for_all) {
    parameters_.by_root = true;
    const auto local = run(ItemKind::directory, Action::create);
    EXPECT_EQ(local.operations, rank() == 0 ? 4 * size() : 0);
    if (rank() == 0) {
        EXPECT_EQ(witness_.calls.back(), "mkdir ./test-dir.0-0/mdtest_tree.0/dir.mdtest." +
                                             std::to_string(size() - 1) + ".3");
    }
    EXPECT_EQ(run(ItemKind::file, Action::stat).operations, 4);
    EXPECT_EQ(witness_.calls, on_files("stat", rank()));
    EXPECT_EQ(run(ItemKind::file, Action::remove).operations, rank() == 0 ? 4 * size() : 0);
}

TEST_F(MdtestWorkers, shared_files_are_written_by_all_and_removed_by_one) {
    parameters_.shared_files = true;
    parameters_.things = ItemSelection::files;
    EXPECT_EQ(run(ItemKind::file, Action::create).operations, 4);
    EXPECT_EQ(witness_.calls[3], "write ./test-dir.0-0/mdtest_tree.0/file.mdtest.shared.3");
    EXPECT_EQ(run(ItemKind::file, Action::read).operations, 4);
    EXPECT_EQ(run(ItemKind::file, Action::remove).operations, rank() == 0 ? 4 : 0);
}

TEST_F(MdtestWorkers, a_shared_tree_is_made_parents_first_by_the_root_and_own_trees_by_each) {
    parameters_.branching = 2;
    parameters_.depth = 1;
    run(ItemKind::tree, Action::create);
    const std::string t = "./test-dir.0-0/mdtest_tree.";
    if (rank() == 0) {
        EXPECT_EQ(witness_.calls,
                  (std::vector<std::string>{"mkdir " + t + "0", "mkdir " + t + "0/mdtest_tree.1",
                                            "mkdir " + t + "0/mdtest_tree.2"}));
    } else {
        EXPECT_TRUE(witness_.calls.empty());
    }
    parameters_.unique = true;
    run(ItemKind::tree, Action::remove);
    const std::string own = t + std::to_string(rank()) + ".";
    const std::string below = own + "0/mdtest_tree." + std::to_string(rank());
    EXPECT_EQ(witness_.calls,
              (std::vector<std::string>{"rmdir " + below + ".2", "rmdir " + below + ".1",
                                        "rmdir " + own + "0"}));
}

TEST_F(MdtestWorkers, further_operations_are_the_calls_that_their_names_say) {
    parameters_.write_bytes = Bytes{100};
    parameters_.also = {"all"};
    run(ItemKind::file, Action::create);
    EXPECT_EQ(witness_.calls, on_files("create+write", rank()));
    run(ItemKind::file, Action::set_mode);
    EXPECT_EQ(witness_.calls, on_files("chmod", rank()));
    run(ItemKind::file, Action::set_attribute);
    EXPECT_EQ(witness_.calls, on_files("setxattr", rank()));
    run(ItemKind::file, Action::get_attribute);
    EXPECT_EQ(witness_.calls, on_files("getxattr", rank()));
    run(ItemKind::file, Action::truncate);
    EXPECT_EQ(witness_.calls[0], "truncate " + file(rank(), 0) + " 50");
    run(ItemKind::file, Action::hard_link);
    EXPECT_EQ(witness_.calls[1], "link " + file(rank(), 1) + " " + file(rank(), 1, ".link"));
    run(ItemKind::file, Action::remove_hard_link);
    EXPECT_EQ(witness_.calls, on_files("unlink", rank(), ".link"));
    run(ItemKind::file, Action::symbolic_link);
    EXPECT_EQ(witness_.calls[2], "symlink file.mdtest." + std::to_string(rank()) + ".2 " +
                                     file(rank(), 2, ".symlink"));
    run(ItemKind::file, Action::read_link);
    EXPECT_EQ(witness_.calls, on_files("readlink", rank(), ".symlink"));
    run(ItemKind::file, Action::rename);
    EXPECT_EQ(witness_.calls[0], "rename " + file(rank(), 0) + " " + file(rank(), 0, ".spare"));
    EXPECT_EQ(witness_.calls[1], "rename " + file(rank(), 1) + " " + file(rank(), 0));
    EXPECT_EQ(witness_.calls.size(), 5U);
    run(ItemKind::file, Action::move);
    const std::string moved =
        "./test-dir.0-0/mdtest_moved/file.mdtest." + std::to_string(rank()) + ".0";
    EXPECT_EQ(witness_.calls[0], "rename " + file(rank(), 0) + " " + moved);
    EXPECT_EQ(witness_.calls[4], "rename " + moved + " " + file(rank(), 0));
    const auto listed = run(ItemKind::file, Action::list);
    EXPECT_EQ(witness_.calls, (std::vector<std::string>{"list ./test-dir.0-0/mdtest_tree.0"}));
    EXPECT_EQ(listed.entries, 1);
}

TEST_F(MdtestWorkers, a_search_looks_at_each_entry_of_a_shared_directory_on_one_rank) {
    parameters_.find_bytes = Bytes{7};
    const auto of = [](std::int64_t bytes) { return Attributes{Attributes::Kind::file, bytes}; };
    for (int i = 0; i < 100; ++i) witness_.there["file." + std::to_string(i)] = of(6);
    witness_.there["a01"] = witness_.there["a010"] = of(7);
    witness_.there["a02"] = of(7);                              // another name
    witness_.there["a011"] = of(8);                             // another size
    witness_.there["a012"] = {Attributes::Kind::directory, 7};  // no file
    const auto local = run(ItemKind::file, Action::find);
    EXPECT_EQ(witness_.calls.back(), "list ./test-dir.0-0/mdtest_tree.0");  // noted at its end
    std::array sums{local.operations, local.entries, local.found};
    s_.comm.sum(std::span<std::int64_t>(sums));
    EXPECT_EQ(sums, (std::array<std::int64_t, 3>{106, 106, 2}));  // "one" is always there
    // Each has its part, by names alone.
    EXPECT_LT(local.entries, size() == 1 ? 107 : 106);
    EXPECT_GT(local.entries, 0);
}

TEST_F(MdtestWorkers, a_search_continues_after_an_entry_that_is_gone) {
    parameters_.unique = true;
    parameters_.find_name = "?0?";
    for (const char* name : {"a01", "b01", "c01"}) {
        witness_.there[name] = {Attributes::Kind::file};
    }
    const std::string own = std::to_string(rank());
    witness_.fails_at = "./test-dir.0-0/mdtest_tree." + own + ".0/b01";
    const auto local = run(ItemKind::file, Action::find);
    EXPECT_EQ(local.found, 2);
    EXPECT_EQ(local.entries, 3);  // and "one"
    EXPECT_EQ(local.failed, 1);
    EXPECT_EQ(local.outcome.error->path, witness_.fails_at);
}

TEST_F(MdtestWorkers, what_failed_is_not_counted_as_done) {
    run(ItemKind::file, Action::create);
    witness_.fails_at = file(rank(), 2);
    const auto local = run(ItemKind::file, Action::stat);
    EXPECT_EQ(local.operations, 3);
    EXPECT_EQ(local.failed, 1);
    EXPECT_EQ(local.outcome.error->path, file(rank(), 2));
    EXPECT_EQ(witness_.calls.size(), 4U);  // the others were still looked at
}

TEST_F(MdtestWorkers, a_file_with_the_bytes_of_another_is_found_out) {
    parameters_.write_bytes = Bytes{5000};
    parameters_.verify = true;
    paths_.emplace(parameters_.bases(), parameters_.workload(), 0);
    const Iteration iteration{s_.session, s_.comm, parameters_, *paths_, witness_, nullptr, 0, 4};
    mdtest::Workers workers;
    workers.push_back(std::make_unique<Worker>(iteration, 0));
    WorkerThreads threads(1);
    const Phase& create = phase_of(ItemKind::file, Action::create);
    CommonClock common(s_.comm, find_topology(s_.comm));
    auto local = measure_phase(iteration, create, common, workers, threads);
    // The witness gives back what was written last: right for the last file alone.
    verify_phase(iteration, create, workers, threads, local);
    EXPECT_EQ(local.outcome.error_count, 3);
    ASSERT_TRUE(local.outcome.error);
    EXPECT_EQ(local.outcome.error->exit_code, ExitCode::data_errors);
    EXPECT_EQ(local.outcome.error->path, file(rank(), 0));
    EXPECT_EQ(local.verified_bytes, 4 * 5000);
    EXPECT_EQ(local.of_timed_reads, 0);
}

TEST_F(MdtestWorkers, what_a_timed_read_left_in_memory_is_compared) {
    parameters_.per_directory = 1;
    parameters_.write_bytes = Bytes{5000};
    parameters_.verify = true;
    paths_.emplace(parameters_.bases(), parameters_.workload(), 0);
    const Iteration iteration{s_.session, s_.comm, parameters_, *paths_, witness_, nullptr, 0, 1};
    mdtest::Workers workers;
    workers.push_back(std::make_unique<Worker>(iteration, 0));
    WorkerThreads threads(1);
    CommonClock common(s_.comm, find_topology(s_.comm));
    measure_phase(iteration, phase_of(ItemKind::file, Action::create), common, workers, threads);
    // 1 file: what the witness gives back is right, unless the timed read moves nothing. With the
    // memory of 1 read the timed one is compared, else a second one, which the witness answers.
    for (const auto& [memory, stale, wrong] :
         {std::tuple{8192, false, 0}, std::tuple{8192, true, 1}, std::tuple{8191, true, 0}}) {
        parameters_.verify_memory = Bytes{memory};
        const Phase& read = phase_of(ItemKind::file, Action::read);
        witness_.calls.clear();
        witness_.stale_reads = stale ? 1 : 0;
        auto local = measure_phase(iteration, read, common, workers, threads);
        verify_phase(iteration, read, workers, threads, local);
        const bool kept = memory >= 8192;
        EXPECT_EQ(local.outcome.error_count, wrong) << memory;
        EXPECT_EQ(local.of_timed_reads, kept ? 5000 : 0);
        EXPECT_EQ(local.verified_bytes, 5000);
        EXPECT_EQ(witness_.calls.size(), kept ? 1U : 2U);
    }
}

}  // namespace
}  // namespace effio::mdtest
