// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"fmt"
	"os"

	"sigs.k8s.io/yaml"

	"berth.dev/tests/controlplane/programs"
)

// StartScheduler runs kube-scheduler, as user KubeScheduler, and waits until it is healthy. The text
// is a KubeSchedulerConfiguration; "" is the default one. The harness fills in what it leaves out:
// apiVersion and kind, the kubeconfig, and that no leader is elected. Called again it starts one
// more.
func (c *ControlPlane) StartScheduler(ctx context.Context, config string) (*Process, error) {
	c.mu.Lock()
	name, port := programs.Scheduler, c.state.Ports[programs.Scheduler]
	for number := 2; c.runsLocked(name); number++ {
		name = fmt.Sprintf("%s-%d", programs.Scheduler, number)
	}
	c.mu.Unlock()
	if name != programs.Scheduler {
		ports, err := pickPorts(1)
		if err != nil {
			return nil, err
		}
		port = ports[0]
	}
	text, err := CompleteSchedulerConfig(config, c.Kubeconfig(KubeScheduler))
	if err != nil {
		return nil, err
	}
	file := c.path(name + ".yaml")
	if err := os.WriteFile(file, text, 0o644); err != nil {
		return nil, fmt.Errorf("write the scheduler's configuration: %w", err)
	}
	older, err := programs.SchedulerFlags()
	if err != nil {
		return nil, err
	}
	l := c.launch(programs.Scheduler, port, append(older,
		"--config="+file,
		"--authentication-kubeconfig="+c.Kubeconfig(KubeScheduler),
		"--authorization-kubeconfig="+c.Kubeconfig(KubeScheduler),
		"--bind-address=127.0.0.1",
		fmt.Sprintf("--secure-port=%d", port),
		"--tls-cert-file="+c.pki.cert(programs.Scheduler),
		"--tls-private-key-file="+c.pki.key(programs.Scheduler),
	)...)
	l.name = name
	p, err := c.run(l)
	if err != nil {
		return nil, err
	}
	return p, c.awaitHTTPS(ctx, p, "/healthz")
}

func (c *ControlPlane) runsLocked(name string) bool {
	for _, p := range c.processes {
		if p.name == name && startTicks(p.pid) != "" {
			return true
		}
	}
	return false
}

// CompleteSchedulerConfig fills in what a KubeSchedulerConfiguration leaves out: apiVersion and
// kind, the kubeconfig, and that no leader is elected.
func CompleteSchedulerConfig(text, kubeconfig string) ([]byte, error) {
	config := map[string]any{}
	if err := yaml.Unmarshal([]byte(text), &config); err != nil {
		return nil, fmt.Errorf("read the scheduler's configuration: %w", err)
	}
	if config == nil {
		config = map[string]any{}
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
