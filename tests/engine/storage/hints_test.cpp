// SPDX-License-Identifier: BSD-3-Clause
// The rule file of hints (docs/definitions/b-eff-io.md, Info file): where rules apply, which wins,
// and every kind of faulty line.
#include "storage/hints.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <cerrno>
#include <fstream>

#include "benchmarks/b_eff_io/b_eff_io.hpp"

namespace effio {
namespace {

HintVocabulary words() {
    auto vocabulary = b_eff_io::hint_vocabulary({2, 4});
    EXPECT_EQ(vocabulary.max_key_length, MPI_MAX_INFO_KEY - 1U);  // a longer one ends the job
    vocabulary.max_key_length = 36;
    return vocabulary;
}

HintRules rules(const std::string& text) {
    auto parsed = HintRules::parse(text, "hints", words());
    EXPECT_TRUE(parsed) << parsed.error().cause;
    return parsed ? *parsed : HintRules{};
}

/// The messages about a faulty file, in plain words and in those of the original.
std::string plain_faults(const std::string& text) {
    const auto parsed = HintRules::parse(text, "F", words());
    return parsed ? "no fault" : parsed.error().cause;
}

std::string faults(const std::string& text) {
    HintVocabulary original = words();
    original.original_words = true;
    const auto parsed = HintRules::parse(text, "F", original);
    if (parsed) return "no fault";
    EXPECT_EQ(parsed.error().exit_code, ExitCode::usage);
    return parsed.error().cause;
}

HintRules::FilePlace write_shared() {
    return {4, "write", "shared"};
}
HintRules::FilePlace read_scatter() {
    return {2, "read", "scatter"};
}

std::string at_open(const HintRules& rules, const HintRules::FilePlace& cell) {
    return json_line(rules.for_open(cell).to_json());
}
std::string at_row(const HintRules& rules, const HintRules::FilePlace& cell, std::int64_t chunk,
                   bool is_lmax = false) {
    return json_line(rules.for_row(cell, chunk, is_lmax).to_json());
}

TEST(Hints, a_later_value_replaces_the_earlier_one_in_its_place) {
    Hints hints;
    hints.set("b", "1");
    hints.set("a", "2");
    hints.set("b", "3");
    std::string order;
    for (const auto& [key, value] : hints) order += key + value;
    EXPECT_EQ(order, "b3a2");
    EXPECT_EQ(hints.get("b"), "3");
    EXPECT_FALSE(hints.get("c"));
}

TEST(HintRules, all_means_every_cell_at_the_open_and_in_every_row) {
    const auto r = rules("all all all all key value\n");
    for (const auto& cell : {write_shared(), read_scatter()}) {
        EXPECT_EQ(at_open(r, cell), R"({"key":"value"})");
        EXPECT_EQ(at_row(r, cell, 1024), R"({"key":"value"})");
        EXPECT_EQ(at_row(r, cell, 4096, true), R"({"key":"value"})");
    }
}

TEST(HintRules, on_open_is_for_the_open_alone) {
    const auto r = rules("all all all on_open key value\n");
    EXPECT_EQ(at_open(r, write_shared()), R"({"key":"value"})");
    EXPECT_EQ(at_row(r, write_shared(), 1024), "{}");
    EXPECT_EQ(at_row(r, write_shared(), 1024, true), "{}");
}

TEST(HintRules, Lmax_means_the_rows_of_the_largest_chunk_whatever_its_size) {
    const auto r = rules("all all all Lmax key value\n");
    EXPECT_EQ(at_open(r, write_shared()), "{}");
    EXPECT_EQ(at_row(r, write_shared(), 1048576), "{}");
    EXPECT_EQ(at_row(r, write_shared(), 1048576, true), R"({"key":"value"})");
}

TEST(HintRules, a_size_means_the_rows_of_that_chunk_but_not_the_largest_chunk) {
    for (const std::int64_t size : {1024, 1032, 32768, 32776, 1048576, 1048584}) {
        const auto r = rules("all all all " + std::to_string(size) + " key value\n");
        EXPECT_EQ(at_open(r, write_shared()), "{}");
        EXPECT_EQ(at_row(r, write_shared(), size), R"({"key":"value"})");
        EXPECT_EQ(at_row(r, write_shared(), size + 8), "{}");
        EXPECT_EQ(at_row(r, write_shared(), size, true), "{}");
    }
}

TEST(HintRules, numbers_accesses_and_patterns_choose_their_cells) {
    const auto r = rules(
        "4 all all on_open n 4\n"
        "all read all on_open a read\n"
        "all all shared on_open p shared\n");
    EXPECT_EQ(at_open(r, write_shared()), R"({"n":"4","p":"shared"})");
    EXPECT_EQ(at_open(r, read_scatter()), R"({"a":"read"})");
}

TEST(HintRules, a_number_means_no_cell_that_has_none) {
    // The second of two equal partitions.
    const auto r = rules("4 all all all n 4\n");
    EXPECT_EQ(at_open(r, {0, "write", "shared"}), "{}");
}

TEST(HintRules, exceptions_come_after_the_general_lines) {
    // The second example of the slides.
    const auto r = rules(
        "all all all all IBM_largeblock_io true\n"
        "all all all on_open IBM_largeblock_io switchable\n"
        "all all all 1024 IBM_largeblock_io false\n");
    EXPECT_EQ(at_open(r, write_shared()), R"({"IBM_largeblock_io":"switchable"})");
    EXPECT_EQ(at_row(r, write_shared(), 1024), R"({"IBM_largeblock_io":"false"})");
    EXPECT_EQ(at_row(r, write_shared(), 32768), R"({"IBM_largeblock_io":"true"})");
    const auto reversed = rules(
        "all all all 1024 IBM_largeblock_io false\n"
        "all all all all IBM_largeblock_io true\n");
    EXPECT_EQ(at_row(reversed, write_shared(), 1024), R"({"IBM_largeblock_io":"true"})");
}

TEST(HintRules, values_are_opaque_and_run_to_the_end_of_the_line) {
    EXPECT_EQ(at_open(rules(" \tall\tall all on_open  key \t switchable or 32MB, # so  \t\n"),
                      write_shared()),
              R"({"key":"switchable or 32MB, # so"})");
    EXPECT_EQ(at_open(rules("all all all on_open key value\r\n"), write_shared()),
              R"({"key":"value\r"})");
    EXPECT_EQ(at_open(rules("all all all on_open key"), write_shared()), R"({"key":""})");
}

TEST(HintRules, empty_lines_and_comments_say_nothing) {
    EXPECT_TRUE(rules("").empty());
    EXPECT_TRUE(rules("\n  \t \n# all all all all key value\n#\n").empty());
    EXPECT_FALSE(rules("all all all all key value").empty());  // a last line without its end
}

TEST(HintRules, a_comment_behind_blanks_is_a_faulty_line) {
    EXPECT_EQ(faults(" # all all all key value\n"),
              "error in info-file F, line 1: line ignored - invalid number of processes");
}

TEST(HintRules, each_wrong_field_is_named_and_all_of_a_line_together) {
    const std::string begin = "error in info-file F, line 1: line ignored";
    for (const char* number : {"3", "x", "-2", "2x", "ALL", "1e0", "99999999999999999999"}) {
        EXPECT_EQ(faults(std::string(number) + " all all all k v"),
                  begin + " - invalid number of processes")
            << number;
    }
    EXPECT_EQ(faults("all Write all all k v"), begin + " - invalid access value");
    EXPECT_EQ(faults("all all separate all k v"), begin + " - invalid pattern");
    EXPECT_EQ(faults("1 append strided 77 k v"),
              begin + " - invalid number of processes - invalid access value - invalid pattern");
}

TEST(HintRules, a_wrong_size_is_named_if_the_fields_before_it_are_right) {
    const std::string fault = "error in info-file F, line 1: line ignored - invalid chunk size";
    for (const char* chunk : {"77", "1k", "lmax", "2097152", "on_close", "-1024"}) {
        EXPECT_EQ(faults("4 read scatter " + std::string(chunk) + " k v"), fault) << chunk;
    }
}

TEST(HintRules, missing_fields_and_long_keys_are_named_alone) {
    const std::string fault =
        "error in info-file F, line 1: line ignored - empty info key has more than 36 "
        "(MPI_MAX_INFO_KEY) characters";
    EXPECT_EQ(faults("all all all all"), fault);
    EXPECT_EQ(faults("all"), fault);
    EXPECT_EQ(faults("nobody nothing all 77 " + std::string(37, 'k') + " v"), fault);
    EXPECT_EQ(faults("all all all all " + std::string(36, 'k') + " v"), "no fault");
}

TEST(HintRules, values_longer_than_MPI_takes_are_refused) {
    auto vocabulary = words();
    vocabulary.max_value_length = 10;
    vocabulary.original_words = true;
    const auto parsed = HintRules::parse("all all all all k 12345678901\n", "F", vocabulary);
    ASSERT_FALSE(parsed);
    EXPECT_EQ(parsed.error().cause,
              "error in info-file F, line 1: line ignored - info value has more than 10 "
              "(MPI_MAX_INFO_VAL) characters");
}

TEST(HintRules, plain_words_say_exactly_what_is_wrong) {
    EXPECT_EQ(plain_faults("all all all all"),
              "F, line 1: the key is missing; a line is PROCESSES ACCESS PATTERN CHUNK KEY VALUE");
    EXPECT_EQ(plain_faults("all all all all " + std::string(50, 'k') + " v"),
              "F, line 1: the key " + std::string(40, 'k') + "… has 50 characters; MPI allows 36");
    EXPECT_EQ(plain_faults("3 Write separate all k v"),
              "F, line 1: 3 is not a number of processes of this run: 2, 4 or all; Write is not an "
              "access of this benchmark: write, rewrite, read or all; separate is not a pattern of "
              "this benchmark: scatter, shared, separated, segmented, seg_coll or all");
    EXPECT_EQ(plain_faults("# first\nall all all 77 k v\n" + std::string(2001, ' ')),
              "F, line 2: 77 is not a chunk size of this benchmark: 0, 1024, 1032, 32768, 32776, "
              "1048576, 1048584, Lmax, on_open or all\n"
              "F, line 3: the line has more than 2000 characters");
    HintVocabulary none;
    none.max_value_length = 1;
    EXPECT_EQ(HintRules::parse("2 all all all k 12", "F", none).error().cause,
              "F, line 1: 2 is not a number of processes of this run: only all applies; the value "
              "of k has 2 characters; MPI allows 1");
}

TEST(HintRules, every_faulty_line_is_reported_with_its_number) {
    EXPECT_EQ(faults("# first\n"
                     "all all all all k v\n"
                     "3 all all all k v\n"
                     "\n"
                     "all all all 77 k v"),
              "error in info-file F, line 3: line ignored - invalid number of processes\n"
              "error in info-file F, line 5: line ignored - invalid chunk size");
}

TEST(HintRules, a_line_that_is_too_long_is_reported_and_its_start_still_read) {
    const std::string too_long =
        "error in info-file F, line 1: line too long, more than 2000 characters";
    EXPECT_EQ(faults("all all all all k v" + std::string(1982, ' ')), too_long);
    EXPECT_EQ(
        faults("3 all all all k v" + std::string(1984, ' ')),
        too_long + "\nerror in info-file F, line 1: line ignored - invalid number of processes");
    EXPECT_EQ(faults("all all all all k v" + std::string(1981, ' ')), "no fault");
}

TEST(HintRules, binary_rubbish_is_reported_and_not_obeyed) {
    const std::string rubbish("\0\xff\xfe all \x01\n\x80\n", 12);
    EXPECT_NE(faults(rubbish).find("line 1: line ignored"), std::string::npos);
    EXPECT_NE(faults(rubbish).find("line 2: line ignored"), std::string::npos);
}

TEST(HintRules, a_file_that_cannot_be_read_is_a_usage_error_with_path_and_cause) {
    const auto missing = HintRules::read_file("/no/such/file");
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().exit_code, ExitCode::usage);
    EXPECT_EQ(missing.error().path, "/no/such/file");
    EXPECT_EQ(missing.error().system_code, ENOENT);
    EXPECT_FALSE(HintRules::read_file(testing::TempDir()));  // a directory
}

TEST(HintRules, an_empty_file_is_a_file_without_rules) {
    const std::string path = testing::TempDir() + "/effio-empty-hints";
    std::ofstream(path).flush();
    const auto text = HintRules::read_file(path);
    std::remove(path.c_str());
    ASSERT_TRUE(text) << text.error().text();
    EXPECT_EQ(*text, "");
}

}  // namespace
}  // namespace effio
