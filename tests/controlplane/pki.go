// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"berth.dev/tests/controlplane/programs"
)

// pki is the folder of certificates and keys. `name` has files name.crt and name.key.
type pki struct {
	dir string
}

const (
	caName           = "ca"             // signs servers, components and users
	frontProxyCAName = "front-proxy-ca" // signs the API server's own client certificate for aggregated APIs
	serviceAccounts  = "service-accounts"
)

func (p pki) cert(name string) string { return filepath.Join(p.dir, name+".crt") }
func (p pki) key(name string) string  { return filepath.Join(p.dir, name+".key") }

// create makes everything a control plane needs, unless an earlier start did.
func (p pki) create() error {
	if _, err := os.Stat(p.key(serviceAccounts)); err == nil {
		return nil
	}
	if err := os.MkdirAll(p.dir, 0o700); err != nil {
		return fmt.Errorf("make the certificate folder: %w", err)
	}
	for _, ca := range []string{caName, frontProxyCAName} {
		if err := p.createCA(ca); err != nil {
			return err
		}
	}
	names := []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local"}
	for _, server := range []string{programs.Etcd, programs.APIServer, programs.ControllerManager, programs.Scheduler} {
		if err := p.issue(caName, server, pkix.Name{CommonName: server}, names); err != nil {
			return err
		}
	}
	for _, u := range users {
		if err := p.issue(caName, userCert(u.User), pkix.Name{CommonName: u.name, Organization: u.groups}, nil); err != nil {
			return err
		}
	}
	if err := p.issue(frontProxyCAName, "front-proxy-client", pkix.Name{CommonName: "front-proxy-client"}, nil); err != nil {
		return err
	}
	return p.createKeyPair(serviceAccounts)
}

func userCert(u User) string { return "user-" + string(u) }

func (p pki) createCA(name string) error {
	template := &x509.Certificate{
		Subject:               pkix.Name{CommonName: name},
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	return p.sign(name, template, nil, nil)
}

// issue makes a certificate that serves on loopback and the given names, and that also
// authenticates its subject as a client.
func (p pki) issue(ca, name string, subject pkix.Name, dnsNames []string) error {
	return p.issueUntil(time.Time{}, ca, name, subject, dnsNames)
}

// issueUntil makes one that is valid until then.
func (p pki) issueUntil(notAfter time.Time, ca, name string, subject pkix.Name, dnsNames []string) error {
	caCert, caKey, err := p.load(ca)
	if err != nil {
		return err
	}
	template := &x509.Certificate{
		Subject:     subject,
		NotAfter:    notAfter,
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		DNSNames:    dnsNames,
	}
	if len(dnsNames) > 0 {
		template.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback, net.IPv4(10, 96, 0, 1)}
	}
	return p.sign(name, template, caCert, caKey)
}

// sign writes the certificate and its new key; without a parent it signs itself.
func (p pki) sign(name string, template, parent *x509.Certificate, parentKey crypto.Signer) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("make the key of %s: %w", name, err)
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return fmt.Errorf("make a serial number: %w", err)
	}
	template.SerialNumber = serial
	template.NotBefore = time.Now().Add(-time.Hour)
	if template.NotAfter.IsZero() {
		template.NotAfter = time.Now().AddDate(1, 0, 0)
	}
	if parent == nil {
		parent, parentKey = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), parentKey)
	if err != nil {
		return fmt.Errorf("sign the certificate of %s: %w", name, err)
	}
	if err := writePEM(p.cert(name), "CERTIFICATE", der); err != nil {
		return err
	}
	return writeKey(p.key(name), key)
}

// createKeyPair makes the keys that sign and check service account tokens.
func (p pki) createKeyPair(name string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("make the key of %s: %w", name, err)
	}
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return fmt.Errorf("encode the public key of %s: %w", name, err)
	}
	if err := writePEM(filepath.Join(p.dir, name+".pub"), "PUBLIC KEY", der); err != nil {
		return err
	}
	return writeKey(p.key(name), key)
}

func (p pki) load(name string) (*x509.Certificate, crypto.Signer, error) {
	certDER, err := readPEM(p.cert(name))
	if err != nil {
		return nil, nil, err
	}
	cert, err := x509.ParseCertificate(certDER)
	if err != nil {
		return nil, nil, fmt.Errorf("parse the certificate of %s: %w", name, err)
	}
	keyDER, err := readPEM(p.key(name))
	if err != nil {
		return nil, nil, err
	}
	key, err := x509.ParseECPrivateKey(keyDER)
	if err != nil {
		return nil, nil, fmt.Errorf("parse the key of %s: %w", name, err)
	}
	return cert, key, nil
}

func writeKey(file string, key *ecdsa.PrivateKey) error {
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return fmt.Errorf("encode %s: %w", file, err)
	}
	return writePEM(file, "EC PRIVATE KEY", der)
}

func writePEM(file, kind string, der []byte) error {
	text := pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	return nil
}

func readPEM(file string) ([]byte, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read PEM: %w", err)
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, fmt.Errorf("%s is not PEM", file)
	}
	return block.Bytes, nil
}
