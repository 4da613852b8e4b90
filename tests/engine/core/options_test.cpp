// SPDX-License-Identifier: BSD-3-Clause
#include "core/options.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace effio {
namespace {

/// A table with an option of every type.
struct Every {
    bool verbose = false;
    std::int64_t count = 3;
    double factor = 1.5;
    Bytes chunk{1048584};
    Seconds time{30};
    BytesPerSecond rate{1e9};
    std::string mode = "fast";
    std::optional<std::int64_t> limit;
    std::optional<double> share;
    std::optional<Bytes> memory;
    std::optional<Seconds> pause;
    std::optional<BytesPerSecond> bound;
    std::optional<std::string> file;
    std::vector<std::int64_t> sizes{1, 2};
    std::vector<Bytes> blocks;
    std::vector<std::string> names{"a"};
    OptionTable table{"effio-mpi every", "Has every type.", "The end."};

    Every() {
        table.group("First");
        table.flag("verbose", verbose, "say more").letter('v');
        table.add("count", count, "how many").range(1, 100).letter('n');
        table.add("factor", factor, "by how much").range(0.5, 8);
        table.add("chunk", chunk, "size of a chunk").range(8, 1e9);
        table.add("time", time, "how long").range(0, 3600);
        table.add("rate", rate, "how fast");
        table.add("mode", mode, "which way").choices({"fast", "slow"});
        table.group("Second");
        table.add("limit", limit, "at most").range(0, 10).automatic("no limit");
        table.add("share", share, "part of it");
        table.add("memory", memory, "memory").automatic("detected");
        table.add("pause", pause, "pause");
        table.add("bound", bound, "bound");
        table.add("file", file, "where").metavar("FILE");
        table.add("sizes", sizes, "list of numbers").range(1, 64);
        table.add("blocks", blocks, "list of sizes").expert();
        table.add("names", names, "list of words");
    }
    Status parse(const std::vector<std::string>& words) { return table.parse(words); }
    /// The complaint about a faulty line.
    std::string fault(const std::vector<std::string>& words) {
        const auto status = parse(words);
        if (status) return "(accepted)";
        EXPECT_EQ(status.error().exit_code, ExitCode::usage);
        return status.error().cause;
    }
};

TEST(Options, every_type_is_read_with_its_unit) {
    Every e;
    ASSERT_TRUE(e.parse({"--verbose", "--count", "-7", "--factor=2.5"}).error().exit_code ==
                ExitCode::usage);  // -7 is a value, and out of range
    Every x;
    ASSERT_TRUE(x.parse({"-v",         "-n",         "7",
                         "--factor",   "2.5",        "--chunk=1MiB+8B",
                         "--time",     "1.5min",     "--rate=2GB/s",
                         "--mode",     "slow",       "--limit=4",
                         "--share",    "0.25",       "--memory=2GiB",
                         "--pause",    "250ms",      "--bound",
                         "1MiB/s",     "--file=a=b", "--sizes",
                         "8,16",       "--blocks",   "1KiB,2KiB",
                         "--names=x,y"}));
    EXPECT_TRUE(x.verbose);
    EXPECT_EQ(x.count, 7);
    EXPECT_EQ(x.factor, 2.5);
    EXPECT_EQ(x.chunk.count, 1048584);
    EXPECT_EQ(x.time.count, 90);
    EXPECT_EQ(x.rate.count, 2e9);
    EXPECT_EQ(x.mode, "slow");
    EXPECT_EQ(x.limit, 4);
    EXPECT_EQ(x.share, 0.25);
    EXPECT_EQ(x.memory, Bytes{2147483648});
    EXPECT_EQ(x.pause, Seconds{0.25});
    EXPECT_EQ(x.bound, BytesPerSecond{1048576});
    EXPECT_EQ(x.file, "a=b");
    EXPECT_EQ(x.sizes, (std::vector<std::int64_t>{8, 16}));
    EXPECT_EQ(x.blocks, (std::vector<Bytes>{{1024}, {2048}}));
    EXPECT_EQ(x.names, (std::vector<std::string>{"x", "y"}));
    EXPECT_TRUE(x.table.given("names"));
    EXPECT_FALSE(Every().table.given("names"));
}

TEST(Options, defaults_stay_unless_given) {
    Every e;
    ASSERT_TRUE(e.parse({}));
    EXPECT_EQ(e.count, 3);
    EXPECT_FALSE(e.limit);
    EXPECT_EQ(e.sizes, (std::vector<std::int64_t>{1, 2}));
}

TEST(Options, an_option_notes_that_it_was_given_be_it_with_its_default) {
    for (const bool given : {false, true}) {
        std::int64_t count = 1;
        bool noted = false;
        OptionTable table("x", "");
        table.add("count", count, "how many").notes(noted);
        ASSERT_TRUE(table.parse(given ? std::vector<std::string>{"--count", "1"}
                                      : std::vector<std::string>{}));
        EXPECT_EQ(noted, given);
    }
}

TEST(Options, a_list_replaces_its_default_once_and_then_grows) {
    Every e;
    ASSERT_TRUE(e.parse({"--sizes", "4,8,", "--sizes=16"}));
    EXPECT_EQ(e.sizes, (std::vector<std::int64_t>{4, 8, 16}));
}

TEST(Options, commas_may_belong_to_the_values_of_a_list) {
    std::vector<std::string> lines;
    OptionTable table("x", "");
    table.add("line", lines, "one a time").metavar("LINE").whole();
    ASSERT_TRUE(table.parse(std::vector<std::string>{"--line", "a,b", "--line=c,"}));
    EXPECT_EQ(lines, (std::vector<std::string>{"a,b", "c,"}));
    EXPECT_NE(table.help(false).find("--line LINE …"), std::string::npos);
}

enum class Colour { red, green, blue };

struct Colours {
    Colour one = Colour::green;
    std::vector<Colour> some{Colour::blue, Colour::red};
    bool light = true;
    OptionTable table{"effio-mpi colours", "Has words for values."};

    Colours() {
        const Words<Colour> words{
            {"red", Colour::red}, {"green", Colour::green}, {"blue", Colour::blue}};
        table.choice("one", one, words, "which").letter('o');
        table.choice("some", some, words, "which ones");
        table.on_off("light", light, "whether there is some");
    }
};

TEST(Options, words_are_values_of_an_enumeration_and_back) {
    Colours c;
    EXPECT_EQ(c.table.values(),
              parse_json(R"({"one": "green", "some": ["blue", "red"], "light": "on"})"));
    const std::vector<std::string> words{"-o", "red", "--some", "green,green", "--light=off"};
    ASSERT_TRUE(c.table.parse(words));
    EXPECT_EQ(c.one, Colour::red);
    EXPECT_EQ(c.some, (std::vector{Colour::green, Colour::green}));
    EXPECT_FALSE(c.light);
    EXPECT_EQ(c.table.values(),
              parse_json(R"({"one": "red", "some": ["green", "green"], "light": "off"})"));
}

TEST(Options, words_show_their_choices_and_default) {
    const Json d = Colours().table.describe()["options"];
    EXPECT_EQ(d[0]["type"], "choice");
    EXPECT_EQ(d[0]["choices"], parse_json(R"(["red", "green", "blue"])"));
    EXPECT_EQ(d[0]["default"], "green");
    EXPECT_EQ(d[0]["metavar"], "red|green|blue");
    EXPECT_EQ(d[1]["default"], "blue,red");
    EXPECT_EQ(d[1]["list"], true);
    EXPECT_EQ(d[2]["choices"], parse_json(R"(["on", "off"])"));
    Colours c;
    const std::vector<std::string> wrong{"--one=yellow", "--some=red,,blue", "--light"};
    const auto status = c.table.parse(wrong);
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().cause,
              "--one: 'yellow' is not one of red, green, blue\n"
              "--some: an element of the list is empty");
}

TEST(Options, what_is_on_or_off_is_on_without_a_value) {
    const auto light_of = [](const std::vector<std::string>& words) {
        Colours c;
        c.light = false;
        EXPECT_TRUE(c.table.parse(words));
        return c.light;
    };
    EXPECT_TRUE(light_of({"--light"}));
    EXPECT_TRUE(light_of({"--light", "-o", "red"}));
    EXPECT_TRUE(light_of({"--light", "on"}));
    EXPECT_FALSE(light_of({"--light", "off"}));
    EXPECT_FALSE(light_of({"-o", "red", "--light=off"}));
    Colours c;
    const std::vector<std::string> dim{"--light=dim"};
    EXPECT_EQ(c.table.parse(dim).error().cause, "--light: 'dim' is not one of on, off");
}

TEST(Options, a_list_element_that_is_missing_is_a_fault) {
    EXPECT_EQ(Every().fault({"--sizes", "4,,8"}), "--sizes: an element of the list is empty");
    EXPECT_EQ(Every().fault({"--names", "a,,b"}), "--names: an element of the list is empty");
    EXPECT_EQ(Every().fault({"--names="}), "--names needs a value (TEXT)");
    EXPECT_EQ(Every().fault({"--sizes="}), "--sizes needs a value (N)");
}

TEST(Options, unknown_options_get_a_suggestion_where_one_is_near) {
    EXPECT_EQ(Every().fault({"--cuont", "7"}), "unknown option --cuont; did you mean --count?");
    EXPECT_EQ(Every().fault({"--memroy=1GiB"}), "unknown option --memroy; did you mean --memory?");
    EXPECT_EQ(Every().fault({"--xyzzy"}), "unknown option --xyzzy");
    EXPECT_EQ(Every().fault({"--xyz"}), "unknown option --xyz");
    EXPECT_EQ(Every().fault({"-x"}), "unknown option -x");
    EXPECT_EQ(Every().fault({"7"}), "unexpected argument '7'");
    EXPECT_EQ(Every().fault({"--"}), "unknown option --");
    EXPECT_EQ(Every().fault({"-nv"}), "unexpected argument '-nv'");
}

TEST(Options, a_value_given_twice_or_missing_or_superfluous_is_a_fault) {
    EXPECT_EQ(Every().fault({"--count", "7", "-n", "8"}), "--count is given twice");
    EXPECT_EQ(Every().fault({"--count"}), "--count needs a value (N)");
    EXPECT_EQ(Every().fault({"--mode"}), "--mode needs a value (fast|slow)");
    EXPECT_EQ(Every().fault({"--verbose=yes"}), "--verbose takes no value");
    Every e;
    EXPECT_TRUE(e.parse({"-v", "-v"}));  // saying it twice means the same
}

TEST(Options, large_bounds_are_exact_and_a_boundless_size_has_none) {
    OptionTable table("test", "");
    std::int64_t seed = 0;
    Bytes memory;
    table.add("seed", seed, "of numbers").range(0, 4294967295.0);
    table.add("memory", memory, "of a rank").range(1048576, 9e18);
    const std::string help = table.help(false);
    EXPECT_NE(help.find("of numbers (0 to 4294967295)"), std::string::npos) << help;
    EXPECT_NE(help.find("of a rank (at least 1MiB)"), std::string::npos) << help;
}

TEST(Options, values_out_of_range_name_the_range) {
    EXPECT_EQ(Every().fault({"--count", "0"}), "--count: 0 is out of range (1 to 100)");
    EXPECT_EQ(Every().fault({"--chunk", "4B"}), "--chunk: 4B is out of range (8B to 1GB)");
    EXPECT_EQ(Every().fault({"--time", "2h"}), "--time: 2h is out of range (0s to 3600s)");
    EXPECT_EQ(Every().fault({"--sizes", "8,65"}), "--sizes: 65 is out of range (1 to 64)");
    EXPECT_EQ(Every().fault({"--limit", "11"}), "--limit: 11 is out of range (0 to 10)");
    EXPECT_EQ(Every().fault({"--mode", "warp"}), "--mode: 'warp' is not one of fast, slow");
    EXPECT_EQ(Every().fault({"--count", "x"}), "--count: 'x' is not a whole number");
    EXPECT_EQ(Every().fault({"--share", "nan"}), "--share: 'nan' is not a finite number");
    Every e;
    EXPECT_TRUE(e.parse({"--count", "1", "--factor", "8"}));  // bounds are inside
}

TEST(Options, every_fault_of_a_line_is_reported_at_once) {
    EXPECT_EQ(Every().fault({"--count", "0", "--nosuch", "5", "--mode=warp", "--time"}),
              "--count: 0 is out of range (1 to 100)\n"
              "unknown option --nosuch\n"
              "--mode: 'warp' is not one of fast, slow\n"
              "--time needs a value (TIME)");
}

TEST(Options, set_takes_text_from_elsewhere) {
    Every e;
    EXPECT_TRUE(e.table.set("count", "9"));
    EXPECT_EQ(e.count, 9);
    EXPECT_TRUE(e.table.set("verbose", ""));
    EXPECT_TRUE(e.verbose);
    EXPECT_EQ(e.table.set("verbose", "off").error().cause, "--verbose takes no value");
    EXPECT_EQ(e.table.set("cuont", "9").error().cause,
              "unknown option --cuont; did you mean --count?");
}

TEST(Options, pairs_are_read_like_a_command_line) {
    Every e;
    ASSERT_TRUE(e.table.set_all("count=9,time=2min,verbose,"));
    EXPECT_EQ(e.count, 9);
    EXPECT_EQ(e.time.count, 120);
    EXPECT_TRUE(e.verbose);
    EXPECT_TRUE(Every().table.set_all(""));
    EXPECT_EQ(Every().table.set_all("count,factor=2,verbose=off,factor=3,x=1").error().cause,
              "--count needs a value (N)\n"
              "--verbose takes no value\n"
              "--factor is given twice\n"
              "unknown option --x");
}

TEST(Options, help_text_is_made_from_the_table) {
    const std::string help = Every().table.help(false);
    EXPECT_EQ(help,
              "Usage: effio-mpi every [options]\n"
              "\n"
              "Has every type.\n"
              "\n"
              "First:\n"
              "  -v, --verbose             say more\n"
              "  -n, --count N             how many (1 to 100) [default: 3]\n"
              "      --factor X            by how much (0.5 to 8) [default: 1.5]\n"
              "      --chunk SIZE          size of a chunk (8B to 1GB) [default: 1MiB+8B]\n"
              "      --time TIME           how long (0s to 3600s) [default: 30s]\n"
              "      --rate RATE           how fast [default: 1GB/s]\n"
              "      --mode fast|slow      which way [default: fast]\n"
              "\n"
              "Second:\n"
              "      --limit N             at most (0 to 10) [default: no limit]\n"
              "      --share X             part of it\n"
              "      --memory SIZE         memory [default: detected]\n"
              "      --pause TIME          pause\n"
              "      --bound RATE          bound\n"
              "      --file FILE           where\n"
              "      --sizes N[,…]         list of numbers (1 to 64) [default: 1,2]\n"
              "      --names TEXT[,…]      list of words [default: a]\n"
              "\n"
              "More options, for special cases: --help-all\n"
              "\n"
              "The end.\n");
    const std::string all = Every().table.help(true);
    EXPECT_NE(all.find("--blocks SIZE[,…]"), std::string::npos);
    EXPECT_EQ(all.find("--help-all"), std::string::npos);
}

TEST(Options, the_description_has_what_programs_need) {
    const Json d = Every().table.describe();
    EXPECT_EQ(d["command"], "effio-mpi every");
    EXPECT_EQ(d["options"].size(), 16U);
    const Json expected = parse_json(R"({"name": "count", "letter": "n", "type": "integer",
        "list": false, "unit": null, "default": "3", "automatic": false, "min": 1.0, "max": 100.0,
        "metavar": "N", "group": "First", "expert": false, "help": "how many"})");
    EXPECT_EQ(d["options"][1], expected);
    EXPECT_EQ(d["options"][0]["type"], "flag");
    EXPECT_EQ(d["options"][3]["type"], "size");
    EXPECT_EQ(d["options"][3]["unit"], "B");
    EXPECT_EQ(d["options"][4]["unit"], "s");
    EXPECT_EQ(d["options"][5]["unit"], "B/s");
    EXPECT_EQ(d["options"][6]["choices"], parse_json(R"(["fast", "slow"])"));
    EXPECT_EQ(d["options"][7]["automatic"], true);
    EXPECT_EQ(d["options"][13]["list"], true);
    EXPECT_EQ(d["options"][14]["expert"], true);
}

TEST(Options, the_effective_values_are_echoed_in_base_units) {
    Every e;
    ASSERT_TRUE(e.parse({"--limit", "4", "--pause=20ms", "--blocks=1KiB,2KiB"}));
    EXPECT_EQ(e.table.values(), parse_json(R"({"verbose": false, "count": 3, "factor": 1.5,
        "chunk": 1048584, "time": 30.0, "rate": 1e9, "mode": "fast", "limit": 4, "share": null,
        "memory": null, "pause": 0.02, "bound": null, "file": null, "sizes": [1, 2],
        "blocks": [1024, 2048], "names": ["a"]})"));
}

TEST(Options, the_first_broken_rule_is_reported) {
    EXPECT_TRUE(check_rules({}));
    EXPECT_TRUE(check_rules({{false, "one"}, {false, "two"}}));
    const auto broken = check_rules({{false, "one"}, {true, "two"}, {true, "three"}});
    ASSERT_FALSE(broken);
    EXPECT_EQ(broken.error().exit_code, ExitCode::usage);
    EXPECT_EQ(broken.error().cause, "two");
}

}  // namespace
}  // namespace effio
