// SPDX-License-Identifier: BSD-3-Clause
// A file as a sequence of bytes, the same for each backend.
//
// Opened with an element; offsets and pointers count elements, buffers hold whole elements. (Right
// after an open the view of MPI-IO counts bytes: callers that open with another element set a view
// first, so that no hidden call enters the time of the open.) The public calls mark progress, time
// the call into a histogram where one is set, and turn a short transfer into an error: MPI
// libraries return success for transfers that moved less than asked.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"
#include "core/layout.hpp"
#include "core/stats.hpp"
#include "parallel/session.hpp"
#include "storage/file_set.hpp"
#include "storage/hints.hpp"
#include "storage/spaced.hpp"
#include "storage/transfer_queue.hpp"

namespace effio {

/// The unit in which offsets count; MPI-IO uses it as etype.
enum class Element { byte, real64 };
constexpr std::int64_t bytes_of(Element element) {
    return element == Element::byte ? 1 : 8;
}

/// Where a call reads or writes.
enum class Pointer : std::uint8_t {
    at,          ///< at an offset in the view, given with the call
    individual,  ///< at this rank's own pointer
    shared,      ///< at the one pointer of the file: in rank order if collective, else as they come
};

struct CallForm {
    Pointer pointer = Pointer::at;
    bool collective = false;
    friend bool operator==(CallForm, CallForm) = default;
};

/// What a way to storage calls what it does, in messages and in the live view; literals.
struct CallNames {
    std::array<const char*, 12> transfers{};  ///< by `transfer`
    const char* set_view = "set view";
    const char* set_hints = "set hints";
    const char* sync = "sync";
    const char* close = "close";

    /// One name for all writes and one for all reads.
    static constexpr CallNames plain(const char* write, const char* read) {
        CallNames names;
        for (std::size_t i = 0; i < names.transfers.size(); ++i) {
            names.transfers.at(i) = i % 2 == 1 ? write : read;
        }
        return names;
    }
    constexpr const char* transfer(CallForm form, bool write) const {
        return transfers[4 * static_cast<std::size_t>(form.pointer) +
                         2 * static_cast<std::size_t>(form.collective) +
                         static_cast<std::size_t>(write)];
    }
};
inline constexpr CallNames mpi_calls{
    {"MPI_File_read_at", "MPI_File_write_at", "MPI_File_read_at_all", "MPI_File_write_at_all",
     "MPI_File_read", "MPI_File_write", "MPI_File_read_all", "MPI_File_write_all",
     "MPI_File_read_shared", "MPI_File_write_shared", "MPI_File_read_ordered",
     "MPI_File_write_ordered"},
    "MPI_File_set_view",
    "MPI_File_set_info",
    "MPI_File_sync",
    "MPI_File_close"};
/// Collective calls in two halves: what is named is the first.
inline constexpr CallNames mpi_split_calls{
    {"MPI_File_read_at", "MPI_File_write_at", "MPI_File_read_at_all_begin",
     "MPI_File_write_at_all_begin", "MPI_File_read", "MPI_File_write", "MPI_File_read_all_begin",
     "MPI_File_write_all_begin", "MPI_File_read_shared", "MPI_File_write_shared",
     "MPI_File_read_ordered_begin", "MPI_File_write_ordered_begin"},
    "MPI_File_set_view",
    "MPI_File_set_info",
    "MPI_File_sync",
    "MPI_File_close"};

struct Capabilities {
    bool stores_data = true;      ///< what is read back is what was written
    bool collective = true;       ///< has collective forms
    bool views = true;            ///< strided views
    bool ordered_pointer = true;  ///< shared pointer, collective
    bool shared_pointer = true;   ///< shared pointer, not collective
    bool hints = true;            ///< hints have a meaning
    bool real_files = true;       ///< paths name files of this system
    bool cached = true;           ///< there may be a page cache between us and the device
    bool threads = false;         ///< threads of a rank may use separate files at the same time
    bool preallocate = true;      ///< storage can be reserved before the data come
    bool sync_alone = true;       ///< a rank may sync a shared file without the others
    bool scattered = true;  ///< ranks may make a collective call at places far from each other
    bool plain = true;      ///< a file holds the bytes and nothing else
    bool queues = false;    ///< a rank may have many transfers under way (ByteFile::queue)
    bool collective_queues = false;  ///< ranks together may (QueueRequest::collective)
    bool spaced = false;  ///< one call moves pieces that are apart in memory (write_spaced)
};

struct OpenMode {
    bool read = true;
    bool write = false;
    bool create = false;
    bool exclusive = false;  ///< with create: fail where the file exists
    bool unique = false;     ///< no other process opens the file (MPI_MODE_UNIQUE_OPEN)
    bool delete_on_close = false;

    static OpenMode reading() { return {}; }
    static OpenMode updating() { return {true, true, false, false, false, false}; }
    static OpenMode creating() { return {true, true, true, false, false, false}; }
};

/// What an error adds if its offset is not one of the file; `name` is that of ByteFile::name_of.
std::string counted_in_data(std::string_view name);

struct OpenRequest {
    std::string path;
    OpenMode mode;
    Element element = Element::byte;
    Hints hints;
    /// How its users divide the file. Formats that have a separate structure need it and keep
    /// it; the others do not look at it.
    std::optional<Blocks> blocks = {};
    bool collective = false;  ///< the calls will be; array libraries must know it beforehand
    /// The caller calls ByteFile::confirm before it moves data, outside the time of the open.
    bool confirms_later = false;
};

class ByteFile {
  public:
    virtual ~ByteFile() = default;
    ByteFile(const ByteFile&) = delete;
    ByteFile& operator=(const ByteFile&) = delete;

    /// Moves the whole buffer. `offset` counts elements of the view and matters to Pointer::at
    /// only.
    Status write(CallForm form, std::span<const std::byte> data, std::int64_t offset = 0) {
        return write_to(*this, form, data, offset);
    }
    Status read(CallForm form, std::span<std::byte> data, std::int64_t offset = 0) {
        return read_from(*this, form, data, offset);
    }
    /// The pieces one after the other by one call; `offset` as of `write`. What has no types for
    /// memory (Capabilities::spaced) moves them one by one.
    Status write_spaced(CallForm form, const Spaced& data, std::int64_t offset = 0) {
        return move_spaced(form, true, data, offset);
    }
    Status read_spaced(CallForm form, const Spaced& data, std::int64_t offset = 0) {
        return move_spaced(form, false, data, offset);
    }
    /// `write` and `read` for those who know the class of a file (as_itself.hpp): between a
    /// benchmark's loop and the library there is nothing then. A processor that forgot its return
    /// addresses in the kernel pays for every level of calls on the way back, some 10 ns of the 750
    /// that a read of 1 KiB takes.
    template <class File>
    [[gnu::always_inline]] static Status write_to(File& file, CallForm form,
                                                  std::span<const std::byte> data,
                                                  std::int64_t offset) {
        const CallStart start = file.begin_transfer(form, true);
        auto moved = file.do_write(form, data, offset);
        return file.end_transfer(form, true, start, static_cast<std::int64_t>(data.size()), offset,
                                 moved);
    }
    template <class File>
    [[gnu::always_inline]] static Status read_from(File& file, CallForm form,
                                                   std::span<std::byte> data, std::int64_t offset) {
        const CallStart start = file.begin_transfer(form, false);
        auto moved = file.do_read(form, data, offset);
        return file.end_transfer(form, false, start, static_cast<std::int64_t>(data.size()), offset,
                                 moved);
    }

    /// What messages call such a transfer; a literal.
    const char* call_name(CallForm form, bool write) const { return names_->transfer(form, write); }

    /// Collective over the file's ranks. Sets the individual and shared pointers to 0.
    Status set_view(const View& view, const Hints& hints);
    /// Collective: hints for what follows.
    Status set_hints(const Hints& hints);
    /// What the library says is in effect; empty where it says nothing.
    virtual GrantedHints granted_hints() { return {}; }
    /// Moves this rank's individual pointer to `offset` elements of the view.
    virtual Status seek(std::int64_t offset) = 0;
    /// Collective, but need not wait for all ranks (OMPIO does not): the file gets this length at
    /// least, and storage for it where the library can arrange that.
    Status preallocate(std::int64_t bytes);
    /// Collective: what was written by now is on storage, as far as the library can do that.
    Status sync();
    /// Collective. The file is not usable afterwards.
    Status close();
    /// A queue for transfers of this rank under way at the same time, which see no view; local. It
    /// must be gone before the file is closed. Returns an error if the storage has no queues
    /// (Capabilities::queues).
    virtual Result<std::unique_ptr<TransferQueue>> queue(const QueueRequest& request);
    /// Collective, after an open with OpenRequest::confirms_later and before anything is moved,
    /// outside all timed intervals. Returns an error on all ranks in two cases: the path leads to a
    /// file that must not be written to (files whose open checks this need no more), or the open
    /// read metadata of a format of ours that differ from what this run wrote.
    virtual Status confirm() { return {}; }
    /// Bytes; local.
    virtual Result<std::int64_t> size() = 0;
    /// Transfers of this rank that did not go the way that the backend is for, e.g. through the
    /// page cache although it is to be avoided.
    virtual std::int64_t detours() const { return 0; }
    /// What the format calls the byte there; empty where the offset says all.
    virtual std::string name_of(std::int64_t /*offset*/) const { return {}; }
    /// What the library says of the calls made by now; an object.
    virtual Json describe() const { return Json::object(); }

    const std::string& path() const { return path_; }
    Element element() const { return element_; }
    /// Times every transfer call from now on; null switches that off.
    void time_calls_into(Histogram* histogram) { call_times_ = histogram; }

  protected:
    /// Who counts what it moves as progress itself says so.
    enum class Counts { here, itself };

    /// `names` must be there forever.
    ByteFile(Session& session, std::string path, Element element, const CallNames& names,
             Counts counts = Counts::here)
        : session_(session),
          progress_(session.progress),
          path_(std::move(path)),
          element_(element),
          names_(&names),
          counts_(counts) {}

    /// Bytes moved, which may be fewer than asked.
    virtual Result<std::int64_t> do_write(CallForm form, std::span<const std::byte> data,
                                          std::int64_t offset) = 0;
    virtual Result<std::int64_t> do_read(CallForm form, std::span<std::byte> data,
                                         std::int64_t offset) = 0;
    /// Called for files whose collective calls are each rank's own.
    virtual Result<std::int64_t> do_move_spaced(CallForm form, bool write, const Spaced& data,
                                                std::int64_t offset);
    virtual Status do_set_view(const View& view, const Hints& hints) = 0;
    virtual Status do_set_hints(const Hints& hints) = 0;
    virtual Status do_preallocate(std::int64_t bytes) = 0;
    virtual Status do_sync() = 0;
    virtual Status do_close() = 0;

    Session& session() const { return session_; }

    // Around every transfer; in order.

    /// The clock, if calls are timed.
    [[gnu::always_inline]] CallStart begin_transfer(CallForm form, bool write) const {
        progress_.call(call_name(form, write));
        if (call_times_ == nullptr) [[likely]]
            return {};
        return session_.clock.start_call();
    }
    [[gnu::always_inline]] void count_transfer(const CallStart& start, std::int64_t bytes) {
        if (call_times_ != nullptr) [[unlikely]]
            call_times_->add_nanoseconds(session_.clock.nanoseconds_since(start));
        if (counts_ == Counts::here) [[likely]]
            progress_.moved(bytes);
    }
    /// Counts it and says whether all of it was moved.
    [[gnu::always_inline]] Status end_transfer(CallForm form, bool write, const CallStart& start,
                                               std::int64_t bytes, std::int64_t offset,
                                               Result<std::int64_t>& moved) {
        count_transfer(start, bytes);
        if (moved && *moved == bytes) [[likely]]
            return {};
        return not_moved(form, write, bytes, offset, moved);
    }

    /// The error of a transfer that failed or came short, signed.
    Status not_moved(CallForm form, bool write, std::int64_t bytes, std::int64_t offset,
                     Result<std::int64_t>& moved) const;

  private:
    Status move_spaced(CallForm form, bool write, const Spaced& data, std::int64_t offset);
    Status checked(Status status) const;

    Session& session_;
    Progress& progress_;  ///< the session's
    std::string path_;
    Element element_;
    const CallNames* names_;
    Counts counts_;
    Histogram* call_times_ = nullptr;
};

/// One way to reach storage.
class Storage {
  public:
    virtual ~Storage() = default;
    Storage(const Storage&) = delete;
    Storage& operator=(const Storage&) = delete;

    virtual std::string_view name() const = 0;
    virtual Capabilities capabilities() const = 0;
    /// Version of the library that runs, e.g. "HDF5 1.10.8"; empty for the system's own calls.
    virtual std::string version() const { return {}; }
    /// A file can be divided so; else a usage error that says what could be.
    virtual Status check(const Blocks& /*blocks*/) const { return {}; }
    /// The files that one of this set, when it is made, has next to it, in the same directory.
    virtual std::vector<FileSet> additional_files(const FileSet& /*set*/) const { return {}; }
    /// All files that make up the one that is there; local.
    virtual std::vector<std::string> files_of(const std::string& path) const { return {path}; }
    /// Collective over `comm` (one rank for a separate file).
    virtual Result<std::unique_ptr<ByteFile>> open(const Comm& comm,
                                                   const OpenRequest& request) = 0;
    /// Local. Removing what is not there is not an error.
    virtual Status remove(const std::string& path) = 0;
    /// How many ranks the plan lets work at the same time from now on; `sim` shares its rate so.
    virtual void set_active_ranks(int) {}
    /// What the backend wants said in the result (its model, the component in use); an object.
    virtual Json describe() const { return Json::object(); }

  protected:
    explicit Storage(Session& session) : session_(session) {}
    Session& session() const { return session_; }

  private:
    Session& session_;
};

/// The error of a file that ends before the bytes that its reader needs.
Error too_short(const std::string& path, std::int64_t bytes, std::int64_t needed);

}  // namespace effio
