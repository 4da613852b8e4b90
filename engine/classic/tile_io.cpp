// SPDX-License-Identifier: BSD-3-Clause
#include "classic/tile_io.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <string_view>

#include "storage/posix_calls.hpp"

namespace effio {
namespace {

constexpr const char* tile_io_help =
    R"(Usage: mpi-tile-io [options] --filename FILE
  --nr_tiles_x N, --nr_tiles_y N   tiles [1, 1]; at least as many processes
  --sz_tile_x N, --sz_tile_y N     elements of a tile [1024, 1024]
  --nr_tiles_z N, --sz_tile_z N    a third dimension
  --sz_element N                   bytes of an element [3]
  --overlap_x N, --overlap_y N, --overlap_z N   elements that neighbors share [0]
  --header_bytes N                 before the dataset [0]
  --nr_files N                     files [1]
  --collective                     collective calls; a 1 after it is ignored
  --write_file                     write; else read what is there; a 1 after it is ignored
  --sz_coll_buf N, --sz_indep_buf N   buffer sizes, as hints
  --filename FILE                  required
Each option may also be given by the environment, in upper case: NR_TILES_X=4
)";

constexpr std::array<std::string_view, 15> tile_io_options{
    "nr_tiles_x", "nr_tiles_y", "nr_tiles_z",  "sz_tile_x",    "sz_tile_y",
    "sz_tile_z",  "sz_element", "overlap_x",   "overlap_y",    "overlap_z",
    "nr_files",   "filename",   "sz_coll_buf", "header_bytes", "sz_indep_buf"};
constexpr std::array<std::string_view, 2> tile_io_flags{"collective", "write_file"};

using TileIoValues = std::map<std::string, std::string, std::less<>>;

bool is_one_of(std::string_view name, std::span<const std::string_view> names) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

std::optional<std::string> from_environment(std::string_view name) {
    std::string key(name);
    for (char& c : key) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    const char* value = std::getenv(key.c_str());
    if (value == nullptr) return {};
    return value;
}

/// Why a flag with this value would do the opposite of what the value says.
Status check_flag(std::string_view name, std::string_view value) {
    if (value != "0") return {};
    return usage_error(
        fmt::format("--{0} 0: --{0} is a flag, and the original ignores the 0 and switches it on; "
                    "leave it out to switch it off",
                    name));
}

class TileIoReportView : public study::Observer {
  public:
    explicit TileIoReportView(TileIoRequest request) : request_(std::move(request)) {}

    void start(const Session& session) override {
        request_.host = session.host;
        request_.available = session.comm.size();
    }
    void pass(const study::PassResult& result) override {
        if (!result.valid) return;
        std::fputs(classic_tile_io_report(request_, result).c_str(), stdout);
        std::fflush(stdout);
    }

  private:
    TileIoRequest request_;
};

std::string seconds_line(const char* label, const study::PassResult& r, std::string_view part) {
    for (std::size_t i = 0; i < r.seconds.size(); ++i) {
        if (r.seconds[i].name != part) continue;
        const Spread& s = r.seconds[i].value;
        return fmt::format(
            "# {}: min_t = {:.6f}, max_t = {:.6f}, mean_t = {:.6f}, var_t = {:.6f}\n", label, s.min,
            s.max, s.mean, r.variance[i]);
    }
    return {};
}

Result<TileIoValues> read_tile_io_words(const std::vector<std::string>& words) {
    TileIoValues values;
    for (std::size_t i = 0; i < words.size(); ++i) {
        std::string name = words[i];
        if (!name.starts_with("--")) return usage_error(fmt::format("unknown word {}", name));
        name.erase(0, 2);
        std::optional<std::string> value;
        if (const auto equals = name.find('='); equals != std::string::npos) {
            value = name.substr(equals + 1);
            name.resize(equals);
        }
        if (is_one_of(name, tile_io_flags)) {
            // getopt skips a word that is not an option: scripts write "--collective 1".
            if (!value && i + 1 < words.size() && (words[i + 1] == "1" || words[i + 1] == "0")) {
                value = words[++i];
            }
            if (auto fits = check_flag(name, value.value_or("1")); !fits) {
                return std::move(fits.error());
            }
            values[name] = "1";
        } else if (!is_one_of(name, tile_io_options)) {
            return usage_error(fmt::format("unknown option --{}", name));
        } else {
            if (!value && ++i == words.size()) {
                return usage_error(fmt::format("--{} needs a value", name));
            }
            values[name] = value ? *value : words[i];
        }
    }
    for (const auto& names : {std::span<const std::string_view>(tile_io_options),
                              std::span<const std::string_view>(tile_io_flags)}) {
        for (const auto name : names) {
            if (values.contains(name)) continue;
            auto found = from_environment(name);
            if (!found) continue;
            if (is_one_of(name, tile_io_flags)) {
                if (auto fits = check_flag(name, *found); !fits) return std::move(fits.error());
            }
            values.emplace(name, std::move(*found));
        }
    }
    return values;
}

}  // namespace

std::string classic_tile_io_report(const TileIoRequest& request, const study::PassResult& result) {
    const tile_io::Geometry& g = request.geometry;
    // As the original names them: x first.
    const auto by_x = [&](auto&& of) {
        std::string text;
        for (auto e = g.extents.rbegin(); e != g.extents.rend(); ++e) {
            text += (text.empty() ? "" : " x ") + std::to_string(of(*e));
        }
        return text;
    };
    using tile_io::Extent;
    const bool writes = result.writing;
    std::string out;
    out += fmt::format("# mpi-tile-io run on {}\n", request.host);
    out += fmt::format("# {} process(es) available, {} used\n", request.available, g.tiles());
    out += fmt::format("# filename: {}\n", result.path);
    out += fmt::format("# collective I/O {}\n", request.collective ? "on" : "off");
    out += fmt::format("# {} byte header\n", g.header);
    out += fmt::format("# {} element dataset, {} bytes per element\n",
                       by_x([](const Extent& e) { return e.length(); }), g.element);
    out += fmt::format("# {} tiles, each tile is {} elements\n",
                       by_x([](const Extent& e) { return e.tiles; }),
                       by_x([](const Extent& e) { return e.tile; }));
    out += fmt::format("# tiles overlap by {} elements\n",
                       by_x([](const Extent& e) { return e.overlap; }));
    out += fmt::format("# total file size is ~{:.2f} Mbytes, {} file(s) total\n",
                       static_cast<double>(g.file_bytes()) / static_cast<double>(MiB), g.files);
    out += "#\n# Times are total for all operations of the given type\n";
    out += seconds_line("Open", result, "open");
    out += seconds_line(writes ? "Write" : "Read", result, "transfer");
    out += seconds_line("Close", result, "close");
    out += fmt::format("# {} bandwidth = {:.3f} Mbytes/sec\n", writes ? "Write" : "Read",
                       result.transfer_rate() / static_cast<double>(MiB));
    return out;
}

Result<ClassicProgram::Translation> translate_tile_io(const std::vector<std::string>& words,
                                                      const std::vector<std::string>& further) {
    ClassicProgram::Translation translation;
    const auto complaint = [](const std::string& text) {
        return usage_error(text + "\n" + tile_io_help);
    };
    if (std::find(words.begin(), words.end(), "--help") != words.end()) {
        translation.message = tile_io_help;
        return translation;
    }
    const auto values = read_tile_io_words(words);
    if (!values) return complaint(values.error().cause);
    const auto text = [&](std::string_view name, const std::string& otherwise) {
        const auto found = values->find(name);
        return found == values->end() ? otherwise : found->second;
    };
    const std::string file = text("filename", "");
    if (file.empty()) return complaint("--filename is missing");
    std::optional<std::string> wrong;
    const auto number = [&](std::string_view name, std::int64_t otherwise, std::int64_t least) {
        const auto value = parse_integer(text(name, std::to_string(otherwise)));
        if (!value || *value < least) wrong = fmt::format("--{}: '{}'", name, text(name, ""));
        return value ? *value : otherwise;
    };
    const bool writes = values->contains("write_file");
    const bool collective = values->contains("collective");
    const bool deep = values->contains("nr_tiles_z");

    TileIoRequest request;
    request.collective = collective;
    tile_io::Geometry& g = request.geometry;
    if (deep) {
        g.extents.push_back(
            {number("nr_tiles_z", 1, 1), number("sz_tile_z", 1, 1), number("overlap_z", 0, 0)});
    }
    for (const char* d : {"y", "x"}) {
        const auto of = [&](const char* what) { return std::string(what) + d; };
        g.extents.push_back({number(of("nr_tiles_"), 1, 1), number(of("sz_tile_"), 1024, 1),
                             number(of("overlap_"), 0, 0)});
    }
    g.element = number("sz_element", 3, 1);
    g.header = number("header_bytes", 0, 0);
    g.files = number("nr_files", 1, 1);
    if (wrong) return complaint("no such number: " + *wrong);

    // What the original does: what is written stays, and what was there is replaced; it checks no
    // data, and leaves the caches alone.
    std::vector<std::string> own{"--quiet", "--progress=none", "--keep", "--overwrite",
                                 "--verify=off", "--drop-cache=off", "--call-times=off",
                                 "--exact-name", "--dir=" + parent_of(file),
                                 // The rate of the original is that of the calls alone.
                                 "--fsync=separate"};
    own.push_back("--file=" + file.substr(file.rfind('/') + 1));
    own.push_back(fmt::format("--phases={}", writes ? "write" : "read"));
    own.push_back(fmt::format("--calls={}", collective ? "collective" : "independent"));
    const char* const names = deep ? "zyx" : "yx";
    for (std::size_t i = 0; i < g.extents.size(); ++i) {
        own.push_back(fmt::format("--nr-tiles-{}={}", names[i], g.extents[i].tiles));
        own.push_back(fmt::format("--sz-tile-{}={}", names[i], g.extents[i].tile));
        own.push_back(fmt::format("--overlap-{}={}", names[i], g.extents[i].overlap));
    }
    own.push_back(fmt::format("--sz-element={}", g.element));
    own.push_back(fmt::format("--header-bytes={}", g.header));
    own.push_back(fmt::format("--nr-files={}", g.files));
    for (const auto& [name, option] : {std::pair("sz_coll_buf", "--sz-coll-buf="),
                                       std::pair("sz_indep_buf", "--sz-indep-buf=")}) {
        if (const auto value = text(name, ""); !value.empty()) own.push_back(option + value);
    }
    own.insert(own.end(), further.begin(), further.end());
    translation.benchmark =
        tile_io::make_benchmark(std::make_unique<TileIoReportView>(std::move(request)));
    translation.arguments = std::move(own);
    return translation;
}

}  // namespace effio
