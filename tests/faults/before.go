// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"os"
	"path/filepath"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"berth.dev/tests/controlplane"
)

// Before puts a proxy before the API server of a control plane. It returns the kubeconfig, in the folder, of a daemon that
// comes through it.
func Before(c *controlplane.ControlPlane, dir string, seed uint64) (*Proxy, string, error) {
	const token = "ours"
	ca, err := os.ReadFile(c.CAFile())
	if err != nil {
		return nil, "", err
	}
	cert, key, err := c.IssueServerCert("proxy")
	if err != nil {
		return nil, "", err
	}
	proxy, err := NewProxy(Options{Upstream: c.URL(), CA: ca, Token: c.Token(controlplane.Berth),
		CertFile: cert, KeyFile: key, Seed: seed})
	if err != nil {
		return nil, "", err
	}
	proxy.AdmitTokens(token)
	config := clientcmdapi.NewConfig()
	config.Clusters["c"] = &clientcmdapi.Cluster{Server: proxy.URL(), CertificateAuthority: c.CAFile()}
	config.AuthInfos["u"] = &clientcmdapi.AuthInfo{Token: token}
	config.Contexts["c"] = &clientcmdapi.Context{Cluster: "c", AuthInfo: "u"}
	config.CurrentContext = "c"
	kubeconfig := filepath.Join(dir, "kubeconfig")
	return proxy, kubeconfig, clientcmd.WriteToFile(*config, kubeconfig)
}
