// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <vector>

#include "berth/api/object.h"
#include "src/simulator/admission.h"
#include "src/simulator/memory_api.h"

namespace berth::simulator {

// What the objects of a dump refer to and it lacks, so that some verdict may be another than in the
// cluster that it was taken of: one text for each kind, with a few names. They are namespaces where
// affinity goes by their labels; claims, volumes and classes of pods; claims of devices, their
// templates, classes and slices; and pod groups. Nodes of pods are LoadCluster()'s matter.
//
// Thread safety: any thread.
std::vector<std::string> MissingReferences(const std::vector<api::ObjectPtr>& objects);

// The same of objects that a question brings to a cluster, where neither has it. Also the
// namespaces of its pods, where the cluster has any.
std::vector<std::string> MissingReferences(const std::vector<api::ObjectPtr>& objects,
                                           const MemoryApi& cluster);

// The same of the RuntimeClasses that manifests of pods name, "" among them; one text or none.
std::vector<std::string> MissingRuntimeClasses(std::set<std::string> names,
                                               const AdmissionObjects& read);

}  // namespace berth::simulator
