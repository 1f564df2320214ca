// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
)

// pickPorts finds free loopback ports below the range from which the kernel takes the ports of
// outgoing connections. A port inside that range could be taken while its server is restarted, or a
// client that redials the stopped server could be connected to itself.
func pickPorts(count int) ([]int, error) {
	low, span := 20000, 10000
	var ephemeral int
	if text, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range"); err == nil {
		if _, err := fmt.Sscan(string(text), &ephemeral); err == nil && ephemeral >= 12000 {
			low, span = ephemeral-10000, 10000
		}
	}
	var ports []int
	for try := 0; len(ports) < count; try++ {
		if try > 1000 {
			return nil, fmt.Errorf("no free port on 127.0.0.1 in %d-%d", low, low+span-1)
		}
		port := low + rand.IntN(span)
		listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			continue
		}
		defer listener.Close() // held until all are found, so that no port is found twice
		ports = append(ports, port)
	}
	return ports, nil
}

// FreePort is a port for a server that is run beside the control plane.
func FreePort() (int, error) {
	ports, err := pickPorts(1)
	if err != nil {
		return 0, err
	}
	return ports[0], nil
}
