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
}  // namespace detail

/// A field of a T.
template <class T>
class Field {
  public:
    /// `get` is a pointer to a member, or takes a T. An optional value is null if there is none,
    /// a vector is a list, and a Json is taken as it is.
    template <class Get>
    Field(std::string name, Unit unit, std::string meaning, Get get)
        : info_{std::move(name), unit, std::move(meaning)} {
        using Value = std::remove_cvref_t<std::invoke_result_t<Get, const T&>>;
        info_.nullable = detail::is_optional<Value>;
        if (detail::is_list<Value>) info_.shape = FieldShape::list;
        value_ = [get = std::move(get)](const T& of) -> Json {
            auto&& found = std::invoke(get, of);
            if constexpr (detail::is_optional<Value>) {
                return found ? Json(*found) : Json(nullptr);
            } else {
                return Json(found);
            }
        };
    }

    /// An object, or a list of objects, with its own fields. `get` gives a U, an optional U or a
    /// vector of them, or a Json of them by name.
    template <class U, class Get>
    Field(std::string name, const Fields<U>& members, std::string meaning, Get get)
        : info_{std::move(name), Unit::object, std::move(meaning)} {
        using Value = std::remove_cvref_t<std::invoke_result_t<Get, const T&>>;
        info_.members = members.infos();
        info_.nullable = detail::is_optional<Value>;
        if (detail::is_list<Value>) info_.shape = FieldShape::list;
        value_ = [members, get = std::move(get)](const T& of) -> Json {
            auto&& found = std::invoke(get, of);
            if constexpr (detail::is_optional<Value>) {
                return found ? members.json(*found) : Json(nullptr);
            } else if constexpr (std::same_as<Value, Json>) {
                return found;
            } else if constexpr (detail::is_list<Value>) {
                Json list = Json::array();
                for (const auto& one : found) list.push_back(members.json(one));
                return list;
            } else {
                return members.json(found);
            }
        };
    }

    /// An object with some of the fields of the same T.
    Field(std::string name, const Fields<T>& members, std::string meaning)
        : info_{std::move(name), Unit::object, std::move(meaning)},
          value_([members](const T& of) { return members.json(of); }) {
        info_.members = members.infos();
    }

    /// The same field of something that is a U.
    template <class U>
        requires std::derived_from<T, U>
    explicit Field(const Field<U>& of)
        : info_(of.info()), value_([of](const T& thing) { return of.value(thing); }) {}

    /// Left out if `applies` is false.
    Field only_if(std::function<bool(const T&)> applies) && {
        info_.sometimes = true;
        value_ = [applies = std::move(applies), value = std::move(value_)](const T& of) -> Json {
            return applies(of) ? value(of) : Json(Json::value_t::discarded);
        };
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

    const FieldInfo& info() const { return info_; }
    Json value(const T& of) const { return value_(of); }

  private:
    FieldInfo info_;
    std::function<Json(const T&)> value_;  ///< a discarded value is left out
};

/// All fields of a T, in the order of the file.
template <class T>
class Fields {
  public:
    Fields(std::initializer_list<Field<T>> fields) : fields_(fields) {}
    /// Those of what a T is, and then these.
    template <class U>
        requires std::derived_from<T, U>
    Fields(const Fields<U>& first, std::initializer_list<Field<T>> then) {
        for (const auto& field : first.all()) fields_.emplace_back(field);
        fields_.insert(fields_.end(), then);
    }

    Json json(const T& of) const {
        Json object = Json::object();
        for (const auto& field : fields_) {
            if (Json value = field.value(of); !value.is_discarded()) {
                object[field.info().name] = std::move(value);
            }
        }
        return object;
    }
    FieldInfos infos() const {
        FieldInfos all;
        for (const auto& field : fields_) all.push_back(field.info());
        return all;
    }
    const std::vector<Field<T>>& all() const { return fields_; }

  private:
    std::vector<Field<T>> fields_;
};

/// A field with its value: a setting of a study.
struct Fact {
    FieldInfo info;
    Json value;

    /// An optional value is null if there is none, a vector is a list.
    template <class V>
    Fact(std::string name, Unit unit, std::string meaning, const V& of)
        : info{std::move(name), unit, std::move(meaning)} {
        info.nullable = detail::is_optional<V>;
        if (detail::is_list<V>) info.shape = FieldShape::list;
        if constexpr (detail::is_optional<V>) {
            value = of ? Json(*of) : Json(nullptr);
        } else {
            value = of;
        }
    }
    template <class U>
    Fact(std::string name, const Fields<U>& members, std::string meaning, const U& of)
        : info{std::move(name), Unit::object, std::move(meaning)}, value(members.json(of)) {
        info.members = members.infos();
    }
    template <class U>
    Fact(std::string name, const Fields<U>& members, std::string meaning, const std::vector<U>& of)
        : info{std::move(name), Unit::object, std::move(meaning), FieldShape::list},
          value(Json::array()) {
        info.members = members.infos();
        for (const auto& one : of) value.push_back(members.json(one));
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
