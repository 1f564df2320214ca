// SPDX-License-Identifier: Apache-2.0

package image

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// How cosign keeps signatures and attestations in a registry: as layers of an image beside the one that they are of.
const (
	simpleSigning       types.MediaType = "application/vnd.dev.cosign.simplesigning.v1+json"
	envelope            types.MediaType = "application/vnd.dsse.envelope.v1+json"
	signatureAnnotation                 = "dev.cosignproject.cosign/signature"
	inToto                              = "application/vnd.in-toto+json"
)

// Key is a releaser's: on the curve P-256, as those are that `cosign verify --key` takes.
type Key struct{ private *ecdsa.PrivateKey }

// ReadKey reads a private key in PEM, as `openssl genpkey` and `openssl ecparam -genkey` write them. One with a
// password is refused.
func ReadKey(text []byte) (Key, error) {
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		var key any
		var err error
		switch block.Type {
		case "PRIVATE KEY":
			key, err = x509.ParsePKCS8PrivateKey(block.Bytes)
		case "EC PRIVATE KEY":
			key, err = x509.ParseECPrivateKey(block.Bytes)
		case "EC PARAMETERS":
			continue
		default:
			return Key{}, fmt.Errorf("the signing key is a %q; it must be a private key without a password", block.Type)
		}
		if err != nil {
			return Key{}, fmt.Errorf("read the signing key: %w", err)
		}
		private, ok := key.(*ecdsa.PrivateKey)
		if !ok || private.Curve != elliptic.P256() {
			return Key{}, errors.New("the signing key is on another curve than P-256")
		}
		return Key{private}, nil
	}
	return Key{}, errors.New("the signing key is not in PEM")
}

// Sign returns the signature of the text's SHA-256, in base64: what `cosign verify-blob` and `openssl dgst` verify.
func (k Key) Sign(text []byte) (string, error) {
	sum := sha256.Sum256(text)
	signature, err := ecdsa.SignASN1(rand.Reader, k.private, sum[:])
	if err != nil {
		return "", fmt.Errorf("sign: %w", err)
	}
	return base64.StdEncoding.EncodeToString(signature), nil
}

// Envelope is a statement with the key's signature, as DSSE has it.
func (k Key) Envelope(statement []byte) ([]byte, error) {
	signed := fmt.Sprintf("DSSEv1 %d %s %d %s", len(inToto), inToto, len(statement), statement)
	signature, err := k.Sign([]byte(signed))
	if err != nil {
		return nil, err
	}
	type ofKey struct {
		KeyID     string `json:"keyid"`
		Signature string `json:"sig"`
	}
	return json.Marshal(struct {
		PayloadType string  `json:"payloadType"`
		Payload     []byte  `json:"payload"`
		Signatures  []ofKey `json:"signatures"`
	}{inToto, statement, []ofKey{{"", signature}}})
}

// signatureOf is the image that holds the signature of what a registry has under a digest.
func signatureOf(what name.Digest, key Key) (v1.Image, error) {
	type critical struct {
		Identity map[string]string `json:"identity"`
		Image    map[string]string `json:"image"`
		Type     string            `json:"type"`
	}
	payload, err := json.Marshal(struct {
		Critical critical       `json:"critical"`
		Optional map[string]any `json:"optional"`
	}{Critical: critical{
		map[string]string{"docker-reference": what.Context().Name()},
		map[string]string{"docker-manifest-digest": what.DigestStr()},
		"cosign container image signature",
	}})
	if err != nil {
		return nil, err
	}
	signature, err := key.Sign(payload)
	if err != nil {
		return nil, err
	}
	return beside(mutate.Addendum{
		Layer: static.NewLayer(payload, simpleSigning), Annotations: map[string]string{signatureAnnotation: signature},
	})
}

// attestations is the image that holds signed statements about what a registry has under a digest.
func attestations(key Key, statements ...Statement) (v1.Image, error) {
	var layers []mutate.Addendum
	for _, statement := range statements {
		text, err := statement.text()
		if err != nil {
			return nil, err
		}
		signed, err := key.Envelope(text)
		if err != nil {
			return nil, err
		}
		layers = append(layers, mutate.Addendum{Layer: static.NewLayer(signed, envelope), Annotations: map[string]string{
			signatureAnnotation: "", "predicateType": statement.PredicateType,
		}})
	}
	return beside(layers...)
}

func beside(layers ...mutate.Addendum) (v1.Image, error) {
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	return mutate.Append(image, layers...)
}
