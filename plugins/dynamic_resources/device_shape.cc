// SPDX-License-Identifier: Apache-2.0
#include "plugins/dynamic_resources/device_shape.h"

#include <algorithm>
#include <cstdint>

namespace berth::plugins::dra {
namespace {

// Each piece begins with a tag, and is of a length that the tag or its first bytes tell: two
// sequences of pieces are never the same bytes.
template <typename T>
void PutNumber(char tag, T number, std::string& shape) {
  shape += tag;
  shape.append(reinterpret_cast<const char*>(&number), sizeof(number));
}

void PutText(char tag, std::string_view text, std::string& shape) {
  PutNumber(tag, uint64_t{text.size()}, shape);
  shape += text;
}

bool HasVersion(const api::DeviceAttribute& attribute) {
  return attribute.version.has_value() || !attribute.versions.empty();
}

bool HasValue(const api::DeviceAttribute& attribute) {
  return attribute.int_ || attribute.bool_ || attribute.string || HasVersion(attribute) ||
         !attribute.ints.empty() || !attribute.bools.empty() || !attribute.strings.empty();
}

void PutAttribute(const api::DeviceAttribute& attribute, std::string& shape) {
  if (attribute.int_) PutNumber('i', *attribute.int_, shape);
  if (attribute.bool_) PutNumber('b', *attribute.bool_, shape);
  if (attribute.string) PutText('s', *attribute.string, shape);
  if (attribute.version) PutText('v', *attribute.version, shape);
  for (const int64_t item : attribute.ints) PutNumber('I', item, shape);
  for (const bool item : attribute.bools) PutNumber('B', item, shape);
  for (const std::string& item : attribute.strings) PutText('S', item, shape);
  for (const std::string& item : attribute.versions) PutText('V', item, shape);
}

}  // namespace

DeviceReads::DeviceReads(const cel::Expression& expression) {
  for (const std::vector<std::string>& path : expression.PathsInto(0)) {
    if (path.empty() || path[0] == "attributes") attributes_.Add(path);
    if (path.empty() || path[0] == "capacity") capacity_.Add(path);
  }
}

// "attributes" or "capacity", the domain, the name, and what is read of that.
void DeviceReads::Part::Add(const std::vector<std::string>& path) {
  if (path.size() < 3) {
    all = true;
  } else {
    keys.push_back({path[1], path[2]});
  }
}

bool DeviceReads::Part::Reads(std::string_view name, std::string_view driver) const {
  if (all) return true;
  if (keys.empty()) return false;
  const size_t slash = name.find('/');
  const bool qualified = slash != std::string_view::npos;
  const std::string_view domain = qualified ? name.substr(0, slash) : driver;
  if (qualified) name.remove_prefix(slash + 1);
  return std::ranges::any_of(
      keys, [&](const Key& key) { return key.name == name && key.domain == domain; });
}

bool DeviceReads::WriteShape(const DeviceOfDriver& device, std::string& shape) const {
  shape.clear();
  PutText('d', device.driver, shape);
  PutNumber('m', device.shows_sharing && device.device.allow_multiple_allocations.value_or(false),
            shape);
  for (const auto& [name, attribute] : device.device.attributes) {
    if (!HasValue(attribute)) return false;
    if (!HasVersion(attribute) && !attributes_.Reads(name, device.driver)) continue;
    PutText('a', name, shape);
    PutAttribute(attribute, shape);
  }
  for (const auto& [name, amount] : device.device.capacity) {
    if (!capacity_.Reads(name, device.driver)) continue;
    PutText('c', name, shape);
    PutNumber('n', amount.value.nanos(), shape);
    PutNumber('f', amount.value.format(), shape);
  }
  return true;
}

}  // namespace berth::plugins::dra
