// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"crypto/tls"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// credentials are the files by which the daemon comes in, and what the proxy takes them for.
type credentials struct {
	r     *run
	certs bool
	count int
}

func (c *credentials) file(name string) string { return filepath.Join(c.r.dir, name) }

// kubeconfig writes one that names files, which can be replaced.
func (c *credentials) kubeconfig() string {
	config := clientcmdapi.NewConfig()
	cluster := &clientcmdapi.Cluster{Server: c.r.proxy.URL(), CertificateAuthority: c.r.control.CAFile()}
	if c.r.machine != nil {
		_, port, err := net.SplitHostPort(c.r.proxy.Addr().String())
		c.r.must(err)
		cluster.Server, cluster.TLSServerName = "https://"+net.JoinHostPort(apiName, port), "localhost"
	}
	config.Clusters["c"] = cluster
	user := &clientcmdapi.AuthInfo{TokenFile: c.file("token")}
	if c.certs {
		user = &clientcmdapi.AuthInfo{ClientCertificate: c.file("client.crt"), ClientKey: c.file("client.key")}
	}
	config.AuthInfos["u"] = user
	config.Contexts["c"] = &clientcmdapi.Context{Cluster: "c", AuthInfo: "u"}
	config.CurrentContext = "c"
	c.r.must(clientcmd.WriteToFile(*config, c.file("kubeconfig")))
	return c.file("kubeconfig")
}

// next makes new ones: what the proxy must admit, and what puts them where the daemon looks.
func (c *credentials) next() (admitted string, hand func()) {
	c.count++
	if !c.certs {
		token := fmt.Sprintf("token-%d", c.count)
		return token, func() { c.replace("token", []byte(token)) }
	}
	certFile, keyFile, err := c.r.control.IssueServerCert(fmt.Sprintf("%s-client-%d", c.r.id, c.count))
	c.r.must(err)
	pair, err := tls.LoadX509KeyPair(certFile, keyFile)
	c.r.must(err)
	return pair.Leaf.SerialNumber.String(), func() {
		for to, from := range map[string]string{"client.crt": certFile, "client.key": keyFile} {
			text, err := os.ReadFile(from)
			c.r.must(err)
			c.replace(to, text)
		}
	}
}

// replace puts the whole new content there at once.
func (c *credentials) replace(name string, text []byte) {
	fresh := c.file(name + ".new")
	c.r.must(os.WriteFile(fresh, text, 0o600))
	c.r.must(os.Rename(fresh, c.file(name)))
}

func (c *credentials) admit(all ...string) {
	if c.certs {
		c.r.proxy.admitCerts(all...)
	} else {
		c.r.proxy.admitTokens(all...)
	}
}

// expire makes the present credentials invalid at once; the daemon gets others by what is returned.
func (r *run) expire() (renew func()) {
	admitted, hand := r.credentials.next()
	r.credentials.admit(admitted)
	return hand
}

// rotate gives the daemon new credentials, with which the old ones end soon.
func (r *run) rotate() {
	admitted, hand := r.credentials.next()
	hand()
	r.credentials.admit(admitted)
}

// showCertificate has the proxy show another certificate: one that has expired, or a good one.
func (r *run) showCertificate(kind string) {
	until := time.Time{}
	if kind == "expired" {
		until = time.Now().Add(-time.Minute)
	}
	cert, key, err := r.control.IssueServerCertUntil(r.id+"-"+kind, until)
	r.must(err)
	r.must(r.proxy.show(cert, key))
}
