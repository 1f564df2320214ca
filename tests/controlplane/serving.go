// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"berth.dev/tests/controlplane/programs"
)

// HTTPClient talks to the control plane's servers as the admin: by client certificate where the
// server asks for one, and by token.
func (c *ControlPlane) HTTPClient() (*http.Client, error) {
	pem, err := os.ReadFile(c.CAFile())
	if err != nil {
		return nil, fmt.Errorf("read the CA: %w", err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(pem)
	cert, err := tls.LoadX509KeyPair(c.pki.cert(userCert(Admin)), c.pki.key(userCert(Admin)))
	if err != nil {
		return nil, fmt.Errorf("load the admin's certificate: %w", err)
	}
	return &http.Client{Transport: bearer{
		token: c.tokens[Admin],
		base: &http.Transport{
			TLSClientConfig:   &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{cert}},
			DisableKeepAlives: true,
		},
	}}, nil
}

type bearer struct {
	token string
	base  http.RoundTripper
}

func (b bearer) RoundTrip(request *http.Request) (*http.Response, error) {
	request = request.Clone(request.Context())
	request.Header.Set("Authorization", "Bearer "+b.token)
	return b.base.RoundTrip(request)
}

// awaitHTTPS waits until the process answers 200 at the path.
func (c *ControlPlane) awaitHTTPS(ctx context.Context, p *Process, path string) error {
	client, err := c.HTTPClient()
	if err != nil {
		return err
	}
	scheme := "https"
	if p.name == programs.Kwok {
		scheme = "http" // kwok serves its health without TLS
	}
	url := fmt.Sprintf("%s://127.0.0.1:%d%s", scheme, p.port, path)
	return p.await(ctx, func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		response, err := client.Do(request)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		if response.StatusCode != http.StatusOK {
			body, _ := io.ReadAll(io.LimitReader(response.Body, 2000))
			return fmt.Errorf("%s: %s", response.Status, body)
		}
		return nil
	})
}

// IssueServerCert makes a certificate, signed by the control plane's CA, for a server on loopback
// that a test runs, such as a proxy in front of the API server.
func (c *ControlPlane) IssueServerCert(name string) (certFile, keyFile string, err error) {
	return c.IssueServerCertUntil(name, time.Time{})
}

// IssueServerCertUntil makes one that is valid until then, which may be over.
func (c *ControlPlane) IssueServerCertUntil(name string, notAfter time.Time) (certFile, keyFile string, err error) {
	name = "issued-" + name
	if err := c.pki.issueUntil(notAfter, caName, name, pkix.Name{CommonName: name}, []string{"localhost"}); err != nil {
		return "", "", err
	}
	return c.pki.cert(name), c.pki.key(name), nil
}
