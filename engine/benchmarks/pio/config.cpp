// SPDX-License-Identifier: BSD-3-Clause
// Patterns from a file in the style of pio-bench.conf (docs/definitions/pio.md, Configuration
// file): directives, and sections of them, one a line.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <sstream>
#include <utility>

#include "benchmarks/pio/pio.hpp"

namespace effio::pio {
namespace {

std::string lower(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

/// The words of a line; in quotes, several are one. Nothing if a quote is not closed.
std::optional<std::vector<std::string>> words_in(const std::string& line) {
    std::vector<std::string> words;
    std::size_t at = 0;
    while (true) {
        at = line.find_first_not_of(" \t\r", at);
        if (at == std::string::npos || line[at] == '#') return words;
        const bool quoted = line[at] == '"';
        const std::size_t begin = quoted ? at + 1 : at;
        std::size_t end = line.find_first_of(quoted ? "\"" : " \t\r", begin);
        if (quoted && end == std::string::npos) return {};
        end = std::min(end, line.size());
        words.push_back(line.substr(begin, end - begin));
        at = end + (quoted ? 1 : 0);
    }
}

/// "Simple Strided (re-read)": a pattern, and what is done to it or everything.
Result<Module> module_named(const std::string& text) {
    const auto open = text.find('(');
    std::string pattern = lower(text.substr(0, open));
    pattern.erase(pattern.find_last_not_of(' ') + 1);
    // "FLASH I/O", "Flash IO", "Unstructured Mesh"
    if (const auto io = pattern.find("i/o"); io != std::string::npos) pattern.replace(io, 3, "io");
    std::replace(pattern.begin(), pattern.end(), ' ', '-');
    const auto spatial = value_of(spatial_words(), pattern);
    if (!spatial || *spatial == Spatial::own) {
        return usage_error(fmt::format("no pattern '{}'", text));
    }
    Module module;
    module.spatial = *spatial;
    if (open == std::string::npos) {
        module.temporal = all_accesses_of(*spatial);
        return module;
    }
    const auto close = text.find(')', open);
    if (close == std::string::npos) return usage_error(fmt::format("'{}' has no ')'", text));
    if (text.find_first_not_of(' ', close + 1) != std::string::npos) {
        return usage_error(fmt::format("'{}' has text after the ')'", text));
    }
    const std::string word = lower(text.substr(open + 1, close - open - 1));
    const auto access = value_of(temporal_words(), word);
    if (!access) return usage_error(fmt::format("no access '{}'", word));
    module.temporal = {*access};
    return module;
}

class Reader {
  public:
    explicit Reader(Parameters& parameters)
        : p_(parameters), size_(p_.size), buffers_(p_.buffers), settle_(p_.settle) {}

    Status read(const std::string& text) {
        std::istringstream in(text);
        std::string line;
        while (std::getline(in, line)) {
            ++number_;
            const auto words = words_in(line);
            if (!words) return fault("a quote is not closed");
            if (words->empty()) continue;
            if (auto done = statement(*words); !done) return done;
        }
        if (module_) return fault("<ap_module> is not closed by </ap_module>");
        if (p_.modules.empty()) return fault("the file has no <ap_module>");
        return {};
    }

  private:
    Error fault(const std::string& what) const {
        return usage_error(fmt::format("{}:{}: {}", *p_.config, number_, what));
    }

    Status statement(const std::vector<std::string>& words) {
        const std::string name = lower(words.front());
        if (name == "<ap_module>") return begin();
        if (name == "</ap_module>") return end();
        if (words.size() < 2) return fault(words.front() + " has no value");
        const std::vector<std::string> values(words.begin() + 1, words.end());
        if (name == "buffersize") return sizes(values, module_ ? module_->buffers : buffers_);
        if (values.size() > 1) return fault(words.front() + " has more than one value");
        const std::string& value = values.front();
        if (name == "datasize") return size(value, module_ ? module_->size : size_);
        if (name == "modulesettletime") return settle(value);
        if (name == "modulereps") return repetitions(value);
        if (name == "modulename") return named(value);
        if (name == "testfile") return fault("Testfile: --dir and --prefix say where files stand");
        return fault(fmt::format(
            "no directive {}; known are <ap_module>, ModuleName, ModuleReps, ModuleSettleTime, "
            "BufferSize, DataSize",
            words.front()));
    }

    Status begin() {
        if (module_) return fault("<ap_module> inside of <ap_module>");
        module_ = Module{Spatial::sequential, {}, size_, buffers_, settle_};
        return {};
    }

    Status end() {
        if (!module_) return fault("</ap_module> without <ap_module>");
        if (module_->temporal.empty()) return fault("the module has no ModuleName");
        p_.modules.push_back(std::move(*module_));
        module_.reset();
        if (auto checked = p_.check_modules(); !checked) return fault(checked.error().cause);
        return {};
    }

    Status named(const std::string& value) {
        if (!module_) return fault("ModuleName outside of <ap_module>");
        if (!module_->temporal.empty()) {
            return fault(
                "a second ModuleName in one <ap_module>: each pattern needs its own module");
        }
        auto found = module_named(value);
        if (!found) return fault(found.error().cause);
        module_->spatial = found->spatial;
        module_->temporal = std::move(found->temporal);
        return {};
    }

    Status size(const std::string& text, Bytes& target) const {
        const auto bytes = parse_size(text);
        if (!bytes) return fault(bytes.error().cause);
        if (bytes->count < 1 || bytes->count > most_bytes) {
            return fault(fmt::format("{} is not a size of data", text));
        }
        target = *bytes;
        return {};
    }

    Status sizes(const std::vector<std::string>& texts, std::vector<Bytes>& target) const {
        target.assign(texts.size(), {});
        for (std::size_t i = 0; i < texts.size(); ++i) {
            if (auto read = size(texts[i], target[i]); !read) return read;
            if (target[i].count > most_buffer) {
                return fault(fmt::format("a buffer of {} is more than 1GiB", texts[i]));
            }
        }
        return {};
    }

    Status settle(const std::string& text) {
        const auto seconds = parse_duration(text);
        if (!seconds) return fault(seconds.error().cause);
        if (seconds->count < 0 || seconds->count > 86400) {
            return fault("ModuleSettleTime is 0 to 86400 seconds");
        }
        (module_ ? module_->settle : settle_) = *seconds;
        return {};
    }

    /// Everything is repeated alternately, so there is one number.
    Status repetitions(const std::string& text) {
        const auto count = parse_integer(text);
        if (!count || *count < 1 || *count > 1'000'000) {
            return fault("ModuleReps is a number from 1 to 1000000");
        }
        if (repetitions_ && *repetitions_ != *count) {
            return fault(
                fmt::format("ModuleReps {} after {}: all modules are repeated alternately, so "
                            "that the number is the same for all",
                            *count, *repetitions_));
        }
        if (auto enough = p_.until_ci.check_most(*count, "ModuleReps"); !enough) {
            return fault(enough.error().cause);
        }
        repetitions_ = p_.repetitions = *count;
        return {};
    }

    static constexpr std::int64_t most_bytes = 9'000'000'000'000'000;
    static constexpr std::int64_t most_buffer = 1024 * MiB;

    Parameters& p_;
    // For the modules to come.
    Bytes size_;
    std::vector<Bytes> buffers_;
    Seconds settle_;
    std::optional<Module> module_;
    std::optional<std::int64_t> repetitions_;
    int number_ = 0;
};

}  // namespace

Status Parameters::set_modules(const std::string& text) {
    modules.clear();
    return Reader(*this).read(text);
}

}  // namespace effio::pio
