// SPDX-License-Identifier: BSD-3-Clause
// Names over what is not real storage: programmed delays, and virtual time.
#include <algorithm>

#include "storage/names.hpp"

namespace effio {
namespace {

class NullNames : public Names {
  public:
    NullNames(Progress& progress, const NullNameDelays& delays, bool delayed)
        : progress_(progress), asked_(delays) {
        if (delayed) delays_ = delays;
    }

    std::string_view name() const override { return "null"; }
    NamesCapabilities capabilities() const override { return {false, false, true}; }
    Json describe() const override { return values_of(asked_); }

    Status create(const std::string&) override { return after(delays_.create); }
    Status make_node(const std::string&) override { return after(delays_.create); }
    Status create_with(const std::string&, std::span<const std::byte>, bool) override {
        return after(delays_.create);
    }
    Status write(const std::string&, std::span<const std::byte>, bool) override {
        return after(delays_.create);
    }
    Status read(const std::string&, std::span<std::byte>) override { return after(delays_.read); }
    Result<Attributes> stat(const std::string&) override {
        pass(progress_, delays_.stat.count);
        return Attributes{};
    }
    Status unlink(const std::string&) override { return after(delays_.remove); }
    Status make_directory(const std::string&) override { return after(delays_.directory); }
    Status remove_directory(const std::string&) override { return after(delays_.directory); }
    Status visit(const std::string&, const std::function<void(std::string_view)>&) override {
        return after(delays_.other);
    }
    Status rename(const std::string&, const std::string&) override { return after(delays_.other); }
    Status hard_link(const std::string&, const std::string&) override {
        return after(delays_.create);
    }
    Status symbolic_link(const std::string&, const std::string&) override {
        return after(delays_.create);
    }
    Result<std::int64_t> read_link(const std::string&, std::span<char>) override {
        pass(progress_, delays_.other.count);
        return std::int64_t{0};
    }
    Status change_mode(const std::string&, unsigned) override { return after(delays_.other); }
    Status truncate(const std::string&, std::int64_t) override { return after(delays_.other); }
    Status set_attribute(const std::string&, const std::string&, std::string_view) override {
        return after(delays_.other);
    }
    Result<std::int64_t> get_attribute(const std::string&, const std::string&,
                                       std::span<char>) override {
        pass(progress_, delays_.other.count);
        return std::int64_t{0};
    }
    Status sync_all(const std::string&) override { return after(delays_.other); }

  private:
    Status after(Seconds delay) {
        pass(progress_, delay.count);
        return {};
    }

    Progress& progress_;
    NullNameDelays asked_;
    NullNameDelays delays_;
};

/// Real operations on the files of a room, paid for in virtual time.
class SimNames : public Names {
  public:
    SimNames(Session& session, const SimModel& model, const SimRoom& room)
        : session_(session),
          model_(model),
          room_(room),
          real_(make_posix_names()),
          noise_(model_, session.comm.rank()) {
        session.clock.set_collective_cost(model.collective.count);
    }

    std::string_view name() const override { return "sim"; }
    NamesCapabilities capabilities() const override { return {true, false, false}; }
    Json describe() const override { return values_of(model_); }

    Status create(const std::string& p) override { return paid().create(at(p)); }
    Status make_node(const std::string& p) override { return paid().make_node(at(p)); }
    Status create_with(const std::string& p, std::span<const std::byte> data, bool sync) override {
        move(data.size(), sync);
        return paid().create_with(at(p), data, false);
    }
    Status write(const std::string& p, std::span<const std::byte> data, bool sync) override {
        move(data.size(), sync);
        return paid().write(at(p), data, false);
    }
    Status read(const std::string& p, std::span<std::byte> data) override {
        move(data.size(), false);
        return paid(false).read(at(p), data);
    }
    Result<Attributes> stat(const std::string& p) override { return paid(false).stat(at(p)); }
    Status unlink(const std::string& p) override { return paid().unlink(at(p)); }
    Status make_directory(const std::string& p) override { return paid().make_directory(at(p)); }
    Status remove_directory(const std::string& p) override {
        return paid().remove_directory(at(p));
    }
    Status visit(const std::string& p,
                 const std::function<void(std::string_view)>& visit) override {
        return paid(false).visit(at(p), visit);
    }
    Status rename(const std::string& a, const std::string& b) override {
        return paid().rename(at(a), at(b));
    }
    Status hard_link(const std::string& a, const std::string& b) override {
        return paid().hard_link(at(a), at(b));
    }
    Status symbolic_link(const std::string& a, const std::string& b) override {
        return paid().symbolic_link(a, at(b));
    }
    Result<std::int64_t> read_link(const std::string& p, std::span<char> into) override {
        return paid(false).read_link(at(p), into);
    }
    Status change_mode(const std::string& p, unsigned m) override {
        return paid().change_mode(at(p), m);
    }
    Status truncate(const std::string& p, std::int64_t n) override {
        return paid().truncate(at(p), n);
    }
    Status set_attribute(const std::string& p, const std::string& k, std::string_view v) override {
        return paid().set_attribute(at(p), k, v);
    }
    Result<std::int64_t> get_attribute(const std::string& p, const std::string& k,
                                       std::span<char> into) override {
        return paid(false).get_attribute(at(p), k, into);
    }
    Status sync_all(const std::string&) override {
        session_.clock.advance(model_.sync.count);
        return {};
    }

  private:
    Names& paid(bool writes = true) {
        session_.clock.advance(model_.metadata.count * noise_.next(writes));
        return *real_;
    }
    void move(std::size_t bytes, bool sync) {
        if (sync) session_.clock.advance(model_.sync.count);
        if (bytes == 0) return;
        session_.clock.advance(
            model_.latency.count +
            model_.storage_seconds(static_cast<std::int64_t>(bytes), session_.comm.size()));
    }
    std::string at(const std::string& path) const { return room_.place_of(path); }

    Session& session_;
    SimModel model_;
    const SimRoom& room_;
    std::unique_ptr<Names> real_;
    SimNoise noise_;
};

}  // namespace

void NullNameDelays::declare(OptionTable& table) {
    table.add("create", create, "delay of creating a file or link").range(0, 1e6);
    table.add("stat", stat, "delay of a stat").range(0, 1e6);
    table.add("read", read, "delay of opening and reading a file").range(0, 1e6);
    table.add("remove", remove, "delay of removing a file").range(0, 1e6);
    table.add("directory", directory, "delay of making or removing a directory").range(0, 1e6);
    table.add("other", other, "delay of any other operation").range(0, 1e6);
    table.add("only-rank", only_rank, "the one rank that has the delays; -1 = all")
        .range(-1, 2147483647);
}

double NullNameDelays::longest() const {
    return std::max(
        {create.count, stat.count, read.count, remove.count, directory.count, other.count});
}

std::unique_ptr<Names> make_null_names(Session& session, const NullNameDelays& delays) {
    const bool delayed = delays.only_rank < 0 || delays.only_rank == session.comm.rank();
    return std::make_unique<NullNames>(session.progress, delays, delayed);
}

std::unique_ptr<Names> make_sim_names(Session& session, const SimModel& model,
                                      const SimRoom& room) {
    return std::make_unique<SimNames>(session, model, room);
}

}  // namespace effio
