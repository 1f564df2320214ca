// SPDX-License-Identifier: Apache-2.0

package image

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// Types of statements: https://in-toto.io, https://slsa.dev and https://spdx.dev say what they contain.
const (
	statementType  = "https://in-toto.io/Statement/v1"
	provenanceType = "https://slsa.dev/provenance/v1"
	billType       = "https://spdx.dev/Document"
)

// Statement is in-toto's: what is said, and of which bytes.
type Statement struct {
	Type          string    `json:"_type"`
	Subject       []Subject `json:"subject"`
	PredicateType string    `json:"predicateType"`
	Predicate     any       `json:"predicate"`
}

// Subject names bytes by their digest.
type Subject struct {
	Name   string            `json:"name"`
	Digest map[string]string `json:"digest"`
}

func (s Statement) text() ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(s)
	return text.Bytes(), err
}

func subject(name string, digest v1.Hash) Subject {
	return Subject{name, map[string]string{digest.Algorithm: digest.Hex}}
}

// Made is how the files of a release were made.
type Made struct {
	Version  string
	Revision string  // the commit
	Source   string  // the tree's address
	Type     string  // the page that describes the build
	Builder  string  // the address of who ran it
	Image    string  // the image's repository
	Digest   v1.Hash // of the image
}

// WriteProvenance writes the statement of all files in the folder, and of the image: SLSA's provenance.
func WriteProvenance(file, folder string, b Made) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return fmt.Errorf("the provenance: %w", err)
	}
	subjects := []Subject{subject(b.Image, b.Digest)}
	for _, entry := range entries {
		text, err := os.ReadFile(filepath.Join(folder, entry.Name()))
		if err != nil {
			return fmt.Errorf("the provenance: %w", err)
		}
		sum := sha256.Sum256(text)
		subjects = append(subjects, subject(entry.Name(), v1.Hash{Algorithm: "sha256", Hex: hex.EncodeToString(sum[:])}))
	}
	type object = map[string]any
	text, err := Statement{statementType, subjects, provenanceType, object{
		"buildDefinition": object{
			"buildType":          b.Type,
			"externalParameters": object{"version": b.Version, "source": b.Source},
			"resolvedDependencies": []any{object{
				"uri": "git+" + b.Source + "@refs/tags/v" + b.Version, "digest": object{"gitCommit": b.Revision},
			}},
		},
		"runDetails": object{"builder": object{"id": b.Builder}},
	}}.text()
	if err != nil {
		return fmt.Errorf("the provenance: %w", err)
	}
	return os.WriteFile(file, text, 0o644)
}

// billOf is the statement that the image of a digest holds what a bill of materials says.
func billOf(repository string, digest v1.Hash, file string) (Statement, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return Statement{}, fmt.Errorf("the bill of materials: %w", err)
	}
	return Statement{statementType, []Subject{subject(repository, digest)}, billType, json.RawMessage(text)}, nil
}

// readStatement reads a statement that WriteProvenance wrote.
func readStatement(file string) (s Statement, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return s, err
	}
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	decoder.DisallowUnknownFields()
	return s, decoder.Decode(&s)
}
