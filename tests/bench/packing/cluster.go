// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// How the trace is told to the scheduler: a device is one of a node's slice, which several claims
// may have, with a capacity of 1000; its model is a label of the node.
const (
	deviceClass = "gpu.example.com"
	capacity    = "milli"
	modelLabel  = "example.com/gpu-model"
)

type object = map[string]any

func nodeObjects(n traceNode) []object {
	node := object{
		"apiVersion": "v1", "kind": "Node",
		"metadata": object{"name": n.name, "labels": object{"kubernetes.io/hostname": n.name, modelLabel: n.model}},
		"status": object{"allocatable": object{
			"cpu": fmt.Sprintf("%dm", n.cpuMilli), "memory": fmt.Sprintf("%dMi", n.memoryMiB), "pods": "1001"}},
	}
	if n.devices == 0 {
		return []object{node}
	}
	devices := make([]object, n.devices)
	for i := range devices {
		devices[i] = object{
			"name": deviceName(int64(i)), "allowMultipleAllocations": true,
			"capacity": object{capacity: object{"value": strconv.Itoa(deviceMilli)}},
		}
	}
	return []object{node, {
		"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice",
		"metadata": object{"name": n.name},
		"spec": object{
			"driver": deviceClass, "nodeName": n.name, "devices": devices,
			"pool": object{"name": n.name, "generation": 1, "resourceSliceCount": 1},
		},
	}}
}

func deviceName(i int64) string { return fmt.Sprintf("gpu-%d", i) }

// modelsOf are the models that the pod can have, each once; nil: any.
func modelsOf(d demand) []string {
	models := slices.DeleteFunc(strings.Split(d.models, "|"), func(model string) bool { return model == "" })
	slices.Sort(models)
	return slices.Compact(models)
}

func modelExpression(models []string) object {
	return object{"key": modelLabel, "operator": "In", "values": models}
}

func podObjects(p tracePod) []object {
	spec := object{"containers": []object{{
		"name": "main", "image": "trace",
		"resources": object{"requests": object{"cpu": fmt.Sprintf("%dm", p.cpuMilli), "memory": fmt.Sprintf("%dMi", p.memoryMiB)}},
	}}}
	if models := modelsOf(p.demand); len(models) > 0 {
		spec["affinity"] = object{"nodeAffinity": object{"requiredDuringSchedulingIgnoredDuringExecution": object{
			"nodeSelectorTerms": []object{{"matchExpressions": []object{modelExpression(models)}}}}}}
	}
	pod := object{
		"apiVersion": "v1", "kind": "Pod", "metadata": object{"name": p.name, "namespace": "default", "uid": p.name},
		"spec": spec,
	}
	if p.devices == 0 {
		return []object{pod}
	}
	spec["resourceClaims"] = []object{{"name": "gpu", "resourceClaimName": p.name}}
	return []object{{
		"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
		"metadata": object{"name": p.name, "namespace": "default", "uid": "claim-" + p.name},
		"spec": object{"devices": object{"requests": []object{{
			"name": "gpu",
			"exactly": object{
				"deviceClassName": deviceClass, "allocationMode": "ExactCount", "count": p.devices,
				"capacity": object{"requests": object{capacity: strconv.FormatInt(p.milli, 10)}},
			},
		}}}},
	}, pod}
}

// writeCluster writes the nodes and the pods that wait, in the order in which they come.
func writeCluster(file string, nodes []traceNode, pods []tracePod) (err error) {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	out := bufio.NewWriterSize(f, 1<<20)
	encoder := json.NewEncoder(out)
	first := true
	write := func(objects []object) error {
		for _, o := range objects {
			if !first {
				if err := out.WriteByte(','); err != nil {
					return err
				}
			}
			first = false
			if err := encoder.Encode(o); err != nil {
				return err
			}
		}
		return nil
	}
	if _, err := out.WriteString(`{"apiVersion":"v1","kind":"List","items":[`); err != nil {
		return err
	}
	err = write([]object{{"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": object{"name": deviceClass}, "spec": object{}}})
	for i := 0; err == nil && i < len(nodes); i++ {
		err = write(nodeObjects(nodes[i]))
	}
	for i := 0; err == nil && i < len(pods); i++ {
		err = write(podObjects(pods[i]))
	}
	if err != nil {
		return err
	}
	if _, err := out.WriteString("]}\n"); err != nil {
		return err
	}
	return out.Flush()
}

// policies are what can be measured without a configuration of one's own.
var policies = []string{"fgd", "fgd-learned", "expected-use", "expected-use-learned", "default", "most-allocated"}

// configurationOf makes the policy's configuration for a list of pods.
func configurationOf(policy string, pods []tracePod) (object, error) {
	type list = []object
	profile := object{"schedulerName": "default-scheduler"}
	plugins := object{"postFilter": object{"disabled": list{{"name": "*"}}}}
	switch policy {
	case "default":
	case "most-allocated":
		plugins["score"] = object{"disabled": list{{"name": "*"}}, "enabled": list{{"name": "NodeResourcesFit", "weight": 1}}}
		profile["pluginConfig"] = list{{"name": "NodeResourcesFit", "args": object{"scoringStrategy": object{
			"type": "MostAllocated", "resources": list{{"name": "cpu", "weight": 1}, {"name": "memory", "weight": 1}}}}}}
	case "fgd", "fgd-learned", "expected-use", "expected-use-learned":
		const name = "FragmentationAware"
		plugins["preScore"] = object{"enabled": list{{"name": name}}}
		plugins["score"] = object{
			"disabled": list{{"name": "*"}},
			"enabled":  list{{"name": name, "weight": 101}, {"name": "FixedNodeOrder", "weight": 1}},
		}
		args := object{"resources": list{{"name": "deviceclass.resource.kubernetes.io/" + deviceClass, "weight": 1}}}
		if strings.HasPrefix(policy, "expected-use") {
			args["measure"] = "ExpectedUse"
		}
		if !strings.HasSuffix(policy, "-learned") {
			args["mix"] = mixOf(pods)
		} else {
			plugins["preFilter"] = object{"enabled": list{{"name": name}}}
		}
		profile["pluginConfig"] = list{{"name": name, "args": args}}
	default:
		return nil, fmt.Errorf("no policy %q; there are %s", policy, strings.Join(policies, ", "))
	}
	profile["plugins"] = plugins
	return object{
		"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration",
		"percentageOfNodesToScore": 100, "profiles": list{profile},
	}, nil
}

func mixOf(pods []tracePod) (mix []object) {
	const covered = 0.95
	for _, k := range typical(pods, covered) {
		shape := object{"weight": k.pods, "requests": object{"cpu": fmt.Sprintf("%dm", k.cpuMilli)}}
		if k.devices > 0 {
			shape["devices"] = []object{{"deviceClassName": deviceClass, "count": k.devices, "share": fmt.Sprintf("%dm", k.milli)}}
		}
		if models := modelsOf(k.demand); len(models) > 0 {
			shape["matchExpressions"] = []object{modelExpression(models)}
		}
		mix = append(mix, shape)
	}
	return mix
}
