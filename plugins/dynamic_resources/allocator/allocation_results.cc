// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <utility>

#include "plugins/dynamic_resources/allocator/allocator.h"
#include "plugins/dynamic_resources/allocator/capacity.h"

namespace berth::plugins::dra {
namespace {

using api::NodeSelectorRequirement;

// A random UUID, as share ids are.
std::string MakeUuid(Random& random) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  uint64_t words[2] = {random.Next(), random.Next()};
  words[0] = (words[0] & ~uint64_t{0xf000}) | 0x4000;                // version 4
  words[1] = (words[1] & ~(uint64_t{3} << 62)) | uint64_t{1} << 63;  // the RFC's variant
  std::string text;
  for (int digit = 0; digit < 32; ++digit) {
    if (digit == 8 || digit == 12 || digit == 16 || digit == 20) text += '-';
    text += kDigits[(words[digit / 16] >> (60 - 4 * (digit % 16))) & 0xf];
  }
  return text;
}

bool AllowSame(const NodeSelectorRequirement& a, const NodeSelectorRequirement& b) {
  const auto has_all = [](const auto& values, const auto& of) {
    return std::all_of(of.begin(), of.end(), [&values](const std::string& value) {
      return std::find(values.begin(), values.end(), value) != values.end();
    });
  };
  return a.key == b.key && a.operator_ == b.operator_ && has_all(a.values, b.values) &&
         has_all(b.values, a.values);
}

void AddNew(const std::vector<NodeSelectorRequirement>& from,
            std::vector<NodeSelectorRequirement>& to) {
  for (const NodeSelectorRequirement& requirement : from) {
    const auto is_same = [&requirement](const auto& other) {
      return AllowSame(other, requirement);
    };
    if (std::none_of(to.begin(), to.end(), is_same)) to.push_back(requirement);
  }
}

class ResultMaker {
 public:
  ResultMaker(const ClaimsToAllocate& claims, const api::Node& node, const NodeAllocation& found,
              const AllocatorFeatures& features, Random& random)
      : claims_(claims), node_(node), found_(found), features_(features), random_(random) {}

  Result<std::vector<api::AllocationResult>> Make() {
    std::vector<api::AllocationResult> results(claims_.claims.size());
    for (const ChosenDevice& chosen : found_.devices)
      results[chosen.claim].devices.results.push_back(MakeResult(chosen));
    size_t first_chosen = 0;
    for (size_t i = 0; i < results.size(); ++i) {
      const ClaimToAllocate& claim = claims_.claims[i];
      const auto chosen =
          std::span(found_.chosen_requests).subspan(first_chosen, claim.requests.size());
      first_chosen += claim.requests.size();
      results[i].devices.config = MakeConfig(claim, chosen);
      auto selector = MakeNodeSelector(i);
      if (!selector) {
        return Fail("create NodeSelector for claim " + claim.claim->metadata.name + ": " +
                    selector.error().message);
      }
      results[i].node_selector = std::move(*selector);
    }
    return results;
  }

 private:
  const RequestToAllocate& request(size_t index) const { return claims_.requests[index]; }

  api::DeviceRequestAllocationResult MakeResult(const ChosenDevice& chosen) {
    const RequestToAllocate& request = claims_.requests[chosen.request];
    const api::Device& device = chosen.device();
    api::DeviceRequestAllocationResult result;
    result.request = request.FullName();
    result.driver = chosen.slice->spec().driver;
    result.pool = chosen.slice->spec().pool.name;
    result.device = device.name;
    if (request.admin_access) result.admin_access = true;
    result.tolerations.assign(request.tolerations.begin(), request.tolerations.end());
    if (features_.device_binding_and_status) {
      result.binding_conditions = device.binding_conditions;
      result.binding_failure_conditions = device.binding_failure_conditions;
    }
    if (features_.consumable_capacity && device.allow_multiple_allocations.value_or(false)) {
      result.share_id = MakeUuid(random_);
      CapacityDemand demand;
      ResolveDemand(request.capacity, device, features_.fractional_capacity_range, demand);
      for (size_t i = 0; i < demand.amounts.size(); ++i)
        result.consumed_capacity.emplace_back(device.capacity[i].first, demand.amounts[i]);
    }
    if (features_.UsesExperimental())
      result.skip_node_operations = chosen.slice->spec().skip_node_operations;
    return result;
  }

  std::vector<api::DeviceAllocationConfiguration> MakeConfig(const ClaimToAllocate& claim,
                                                             std::span<const size_t> chosen) const {
    std::vector<api::DeviceAllocationConfiguration> config;
    AddClassConfig(chosen, config);
    for (const api::DeviceClaimConfiguration& of_claim : claim.claim->spec.devices.config) {
      const auto concerns = [&](size_t index) { return Names(of_claim.requests, index); };
      if (of_claim.requests.empty() || std::any_of(chosen.begin(), chosen.end(), concerns)) {
        config.push_back({.source = std::string(api::kConfigFromClaim),
                          .requests = of_claim.requests,
                          .opaque = of_claim.opaque});
      }
    }
    for (api::DeviceAllocationConfiguration& entry : config) {
      const auto concerns = [&](size_t index) { return Names(entry.requests, index); };
      // No names mean all requests.
      if (std::all_of(chosen.begin(), chosen.end(), concerns)) entry.requests.clear();
    }
    return config;
  }

  // Each class's configuration once, for all requests of the class.
  void AddClassConfig(std::span<const size_t> chosen,
                      std::vector<api::DeviceAllocationConfiguration>& config) const {
    struct OfClass {
      const api::DeviceClass* device_class;
      size_t begin;
      size_t end;
    };
    std::vector<OfClass> added;
    for (const size_t index : chosen) {
      const api::DeviceClass* device_class = request(index).device_class;
      const std::string name = request(index).FullName();
      const auto known = std::find_if(added.begin(), added.end(), [&](const OfClass& entry) {
        return entry.device_class->metadata.name == device_class->metadata.name;
      });
      if (known != added.end()) {
        for (size_t i = known->begin; i < known->end; ++i) config[i].requests.push_back(name);
        continue;
      }
      const size_t begin = config.size();
      for (const api::DeviceClassConfiguration& of_class : device_class->spec.config) {
        config.push_back({.source = std::string(api::kConfigFromClass),
                          .requests = {name},
                          .opaque = of_class.opaque});
      }
      added.push_back({device_class, begin, config.size()});
    }
  }

  // Whether the names have the request, or the one that it is a subrequest of.
  bool Names(const std::vector<std::string>& names, size_t index) const {
    const RequestToAllocate& chosen = request(index);
    const auto has = [&names](const std::string& name) {
      return std::find(names.begin(), names.end(), name) != names.end();
    };
    return has(chosen.parent.empty() ? chosen.name : chosen.parent) || has(chosen.FullName());
  }

  Result<std::optional<api::NodeSelector>> MakeNodeSelector(size_t claim) const {
    api::NodeSelectorTerm term;
    for (const ChosenDevice& chosen : found_.devices) {
      if (chosen.claim != claim) continue;
      const api::ResourceSliceSpec& slice = chosen.slice->spec();
      const api::Device& device = chosen.device();
      const bool of_device = chosen.slice->each_device_chooses();
      const auto& node_name = of_device ? device.node_name : slice.node_name;
      const auto& selector = of_device ? device.node_selector : slice.node_selector;
      // Upstream's "stable" allocator does not know devices that bind to a node.
      const bool binds = device.binds_to_node.value_or(false) && !features_.UsesStable();
      if (node_name.has_value() || binds) {
        term = {};
        term.match_fields.push_back({"metadata.name", "In", {node_.metadata.name}});
        return api::NodeSelector{{std::move(term)}};
      }
      if (!selector.has_value() || selector->node_selector_terms.empty()) continue;
      if (selector->node_selector_terms.size() > 1) {
        return Fail("unsupported ResourceSlice.NodeSelector with " +
                    std::to_string(selector->node_selector_terms.size()) + " terms");
      }
      AddNew(selector->node_selector_terms[0].match_fields, term.match_fields);
      AddNew(selector->node_selector_terms[0].match_expressions, term.match_expressions);
    }
    if (term == api::NodeSelectorTerm{}) return std::nullopt;
    return api::NodeSelector{{std::move(term)}};
  }

  const ClaimsToAllocate& claims_;
  const api::Node& node_;
  const NodeAllocation& found_;
  const AllocatorFeatures& features_;
  Random& random_;
};

}  // namespace

Result<std::vector<api::AllocationResult>> MakeAllocationResults(const ClaimsToAllocate& claims,
                                                                 const api::Node& node,
                                                                 const NodeAllocation& found,
                                                                 const AllocatorFeatures& features,
                                                                 Random& random) {
  return ResultMaker(claims, node, found, features, random).Make();
}

}  // namespace berth::plugins::dra
