// SPDX-License-Identifier: Apache-2.0

package integration

import "fmt"

// withoutExtras disables the plugins that add to what is tested here: preemption, which has words of
// its own in messages, and those that ask about other pods, volumes and devices.
const withoutExtras = `
    multiPoint:
      disabled:
      - {name: DefaultPreemption}
      - {name: DynamicResources}
      - {name: InterPodAffinity}
      - {name: PodTopologySpread}
      - {name: NodeVolumeLimits}
      - {name: VolumeBinding}
      - {name: VolumeRestrictions}
      - {name: VolumeZone}
`

// plainConfig is one profile with the plugins that every pod needs, and a rate limit.
func plainConfig(qps, burst int) string {
	return fmt.Sprintf(`
clientConnection: {qps: %d, burst: %d}
profiles:
- schedulerName: default-scheduler
  plugins:%s`, qps, burst, withoutExtras)
}

// fast is the rate limit of tests that are not about it.
func fast() string { return plainConfig(5000, 5000) }
