// SPDX-License-Identifier: BSD-3-Clause
// main of the tests that run under mpiexec: all ranks run all tests of a source (of_source.hpp); a
// failure on any rank fails the program; rank 0 reports progress, the others only failures.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdio>
#include <memory>

#include "of_source.hpp"
#include "parallel/sentinel.hpp"

namespace {

class FailuresOnly : public testing::EmptyTestEventListener {
  public:
    explicit FailuresOnly(int rank) : rank_(rank) {}
    void OnTestPartResult(const testing::TestPartResult& result) override {
        if (!result.failed()) return;
        std::fprintf(stderr, "rank %d: %s:%d: %s\n", rank_,
                     result.file_name() == nullptr ? "?" : result.file_name(), result.line_number(),
                     result.message());
    }

  private:
    int rank_;
};

}  // namespace

int main(int argc, char** argv) {
    effio::block_stop_signals();  // before MPI starts its threads, as in the engine
    MPI_Init(&argc, &argv);
    testing::InitGoogleTest(&argc, argv);
    effio::only_tests_of(argc > 1 ? argv[1] : "", argc > 2 ? argv[2] : "");
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank != 0) {
        auto& listeners = testing::UnitTest::GetInstance()->listeners();
        const std::unique_ptr<testing::TestEventListener> printer(
            listeners.Release(listeners.default_result_printer()));
        listeners.Append(std::make_unique<FailuresOnly>(rank).release());  // GoogleTest owns it
    }
    int failed = RUN_ALL_TESTS();
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Finalize();
    return failed;
}
