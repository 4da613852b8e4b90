// SPDX-License-Identifier: BSD-3-Clause
// What mdtest works on: trees of directories, the items in them, and their names
// (docs/definitions/mdtest.md). Pure arithmetic; nothing is stored for each item.
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"

namespace effio::mdtest {

/// A tree of directories numbered level by level: the children of number n are b*n+1 ... b*n+b.
struct Tree {
    std::int64_t branching = 1;  ///< b >= 1
    std::int64_t depth = 0;      ///< z >= 0: levels below the root

    /// (b^(z+1)-1)/(b-1), or z+1 if b is 1.
    std::int64_t directories() const;
    /// b^z: the directories of the lowest level, which have the highest numbers.
    std::int64_t leaves() const;
    std::int64_t parent(std::int64_t number) const { return (number - 1) / branching; }
    friend bool operator==(const Tree&, const Tree&) = default;
};

/// Where an item is.
struct ItemPlace {
    std::int64_t loop = 0;       ///< of the test directories of one iteration
    std::int64_t directory = 0;  ///< of the tree
    friend bool operator==(const ItemPlace&, const ItemPlace&) = default;
};

/// What each rank has: `items` files, directories or both in `loops` equal trees.
struct Workload {
    struct Request {
        Tree tree;
        bool leaf_only = false;                     ///< items at the lowest level only
        bool unique = false;                        ///< each rank has a separate tree
        std::optional<std::int64_t> items;          ///< of a rank (mdtest -n)
        std::optional<std::int64_t> per_directory;  ///< of a rank in each directory (mdtest -I)
    };

    Tree tree;
    bool leaf_only = false;
    bool unique = false;
    std::int64_t per_directory = 0;
    std::int64_t loops = 1;
    std::int64_t items = 0;

    /// Only `per_directory`: that many in every directory that holds items. Only `items`: dealt out
    /// evenly, rounded down to a multiple of the directories. Both, without `unique`:
    /// items / per_directory test directories, each with a whole tree of per_directory a directory.
    /// Without items the trees alone are made and removed. An error where none would be left, or
    /// more than 2^53.
    static Result<Workload> of(const Request& wish);

    /// Directories of a tree that hold items.
    std::int64_t holders() const { return leaf_only ? tree.leaves() : tree.directories(); }
    std::int64_t items_per_loop() const { return per_directory * holders(); }
    /// Of item 0 <= number < items.
    ItemPlace place(std::int64_t number) const;
    /// The directory of a tree in which items come first.
    std::int64_t first_holder() const { return leaf_only ? tree.directories() - tree.leaves() : 0; }
    /// In the name of an item: counted in each test directory from 0, over all directories of its
    /// tree, with those that hold no items, as the original does.
    std::int64_t label(std::int64_t number) const { return number - label_shift(number); }
    /// What all items of a test directory have between their number and their label.
    std::int64_t label_shift(std::int64_t number) const {
        return place(number).loop * items_per_loop() - first_holder() * per_directory;
    }
};

enum class ItemKind { tree, directory, file };
std::string_view name(ItemKind thing);

/// Paths of one iteration's trees and items.
class Paths {
  public:
    /// `bases` are the directories of the request; ranks take them round-robin. Names of items have
    /// at least `name_length` bytes: their numbers are filled up with zeros.
    Paths(std::vector<std::string> bases, const Workload& workload, std::int64_t iteration,
          std::int64_t name_length = 0)
        : bases_(std::move(bases)),
          workload_(workload),
          iteration_(iteration),
          name_length_(static_cast<std::size_t>(name_length)) {}

    const Workload& workload() const { return workload_; }
    /// BASE/test-dir.<iteration>-<loop>
    std::string test_directory(int owner, std::int64_t loop) const;
    /// TEST/mdtest_tree.0/mdtest_tree.<n>..., or mdtest_tree.<owner>.<n> in separate trees.
    std::string directory(int owner, std::int64_t loop, std::int64_t number) const;
    /// A directory next to the tree's, into which files are moved and back.
    std::string elsewhere(int owner, std::int64_t loop) const;
    /// DIRECTORY/{file,dir}.mdtest.<owner>.<item>; an item that all ranks share has no owner.
    std::string item(ItemKind thing, std::optional<int> owner, std::int64_t number) const;
    /// `stem` and the label (and `suffix`): a name without its directory.
    std::string name(std::string_view stem, std::int64_t label, std::string_view suffix = {}) const;
    std::size_t name_length() const { return name_length_; }

  private:
    const std::string& base(int owner) const {
        return bases_[static_cast<std::size_t>(owner) % bases_.size()];
    }

    std::vector<std::string> bases_;
    Workload workload_;
    std::int64_t iteration_;
    std::size_t name_length_;
};

/// What follows an item's name in that of its hard link, its symbolic link, and its own while the
/// names of a directory change places.
inline constexpr const char* hard_suffix = ".link";
inline constexpr const char* symbolic_suffix = ".symlink";
inline constexpr const char* spare_suffix = ".spare";

/// Of the files that are in a directory before anything is measured.
inline constexpr const char* populated_stem = "file.populate.";

/// "{file,dir}.mdtest.<owner>." or "{file,dir}.mdtest.shared."
std::string item_stem(ItemKind thing, std::optional<int> owner);
/// "file.mdtest." or "dir.mdtest.": what the names of all items of a kind begin with.
std::string item_prefix(ItemKind thing);

/// Appends the number (an item's label) and `suffix` to `text`, whose name begins at `begin` and
/// gets zeros before its number until it has `name_length` bytes. In line: mdtest's loop calls it
/// for every name.
inline void append_number(std::string& text, std::size_t begin, std::int64_t number,
                          std::string_view suffix, std::size_t name_length) {
    std::array<char, 20> digits;
    const auto* const end = std::to_chars(digits.begin(), digits.end(), number).ptr;
    const auto count = static_cast<std::size_t>(end - digits.data());
    const std::size_t length = text.size() - begin + count + suffix.size();
    if (length < name_length) text.append(name_length - length, '0');
    text.append(digits.data(), count);
    if (!suffix.empty()) text.append(suffix);
}

/// Paths of items one after another, made anew only where the directory changes: costs about as
/// much as writing the number.
class ItemPath {
  public:
    explicit ItemPath(const Paths& paths) : paths_(paths) {}

    /// Valid until the next call.
    const std::string& of(ItemKind thing, std::optional<int> owner, std::int64_t number,
                          std::string_view suffix = {}) {
        const bool same = thing == thing_ && owner == owner_ && number >= begin_ && number < end_;
        if (!same) [[unlikely]]
            enter(thing, owner, number);
        finish(number, suffix);
        return path_;
    }
    /// The same name in the directory next to the tree.
    const std::string& of_moved(std::optional<int> owner, std::int64_t number);

  private:
    void enter(ItemKind thing, std::optional<int> owner, std::int64_t number);
    void begin_with(const std::string& directory, ItemKind thing, std::optional<int> owner);
    void finish(std::int64_t number, std::string_view suffix) {
        path_.resize(stem_);
        append_number(path_, begin_of_name_, number - label_shift_, suffix, paths_.name_length());
    }

    const Paths& paths_;
    ItemKind thing_ = ItemKind::tree;
    std::optional<int> owner_;
    std::int64_t begin_ = 0;  ///< items whose paths begin alike
    std::int64_t end_ = 0;
    std::int64_t label_shift_ = 0;  ///< of all of them
    std::size_t stem_ = 0;          ///< characters of it
    std::size_t begin_of_name_ = 0;
    std::string path_;
};

/// Which items of a rank fall to one of its `workers` threads: every workers-th one, so that what
/// all have done after the same number of steps is a prefix.
struct Share {
    std::int64_t items = 0;  ///< of the rank
    int workers = 1;
    int worker = 0;

    std::int64_t count() const { return of_first(items); }
    std::int64_t item(std::int64_t step) const { return worker + step * workers; }
    /// How many of the rank's first `n` items are of this share.
    std::int64_t of_first(std::int64_t n) const {
        return n <= worker ? 0 : (n - worker + workers - 1) / workers;
    }
};

/// Renaming all items of a share around in a ring, directory by directory: the first to a spare
/// name, each other to the name of the one before, the spare name to the last. A directory holds at
/// least as many items as there are workers.
class Ring {
  public:
    Ring(const Workload& workload, const Share& share) : workload_(workload), share_(share) {}

    struct Step {
        std::int64_t from = 0;
        std::int64_t to = 0;
        bool from_spare = false;
        bool to_spare = false;
        friend bool operator==(const Step&, const Step&) = default;
    };
    /// One more than the share's items in each directory where it has some.
    std::int64_t count() const;
    Step step(std::int64_t number) const;

  private:
    /// Of the share in the directory that holds items block * per_directory on.
    std::int64_t members(std::int64_t block) const;
    std::int64_t first_member(std::int64_t block) const;
    std::int64_t blocks() const;

    Workload workload_;
    Share share_;
};

}  // namespace effio::mdtest
