// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/mdtest/workload.hpp"

#include <fmt/format.h>

#include "core/options.hpp"
#include "core/units.hpp"

namespace effio::mdtest {
namespace {

/// Directories of a tree, and items of a rank, that still count exactly in every result format.
constexpr std::int64_t most_directories = std::int64_t{1} << 31;
constexpr std::int64_t most_items = std::int64_t{1} << 53;

/// Sum of b^0 ... b^z, or nothing beyond `most_directories`.
std::optional<std::int64_t> directories_of(const Tree& tree) {
    if (tree.branching == 1) {
        if (tree.depth >= most_directories) return {};
        return tree.depth + 1;
    }
    std::int64_t level = 1;
    std::int64_t sum = 1;
    for (std::int64_t i = 0; i < tree.depth; ++i) {
        level *= tree.branching;
        sum += level;
        if (level > most_directories || sum > most_directories) return {};
    }
    return sum;
}

}  // namespace

std::int64_t Tree::directories() const {
    return directories_of(*this).value_or(most_directories);
}

std::int64_t Tree::leaves() const {
    if (depth == 0) return 1;
    return directories() - Tree{branching, depth - 1}.directories();
}

Result<Workload> Workload::of(const Request& wish) {
    Workload w;
    w.tree = wish.tree;
    w.leaf_only = wish.leaf_only;
    w.unique = wish.unique;
    Status rules = check_rules({
        {w.tree.branching < 1 || w.tree.depth < 0 || w.tree.branching > most_directories ||
             !directories_of(w.tree),
         fmt::format("a tree of branching {} and depth {} has too many "
                     "directories",
                     w.tree.branching, w.tree.depth)},
        {!wish.items && !wish.per_directory,
         "give the number of items: for each rank (--items, -n) or in each directory "
         "(--items-per-directory, -I)"},
        {wish.items.value_or(0) < 0 || wish.per_directory.value_or(1) < 1,
         "with 0 items in each directory there is nothing to measure"},
    });
    if (!rules) return std::move(rules.error());
    const std::int64_t holders = w.holders();
    if (wish.per_directory) {
        w.per_directory = *wish.per_directory;
        if (wish.items && wish.unique) {
            return usage_error(
                "items for each rank and in each directory together make several "
                "test directories, which ranks with separate trees cannot have");
        }
        if (wish.items) {
            if (*wish.items % w.per_directory != 0) {
                return usage_error(
                    fmt::format("{} for each rank are not a multiple of {} in each directory",
                                count_of(*wish.items, "item"), w.per_directory));
            }
            w.loops = *wish.items / w.per_directory;
        }
    } else {
        w.per_directory = *wish.items / holders;
        if (w.per_directory == 0 && *wish.items > 0) {
            return usage_error(fmt::format(
                "{} for each rank are too few for {}: each directory needs at least one",
                count_of(*wish.items, "item"), count_of(holders, "directory")));
        }
    }
    if (w.per_directory > most_items / holders / w.loops) {
        return usage_error("too many items for each rank");
    }
    w.items = w.loops * w.items_per_loop();
    return w;
}

ItemPlace Workload::place(std::int64_t number) const {
    const std::int64_t holder = number / per_directory;
    return {holder / holders(), first_holder() + holder % holders()};
}

std::string_view name(ItemKind thing) {
    if (thing == ItemKind::tree) return "tree";
    return thing == ItemKind::directory ? "directory" : "file";
}

std::string item_prefix(ItemKind thing) {
    return thing == ItemKind::directory ? "dir.mdtest." : "file.mdtest.";
}

std::string item_stem(ItemKind thing, std::optional<int> owner) {
    return item_prefix(thing) + (owner ? std::to_string(*owner) : "shared") + ".";
}

std::string Paths::test_directory(int owner, std::int64_t loop) const {
    const std::string& where = base(workload_.unique ? owner : 0);
    return fmt::format("{}{}test-dir.{}-{}", where, where.ends_with('/') ? "" : "/", iteration_,
                       loop);
}

std::string Paths::directory(int owner, std::int64_t loop, std::int64_t number) const {
    std::string below;
    const std::string own = workload_.unique ? fmt::format("{}.", owner) : "";
    for (std::int64_t n = number;; n = workload_.tree.parent(n)) {
        below.insert(0, fmt::format("/mdtest_tree.{}{}", own, n));
        if (n == 0) break;
    }
    return test_directory(owner, loop) + below;
}

std::string Paths::elsewhere(int owner, std::int64_t loop) const {
    const std::string own = workload_.unique ? fmt::format(".{}", owner) : "";
    return test_directory(owner, loop) + "/mdtest_moved" + own;
}

std::string Paths::item(ItemKind thing, std::optional<int> owner, std::int64_t number) const {
    const ItemPlace at = workload_.place(number);
    return directory(owner.value_or(0), at.loop, at.directory) + "/" +
           name(item_stem(thing, owner), workload_.label(number));
}

std::string Paths::name(std::string_view stem, std::int64_t label, std::string_view suffix) const {
    std::string text(stem);
    append_number(text, 0, label, suffix, name_length_);
    return text;
}

void ItemPath::enter(ItemKind thing, std::optional<int> owner, std::int64_t number) {
    const Workload& w = paths_.workload();
    const ItemPlace at = w.place(number);
    thing_ = thing;
    owner_ = owner;
    begin_ = number / w.per_directory * w.per_directory;
    end_ = begin_ + w.per_directory;
    label_shift_ = w.label_shift(number);
    begin_with(paths_.directory(owner.value_or(0), at.loop, at.directory), thing, owner);
}

void ItemPath::begin_with(const std::string& directory, ItemKind thing, std::optional<int> owner) {
    path_ = directory + "/";
    begin_of_name_ = path_.size();
    path_ += item_stem(thing, owner);
    stem_ = path_.size();
}

const std::string& ItemPath::of_moved(std::optional<int> owner, std::int64_t number) {
    const Workload& w = paths_.workload();
    const std::int64_t loop = w.place(number).loop;
    const std::int64_t begin = loop * w.items_per_loop();
    if (thing_ != ItemKind::file || owner != owner_ || begin != begin_ ||
        end_ != begin + w.items_per_loop()) {
        thing_ = ItemKind::file;
        owner_ = owner;
        begin_ = begin;
        end_ = begin + w.items_per_loop();
        label_shift_ = w.label_shift(number);
        begin_with(paths_.elsewhere(owner.value_or(0), loop), ItemKind::file, owner);
    }
    finish(number, {});
    return path_;
}

std::int64_t Ring::blocks() const {
    const std::int64_t each = std::max<std::int64_t>(workload_.per_directory, 1);
    return (share_.items + each - 1) / each;
}

std::int64_t Ring::first_member(std::int64_t block) const {
    return share_.of_first(block * workload_.per_directory);
}

std::int64_t Ring::members(std::int64_t block) const {
    const std::int64_t end = std::min((block + 1) * workload_.per_directory, share_.items);
    return share_.of_first(end) - first_member(block);
}

std::int64_t Ring::count() const {
    const std::int64_t last = blocks() - 1;
    if (last < 0) return 0;
    // A stonewall may leave nothing for this share in the last directory.
    return share_.count() + last + (members(last) > 0 ? 1 : 0);
}

Ring::Step Ring::step(std::int64_t number) const {
    // Directory b begins after first_member(b) + b renames; found by halves.
    std::int64_t low = 0;
    std::int64_t high = blocks();
    while (high - low > 1) {
        const std::int64_t middle = low + (high - low) / 2;
        (first_member(middle) + middle <= number ? low : high) = middle;
    }
    const std::int64_t first = first_member(low);
    const std::int64_t inside = number - first - low;
    const std::int64_t last = members(low);
    if (inside == 0) return {share_.item(first), share_.item(first), false, true};
    if (inside == last) {
        return {share_.item(first), share_.item(first + last - 1), true, false};
    }
    return {share_.item(first + inside), share_.item(first + inside - 1), false, false};
}

}  // namespace effio::mdtest
