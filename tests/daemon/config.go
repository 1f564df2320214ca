// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"fmt"

	"sigs.k8s.io/yaml"
)

// complete fills in what a KubeSchedulerConfiguration leaves out: apiVersion and kind, the
// kubeconfig, and that no leader is elected.
func complete(text, kubeconfig string) ([]byte, error) {
	config := map[string]any{}
	if err := yaml.Unmarshal([]byte(text), &config); err != nil {
		return nil, fmt.Errorf("read the scheduler's configuration: %w", err)
	}
	setDefault(config, "apiVersion", "kubescheduler.config.k8s.io/v1")
	setDefault(config, "kind", "KubeSchedulerConfiguration")
	setDefault(section(config, "clientConnection"), "kubeconfig", kubeconfig)
	setDefault(section(config, "leaderElection"), "leaderElect", false)
	out, err := yaml.Marshal(config)
	if err != nil {
		return nil, fmt.Errorf("write the scheduler's configuration: %w", err)
	}
	return out, nil
}

func setDefault(section map[string]any, key string, value any) {
	if _, ok := section[key]; !ok {
		section[key] = value
	}
}

// section is the mapping under a key, made if there is none.
func section(config map[string]any, key string) map[string]any {
	child, ok := config[key].(map[string]any)
	if !ok {
		child = map[string]any{}
		config[key] = child
	}
	return child
}
