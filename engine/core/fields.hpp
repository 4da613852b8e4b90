// SPDX-License-Identifier: BSD-3-Clause
// Fields: the one description of every number in results.
//
// A table of fields lists the members of one kind of object in a result file: name, unit, meaning
// and how to get the value. The lines of the file, `effio-mpi describe results`, the JSON Schema
// and the tables in docs/ are made from it.
#pragma once

#include <concepts>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/json.hpp"
#include "core/record.hpp"
#include "core/units.hpp"

namespace effio {

/// How a field holds values of its unit.
enum class FieldShape {
    one,   ///< a single value
    list,  ///< any number of values
    rows,  ///< a list of lists
    map,   ///< values by names that are not known before the run, such as phases
};

/// What a field is, without how to get it.
struct FieldInfo {
    std::string name;  ///< as in the file: "failed_operations"
    Unit unit = Unit::word;
    std::string meaning;  ///< half a line of plain English
    FieldShape shape = FieldShape::one;
    bool nullable = false;                ///< null if there is no value
    bool sometimes = false;               ///< left out if it does not apply
    std::vector<FieldInfo> members = {};  ///< of Unit::object; empty: any
};
using FieldInfos = std::vector<FieldInfo>;

/// The fields of objects of either kind: a field that only one has is optional.
/// sometimes.
FieldInfos merged(FieldInfos one, const FieldInfos& other);
/// An object with these fields.
FieldInfo object_of(std::string name, std::string meaning, FieldInfos members);
/// The same fields, each left out if it is not known.
FieldInfos if_known(FieldInfos fields);
/// The answer of `effio-mpi describe results`.
Json to_json(const FieldInfos& fields);

template <class T>
class Fields;

namespace detail {
template <class V>
constexpr bool is_optional = false;
template <class V>
constexpr bool is_optional<std::optional<V>> = true;
template <class V>
constexpr bool is_list = false;
template <class V>
constexpr bool is_list<std::vector<V>> = true;

/// An optional value is null if there is none, a vector is a list, and a Json is taken as it is.
/// Fields of all kinds of objects share it.
template <class V>
Json json_of(const V& value) {
    if constexpr (is_optional<V>) {
        return value ? Json(*value) : Json(nullptr);
    } else {
        return Json(value);
    }
}

/// What a field is, and how to read its value from the address of an object. Field<T> knows the
/// type of the object; all that does not depend on it is here and is compiled once.
class AnyField {
  public:
    /// Takes the address of the object. A discarded value is left out.
    using Read = std::function<Json(const void*)>;

    AnyField(std::string_view name, Unit unit, std::string_view meaning, Read read);
    AnyField(FieldInfo info, Read read);

    const FieldInfo& info() const { return info_; }
    Json read(const void* object) const { return read_(object); }

  protected:
    /// Left out if `applies`, which takes the address of the object, is false.
    void leave_out_unless(std::function<bool(const void*)> applies);
    template <class V>
    void holds() {
        info_.nullable = is_optional<V>;
        if (is_list<V>) info_.shape = FieldShape::list;
    }

    FieldInfo info_;
    Read read_;
};
using AnyFields = std::vector<AnyField>;

/// Address of the object -> the values of its fields by name.
Json read(const AnyFields& fields, const void* object);
FieldInfos infos_of(const AnyFields& fields);
}  // namespace detail

/// A field of a T.
template <class T>
class Field : public detail::AnyField {
  public:
    /// `get` is a pointer to a member, or takes a T. An optional value is null if there is none,
    /// a vector is a list, and a Json is taken as it is.
    template <class Get>
    Field(std::string_view name, Unit unit, std::string_view meaning, Get get)
        : AnyField(name, unit, meaning, [get = std::move(get)](const void* object) {
              return detail::json_of(std::invoke(get, of(object)));
          }) {
        holds<Value<Get>>();
    }

    /// An object, or a list of objects, with its own fields. `get` gives a U, an optional U or a
    /// vector of them, or a Json of them by name.
    template <class U, class Get>
    Field(std::string_view name, const Fields<U>& members, std::string_view meaning, Get get)
        : AnyField(name, Unit::object, meaning,
                   [members, get = std::move(get)](const void* object) {
                       return members.json_of(std::invoke(get, of(object)));
                   }) {
        info_.members = members.infos();
        holds<Value<Get>>();
    }

    /// An object with some of the fields of the same T.
    Field(std::string_view name, const Fields<T>& members, std::string_view meaning)
        : AnyField(name, Unit::object, meaning,
                   [members](const void* object) { return members.json(of(object)); }) {
        info_.members = members.infos();
    }

    /// Left out if `applies` is false.
    Field only_if(std::function<bool(const T&)> applies) && {
        leave_out_unless(
            [applies = std::move(applies)](const void* object) { return applies(of(object)); });
        return std::move(*this);
    }
    /// Values by names that only the run knows; `get` gives a Json object.
    Field by_name() && {
        info_.shape = FieldShape::map;
        return std::move(*this);
    }
    /// Rows of a table; `get` gives a Json array of arrays.
    Field rows() && {
        info_.shape = FieldShape::rows;
        return std::move(*this);
    }
    /// `get` gives a Json array.
    Field list() && {
        info_.shape = FieldShape::list;
        return std::move(*this);
    }
    Field or_null() && {
        info_.nullable = true;
        return std::move(*this);
    }

  private:
    template <class Get>
    using Value = std::remove_cvref_t<std::invoke_result_t<Get, const T&>>;
    static const T& of(const void* object) { return *static_cast<const T*>(object); }
};

/// All fields of a T, in the order of the file.
template <class T>
class Fields {
  public:
    Fields(std::initializer_list<Field<T>> fields) { add(fields); }
    /// Those of what a T is, and then these.
    template <class U>
        requires std::derived_from<T, U>
    Fields(const Fields<U>& first, std::initializer_list<Field<T>> then) {
        if constexpr (std::same_as<T, U>) {
            fields_ = first.fields_;
        } else {
            for (const auto& field : first.fields_) {
                fields_.emplace_back(field.info(), [field](const void* object) {
                    return field.read(static_cast<const U*>(static_cast<const T*>(object)));
                });
            }
        }
        add(then);
    }

    Json json(const T& of) const { return detail::read(fields_, &of); }
    /// Of an optional T, null if there is none; of a vector of them, a list.
    template <class Value>
    Json json_of(const Value& value) const {
        if constexpr (detail::is_optional<Value>) {
            return value ? json(*value) : Json(nullptr);
        } else if constexpr (std::same_as<Value, Json>) {
            return value;
        } else if constexpr (detail::is_list<Value>) {
            Json list = Json::array();
            for (const auto& one : value) list.push_back(json(one));
            return list;
        } else {
            return json(value);
        }
    }
    FieldInfos infos() const { return detail::infos_of(fields_); }

  private:
    template <class>
    friend class Fields;
    void add(std::initializer_list<Field<T>> fields) {
        for (const detail::AnyField& field : fields) fields_.push_back(field);
    }

    detail::AnyFields fields_;
};

/// A field with its value: a setting of a study.
struct Fact {
    FieldInfo info;
    Json value;

    /// An optional value is null if there is none, a vector is a list.
    template <class V>
    Fact(std::string_view name, Unit unit, std::string_view meaning, const V& of)
        : Fact(name, unit, meaning, detail::json_of(of)) {
        info.nullable = detail::is_optional<V>;
        if (detail::is_list<V>) info.shape = FieldShape::list;
    }
    Fact(std::string_view name, Unit unit, std::string_view meaning, Json of);
    /// An object, an optional one or a list of them.
    template <class U, class V>
    Fact(std::string_view name, const Fields<U>& members, std::string_view meaning, const V& of)
        : Fact(name, Unit::object, meaning, members.json_of(of)) {
        info.members = members.infos();
        if (detail::is_list<V>) info.shape = FieldShape::list;
    }
};
using Facts = std::vector<Fact>;
Json to_json(const Facts& facts);
FieldInfos infos_of(const Facts& facts);

/// Fields of a Spread in this unit.
Fields<Spread> spread_fields(Unit unit);

/// A figure of a benchmark: what it is, and the fields that say where it belongs and what it was
/// made from.
struct FigureInfo {
    std::string name;
    Unit unit = Unit::number;
    std::string meaning;
    FieldInfos where = {};
    FieldInfos detail = {};
};

/// What the result file of a benchmark holds.
struct ResultInfo {
    FieldInfos where = {};   ///< of measurements
    FieldInfos detail = {};  ///< of measurements
    std::vector<FigureInfo> figures = {};
    FieldInfos run = {};  ///< members of the `run` line that others do not have
    /// Fields of --plan-json; empty where a plan with the options at hand shows them.
    FieldInfos plan = {};
};
Json to_json(const ResultInfo& info);

}  // namespace effio
