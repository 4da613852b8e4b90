// SPDX-License-Identifier: BSD-3-Clause
#include "core/fields.hpp"

#include <algorithm>

namespace effio {
namespace {

std::string_view name(FieldShape shape) {
    switch (shape) {
        case FieldShape::one:
            break;
        case FieldShape::list:
            return "list";
        case FieldShape::rows:
            return "rows";
        case FieldShape::map:
            return "map";
    }
    return "one";
}

std::string_view type_of(Unit unit) {
    switch (unit) {
        case Unit::word:
            return "string";
        case Unit::flag:
            return "boolean";
        case Unit::count:
        case Unit::bytes:
            return "integer";
        case Unit::object:
            return "object";
        default:
            return "number";
    }
}

}  // namespace

namespace detail {

AnyField::AnyField(std::string_view name, Unit unit, std::string_view meaning, Read read)
    : info_{std::string(name), unit, std::string(meaning)}, read_(std::move(read)) {}
AnyField::AnyField(FieldInfo info, Read read) : info_(std::move(info)), read_(std::move(read)) {}

void AnyField::leave_out_unless(std::function<bool(const void*)> applies) {
    info_.sometimes = true;
    read_ = [applies = std::move(applies), read = std::move(read_)](const void* object) -> Json {
        return applies(object) ? read(object) : Json(Json::value_t::discarded);
    };
}

Json read(const AnyFields& fields, const void* object) {
    Json values = Json::object();
    for (const auto& field : fields) {
        if (Json value = field.read(object); !value.is_discarded()) {
            values[field.info().name] = std::move(value);
        }
    }
    return values;
}

FieldInfos infos_of(const AnyFields& fields) {
    FieldInfos all;
    for (const auto& field : fields) all.push_back(field.info());
    return all;
}

}  // namespace detail

FieldInfos merged(FieldInfos one, const FieldInfos& other) {
    const auto has = [](const FieldInfos& fields, const std::string& name) {
        return std::any_of(fields.begin(), fields.end(),
                           [&](const FieldInfo& field) { return field.name == name; });
    };
    for (auto& field : one) field.sometimes = field.sometimes || !has(other, field.name);
    for (const auto& field : other) {
        if (has(one, field.name)) continue;
        one.push_back(field);
        one.back().sometimes = true;
    }
    return one;
}

FieldInfo object_of(std::string name, std::string meaning, FieldInfos members) {
    FieldInfo info{std::move(name), Unit::object, std::move(meaning)};
    info.members = std::move(members);
    return info;
}

FieldInfos if_known(FieldInfos fields) {
    for (auto& field : fields) field.sometimes = true;
    return fields;
}

Json to_json(const FieldInfos& fields) {
    Json list = Json::array();
    for (const auto& field : fields) {
        Json one{{"name", field.name}, {"type", type_of(field.unit)}, {"meaning", field.meaning}};
        if (const auto unit = text_of(field.unit); !unit.empty()) one["unit"] = unit;
        if (field.shape != FieldShape::one) one["shape"] = name(field.shape);
        if (field.nullable) one["nullable"] = true;
        if (field.sometimes) one["sometimes"] = true;
        if (!field.members.empty()) one["members"] = to_json(field.members);
        list.push_back(std::move(one));
    }
    return list;
}

Fact::Fact(std::string_view name, Unit unit, std::string_view meaning, Json of)
    : info{std::string(name), unit, std::string(meaning)}, value(std::move(of)) {}

Json to_json(const Facts& facts) {
    Json object = Json::object();
    for (const auto& fact : facts) object[fact.info.name] = fact.value;
    return object;
}

FieldInfos infos_of(const Facts& facts) {
    FieldInfos all;
    for (const auto& fact : facts) all.push_back(fact.info);
    return all;
}

Fields<Spread> spread_fields(Unit unit) {
    return {{"min", unit, "smallest of the ranks", &Spread::min},
            {"mean", unit, "mean of the ranks", &Spread::mean},
            {"max", unit, "largest of the ranks", &Spread::max}};
}

Json to_json(const ResultInfo& info) {
    Json figures = Json::array();
    for (const auto& figure : info.figures) {
        figures.push_back(Json{{"name", figure.name},
                               {"unit", text_of(figure.unit)},
                               {"meaning", figure.meaning},
                               {"where", to_json(figure.where)},
                               {"detail", to_json(figure.detail)}});
    }
    return Json{{"where", to_json(info.where)},
                {"detail", to_json(info.detail)},
                {"figures", std::move(figures)},
                {"run", to_json(info.run)},
                {"plan", to_json(info.plan)}};
}

}  // namespace effio
