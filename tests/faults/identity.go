// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"crypto/tls"
	"net/http"
	"sync"
)

// identities are whom the proxy lets in, and what it shows of itself. Each client that is let in is Berth to the API server. Its
// methods may be called from any goroutine.
type identities struct {
	upstream string // Berth's token at the API server

	mu     sync.Mutex
	tokens map[string]bool // those that are valid
	certs  map[string]bool // serial numbers, likewise
	server *tls.Certificate
}

func (i *identities) show(certFile, keyFile string) error {
	pair, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		return err
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.server = &pair
	return nil
}

func (i *identities) certificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.server, nil
}

// admitTokens makes these the only valid ones.
func (i *identities) admitTokens(tokens ...string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.tokens = map[string]bool{}
	for _, token := range tokens {
		i.tokens[token] = true
	}
}

// admitCerts makes these client certificates, by serial number, the only valid ones.
func (i *identities) admitCerts(serials ...string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.certs = map[string]bool{}
	for _, serial := range serials {
		i.certs[serial] = true
	}
}

func (i *identities) admits(r *http.Request) bool {
	const scheme = "Bearer "
	i.mu.Lock()
	defer i.mu.Unlock()
	if header := r.Header.Get("Authorization"); len(header) > len(scheme) && i.tokens[header[len(scheme):]] {
		return true
	}
	return r.TLS != nil && len(r.TLS.PeerCertificates) > 0 && i.certs[r.TLS.PeerCertificates[0].SerialNumber.String()]
}
