// SPDX-License-Identifier: BSD-3-Clause
#include "storage/sion/commands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <map>
#include <optional>

#include "core/nearest.hpp"
#include "core/options.hpp"
#include "core/table.hpp"
#include "core/units.hpp"
#include "storage/sion/container.hpp"
#include "storage/sion/copies.hpp"
#include "storage/sion/key_values.hpp"

namespace effio::sion {
namespace {

using Words = std::vector<std::string>;

struct Settings {
    bool json = false;
    std::optional<std::int64_t> rank;
    std::optional<std::int64_t> chunk;
    std::optional<std::int64_t> key;
    std::int64_t digits = 6;
    bool overwrite = false;
};

struct Command {
    const char* name;
    const char* arguments;  ///< besides the container
    const char* purpose;
    void (*declare)(Settings&, OptionTable&);
    ExitCode (*run)(const Container&, const std::string& argument, const Settings&);
};

void print(const std::string& text) {
    std::fputs(text.c_str(), stdout);
}

ExitCode complain(const Error& error) {
    std::fputs(fmt::format("effio-mpi sion: {}\n", error.text()).c_str(), stderr);
    return error.exit_code;
}

const char* name_of(KeyValues keys) {
    switch (keys) {
        case KeyValues::none:
            return "none";
        case KeyValues::inlined:
            return "inline";
        case KeyValues::meta:
            return "meta";
        case KeyValues::hash:
            break;
    }
    return "hash";
}

std::string text_of(std::int64_t bytes) {
    return shown_size(Bytes{bytes});
}

/// "0-3, 7"
std::string ranges(const std::vector<std::int64_t>& ranks) {
    std::string text;
    for (std::size_t i = 0; i < ranks.size();) {
        std::size_t end = i + 1;
        while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1) ++end;
        text += fmt::format("{}{}", text.empty() ? "" : ", ", ranks[i]);
        if (end - i > 1) text += fmt::format("-{}", ranks[end - 1]);
        i = end;
    }
    return text;
}

struct Totals {
    std::int64_t streams = 0;    ///< bytes
    std::int64_t files = 0;      ///< bytes, as long as they are
    std::int64_t allocated = 0;  ///< bytes on storage

    double sparse() const {
        return files == 0
                   ? 0
                   : std::max(0., 1 - static_cast<double>(allocated) / static_cast<double>(files));
    }
};

Totals totals_of(const Container& container) {
    Totals totals;
    for (const auto& part : container.parts()) {
        if (part.source == nullptr) continue;
        totals.files += part.source->size();
        totals.allocated += part.source->allocated();
    }
    for (const auto& task : container.tasks()) {
        totals.streams += container.parts()[task.part].file.bytes_of(task.task);
    }
    return totals;
}

bool has_keys(const Container& container) {
    return container.first().file.head.key_values == KeyValues::inlined;
}

/// Up to the first wrong record, which with_faults() reports.
std::map<std::int64_t, KeyTotal> keys_of(const Container& container, const Container::Task& task) {
    std::map<std::int64_t, KeyTotal> keys;
    (void)count_keys(container, task, keys);
    return keys;
}

Json json_of(const Container& container) {
    const Header& head = container.first().file.head;
    const Totals totals = totals_of(container);
    Json out{{"format_version", head.version},
             {"library_version", head.library},
             {"metadata_order", name_of(head.metadata)},
             {"data_order", name_of(head.data)},
             {"key_values", name_of(head.key_values)},
             {"prefix", head.prefix},
             {"files", head.files},
             {"stream_bytes", totals.streams},
             {"file_bytes", totals.files},
             {"allocated_bytes", totals.allocated},
             {"sparse_share", totals.sparse()},
             {"parts", Json::array()},
             {"tasks", Json::array()}};
    for (const auto& part : container.parts()) {
        Json one{{"path", part.path}, {"error", nullptr}};
        if (part.error) one["error"] = part.error->text();
        if (part.usable()) {
            const Header& own = part.file.head;
            one["block_bytes"] = own.block;
            one["tasks"] = own.tasks();
            one["closed"] = own.closed();
            one["rows"] = own.rows;
        }
        out["parts"].push_back(std::move(one));
    }
    for (const auto& task : container.tasks()) {
        const File& file = container.parts()[task.part].file;
        const auto number = static_cast<std::size_t>(task.task);
        Json one{{"rank", task.rank},
                 {"file", task.part},
                 {"chunk_bytes", file.head.chunks[number]},
                 {"first_chunk", file.chunks.begin(task.task, 0)},
                 {"chunks", nullptr},
                 {"bytes", nullptr}};
        if (file.head.closed()) {
            one["chunks"] = file.tail.used[number];
            one["bytes"] = file.bytes_of(task.task);
        }
        if (has_keys(container)) {
            one["keys"] = Json::array();
            for (const auto& [key, total] : keys_of(container, task)) {
                one["keys"].push_back(
                    {{"key", key}, {"records", total.records}, {"bytes", total.bytes}});
            }
        }
        out["tasks"].push_back(std::move(one));
    }
    return out;
}

std::string text_of(const Container& container) {
    const Header& head = container.first().file.head;
    const Totals totals = totals_of(container);
    std::string text = fmt::format(
        "{}: SION format {}, library {}.{}.{}, metadata {}-endian, data {}-endian, keys: {}\n",
        container.first().path, head.version, head.library / 1000, head.library % 1000, head.patch,
        name_of(head.metadata), name_of(head.data), name_of(head.key_values));
    text += fmt::format("{}, block {}; streams {}, files {}, on storage {} ({:.1f} % sparse)\n\n",
                        count_of(head.files, "file"), text_of(head.block), text_of(totals.streams),
                        text_of(totals.files), text_of(totals.allocated), 100 * totals.sparse());
    Table table({{"rank"}, {"file"}, {"chunk [B]"}, {"begin [B]"}, {"chunks"}, {"stream [B]"}});
    for (const auto& task : container.tasks()) {
        const File& file = container.parts()[task.part].file;
        const auto number = static_cast<std::size_t>(task.task);
        const bool closed = file.head.closed();
        table.row({std::to_string(task.rank), std::to_string(task.part),
                   std::to_string(file.head.chunks[number]),
                   std::to_string(file.chunks.begin(task.task, 0)),
                   closed ? std::to_string(file.tail.used[number]) : "?",
                   closed ? std::to_string(file.bytes_of(task.task)) : "?"});
    }
    text += table.text();
    if (!has_keys(container)) return text;
    Table keys({{"rank"}, {"key"}, {"records"}, {"value [B]"}});
    for (const auto& task : container.tasks()) {
        for (const auto& [key, total] : keys_of(container, task)) {
            keys.row({std::to_string(task.rank), std::to_string(key), std::to_string(total.records),
                      std::to_string(total.bytes)});
        }
    }
    return text + "\n" + keys.text();
}

/// What is wrong with the records of a stream.
Status check_records(const Container& container, const Container::Task& task) {
    if (!has_keys(container)) return {};
    return each_record(container, task, [](const KeyRecord&) { return Status(); });
}

/// Ends an answer: what is wrong with the container is reported, but does not hide what is there.
ExitCode with_faults(const Container& container) {
    ExitCode code = ExitCode::done;
    for (const auto& part : container.parts()) {
        if (part.error) code = worse(code, complain(*part.error));
    }
    for (const auto& task : container.tasks()) {
        if (auto whole = check_records(container, task); !whole) {
            code = worse(code, complain(whole.error()));
        }
    }
    return code;
}

ExitCode list(const Container& container, const std::string&, const Settings& settings) {
    // The prefix is another program's text, and paths may be anything.
    print(settings.json ? json_lines(json_of(container)) + "\n" : text_of(container));
    return with_faults(container);
}

ExitCode concatenate(const Container& container, const std::string&, const Settings& settings) {
    const Sink to_stdout = [](std::span<const std::byte> data) -> Status {
        if (std::fwrite(data.data(), 1, data.size(), stdout) == data.size()) return {};
        return system_error("write", "stdout", errno);
    };
    if (!settings.rank) return complain(usage_error("cat needs --rank"));
    if (settings.key) {
        if (settings.chunk) {
            return complain(
                usage_error("--key and --chunk exclude each other: a value can be in "
                            "several chunks"));
        }
        if (auto has = check_keys(container); !has) return complain(has.error());
    }
    const auto* task = container.find(*settings.rank);
    if (task == nullptr) {
        if (const Error* fault = container.fault()) return complain(*fault);
        return complain(usage_error(fmt::format("--rank: the container has {}, none of rank {}",
                                                count_of(std::ssize(container.tasks()), "task"),
                                                *settings.rank)));
    }
    Status done = settings.key ? copy_value(container, *task, *settings.key, to_stdout)
                               : copy(container, *task, settings.chunk, to_stdout);
    if (done && std::fflush(stdout) != 0) done = system_error("write", "stdout", errno);
    return done ? ExitCode::done : complain(done.error());
}

ExitCode split(const Container& container, const std::string& prefix, const Settings& settings) {
    ExitCode code = ExitCode::done;
    for (const auto& part : container.parts()) {
        if (part.error) code = worse(code, complain(*part.error));
    }
    for (const auto& task : container.tasks()) {
        const std::string path = fmt::format("{}{:0{}d}", prefix, task.rank, settings.digits);
        Status done = has_keys(container) ? split_keys(container, task, path, settings.overwrite)
                                          : split_stream(container, task, path, settings.overwrite);
        if (!done) {
            code = worse(code, complain(done.error()));
            if (done.error().exit_code != ExitCode::data_errors) break;
        }
    }
    return code;
}

ExitCode check(const Container& container, const std::string&, const Settings&) {
    ExitCode code = ExitCode::done;
    std::vector<std::int64_t> whole;
    for (const auto& task : container.tasks()) {
        if (!container.parts()[task.part].file.head.closed()) continue;
        if (auto records = check_records(container, task); !records) {
            print(records.error().text() + "\n");
            code = worse(code, records.error().exit_code);
        } else {
            whole.push_back(task.rank);
        }
    }
    for (const auto& part : container.parts()) {
        if (part.error) {
            print(part.error->text() + "\n");
            code = worse(code, part.error->exit_code == ExitCode::data_errors ||
                                       part.error->system_code == ENOENT
                                   ? ExitCode::data_errors
                                   : part.error->exit_code);
        } else if (!part.file.head.closed()) {
            print(fmt::format("{}: not closed: nothing says how long the streams of its {} are\n",
                              part.path, count_of(part.file.head.tasks(), "task")));
            code = worse(code, ExitCode::data_errors);
        } else {
            print(fmt::format("{}: complete, {}\n", part.path,
                              count_of(part.file.head.tasks(), "task")));
        }
    }
    print(fmt::format("complete streams: {}\n", whole.empty() ? "none" : "ranks " + ranges(whole)));
    return code;
}

constexpr std::array<Command, 4> commands{
    {{"ls", "", "the container's header and its tasks",
      [](Settings& s, OptionTable& t) { t.flag("json", s.json, "as JSON"); }, list},
     {"cat", "", "write a task's stream to the standard output",
      [](Settings& s, OptionTable& t) {
          t.add("rank", s.rank, "rank of the task").range(0, 9e18).automatic("must be given");
          t.add("chunk", s.chunk, "only this one, from 0 on").range(0, 9e18).automatic("all");
          t.add("key", s.key, "only the value of this key, in a container with keys")
              .range(-9e18, 9e18)
              .automatic("the whole stream, with keys and lengths");
      },
      concatenate},
     {"split", "PREFIX",
      "one file per task, PREFIX and the rank; with keys one per key, PREFIX, rank.KEY",
      [](Settings& s, OptionTable& t) {
          t.add("digits", s.digits, "least digits of the rank in the names").range(1, 20);
          t.flag("overwrite", s.overwrite, "replace existing files");
      },
      split},
     {"check", "", "verify that the streams of all tasks are complete; exit code 1 if not",
      [](Settings&, OptionTable&) {}, check}}};

std::string usage() {
    std::string text =
        "Usage: effio-mpi sion COMMAND FILE [options]\n\n"
        "Shows the contents of containers in the format of SIONlib. FILE is the first of a\n"
        "container's files.\n\nCommands:\n";
    for (const auto& command : commands) {
        text +=
            fmt::format("  {:<21}{}\n", fmt::format("{} FILE {}", command.name, command.arguments),
                        command.purpose);
    }
    return text + "  COMMAND --help\n";
}

}  // namespace

ExitCode run_command(const Words& words) {
    if (words.empty() || words[0] == "--help" || words[0] == "-h") {
        std::fputs(usage().c_str(), words.empty() ? stderr : stdout);
        return words.empty() ? ExitCode::usage : ExitCode::done;
    }
    const auto command = std::find_if(commands.begin(), commands.end(),
                                      [&](const Command& c) { return words[0] == c.name; });
    if (command == commands.end()) {
        std::fputs(fmt::format("effio-mpi sion: no command '{}'\n{}", words[0], usage()).c_str(),
                   stderr);
        return ExitCode::usage;
    }
    Settings settings;
    const std::string arguments =
        command->arguments[0] == '\0' ? "FILE" : fmt::format("FILE {}", command->arguments);
    OptionTable table(fmt::format("effio-mpi sion {} {}", command->name, arguments),
                      command->purpose);
    command->declare(settings, table);
    const auto is_option = [](const std::string& word) { return word.starts_with('-'); };
    const auto options = std::find_if(words.begin() + 1, words.end(), is_option);
    if (options != words.end() && (*options == "--help" || *options == "-h")) {
        print(table.help(true));
        return ExitCode::done;
    }
    const Words operands(words.begin() + 1, options);
    const std::size_t needed = command->arguments[0] == '\0' ? 1 : 2;
    Status parsed = table.parse(Words(options, words.end()));
    if (parsed && operands.size() != needed) {
        parsed = usage_error(fmt::format("{} takes {}, then options", command->name, arguments));
    }
    if (!parsed) return complain(parsed.error());
    const auto container = Container::open(operands[0]);
    if (!container) return complain(container.error());
    return command->run(*container, needed == 2 ? operands[1] : std::string(), settings);
}

}  // namespace effio::sion
