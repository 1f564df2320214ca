// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/endpoints/request"
)

// Options of a proxy.
type Options struct {
	Upstream string // URL of the API server
	CA       []byte // PEM of what signed its certificate
	Token    string // of the user as whom all requests go on
	CertFile string // what the proxy shows of itself
	KeyFile  string
	HTTP1    bool // HTTP/2 is not spoken
	Seed     uint64
}

// Proxy speaks TLS on both sides, HTTP/2 or HTTP/1.1 with the daemon, and lets through what no fault concerns. When
// the daemon has given a request up, or its connection is gone, the proxy delivers no more of it. Its methods may be
// called from any goroutine.
type Proxy struct {
	*wire
	*rules
	*identities

	upstream  *url.URL
	transport *http.Transport
	server    *http.Server
	infos     *request.RequestInfoFactory
}

// NewProxy begins to serve on a port of its own.
func NewProxy(options Options) (*Proxy, error) {
	upstream, err := url.Parse(options.Upstream)
	if err != nil {
		return nil, fmt.Errorf("the API server's address: %w", err)
	}
	trusted := x509.NewCertPool()
	if !trusted.AppendCertsFromPEM(options.CA) {
		return nil, errors.New("no certificate in the CA")
	}
	p := &Proxy{
		rules:      newRules(options.Seed),
		identities: &identities{upstream: options.Token},
		upstream:   upstream,
		transport: &http.Transport{
			TLSClientConfig: &tls.Config{RootCAs: trusted}, ForceAttemptHTTP2: true, DisableCompression: true,
			MaxIdleConnsPerHost: 100,
		},
		infos: &request.RequestInfoFactory{
			APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api")},
	}
	if err := p.show(options.CertFile, options.KeyFile); err != nil {
		return nil, fmt.Errorf("the proxy's certificate: %w", err)
	}
	if p.wire, err = listen(upstream.Host); err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	protocols := []string{"h2", "http/1.1"}
	if options.HTTP1 {
		protocols = protocols[1:]
	}
	p.server = &http.Server{
		Handler:   p,
		TLSConfig: &tls.Config{GetCertificate: p.certificate, ClientAuth: tls.RequestClientCert, NextProtos: protocols},
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, connKey{}, c)
		},
		// What clients that are cut off make it say is no news.
		ErrorLog: log.New(io.Discard, "", 0),
	}
	if options.HTTP1 {
		p.server.Protocols = new(http.Protocols)
		p.server.Protocols.SetHTTP1(true)
	}
	go func() { _ = p.server.ServeTLS(p.wire, "", "") }()
	return p, nil
}

// URL is where the proxy serves.
func (p *Proxy) URL() string { return "https://" + p.Addr().String() }

// Close ends it with all its connections.
func (p *Proxy) Close() {
	p.cut(true)
	_ = p.server.Close()
	p.transport.CloseIdleConnections()
}

// ServeHTTP passes one request on, with whatever fault there is for it.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	info, err := p.infos.NewRequestInfo(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	x := &exchange{proxy: p, out: w, request: r, info: info}
	if !p.admits(r) {
		x.answer(Fault{Kind: Answer, Code: http.StatusUnauthorized, Reason: "Unauthorized"})
		return
	}
	x.version, _ = p.state()
	x.fault = p.draw(info)
	x.serve()
}

// outgoing is the request as the API server gets it.
func (p *Proxy) outgoing(ctx context.Context, r *http.Request, brief bool) *http.Request {
	out := r.Clone(ctx)
	out.RequestURI = ""
	out.URL.Scheme, out.URL.Host, out.Host = p.upstream.Scheme, p.upstream.Host, p.upstream.Host
	if brief {
		query := out.URL.Query()
		query.Set("timeoutSeconds", "1")
		out.URL.RawQuery = query.Encode()
	}
	if r.ContentLength == 0 {
		out.Body = nil
	}
	out.Header.Del("Connection")
	out.Header.Set("Authorization", "Bearer "+p.identities.upstream)
	return out
}
