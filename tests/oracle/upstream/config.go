// SPDX-License-Identifier: Apache-2.0

package upstream

import (
	"fmt"

	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/validation"
)

// ReadConfig reads a KubeSchedulerConfiguration strictly, defaults and validates it. No text at all stands
// for the default one.
func ReadConfig(text []byte) (*config.KubeSchedulerConfiguration, error) {
	if err := settings(); err != nil {
		return nil, err
	}
	cfg, err := decodeConfig(text)
	if err != nil {
		return nil, err
	}
	if err := validation.ValidateKubeSchedulerConfiguration(cfg); err != nil {
		return nil, err
	}
	return cfg, nil
}

func decodeConfig(text []byte) (*config.KubeSchedulerConfiguration, error) {
	if len(text) == 0 {
		return latest.Default()
	}
	object, kind, err := scheme.Codecs.UniversalDecoder().Decode(text, nil, nil)
	if err != nil {
		return nil, err
	}
	cfg, ok := object.(*config.KubeSchedulerConfiguration)
	if !ok {
		return nil, fmt.Errorf("the configuration is a %s, not a KubeSchedulerConfiguration", kind)
	}
	cfg.APIVersion = kind.GroupVersion().String()
	return cfg, nil
}
