// SPDX-License-Identifier: Apache-2.0

package image

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	spdxjson "github.com/spdx/tools-golang/json"
	"github.com/spdx/tools-golang/spdx/v2/common"
	spdx "github.com/spdx/tools-golang/spdx/v2/v2_3"
)

const unknown = "NOASSERTION"

// WriteSBOM writes the bill of materials of an image as SPDX 2.3 in JSON: Berth, each Debian package of
// which the root file system has something, and the libraries that are compiled in.
func WriteSBOM(file string, o Options) error {
	document, err := bill(o)
	if err != nil {
		return fmt.Errorf("the bill of materials: %w", err)
	}
	var text bytes.Buffer
	if err := spdxjson.Write(document, &text, spdxjson.Indent("  "), spdxjson.EscapeHTML(false)); err != nil {
		return fmt.Errorf("write the bill of materials: %w", err)
	}
	return os.WriteFile(file, text.Bytes(), 0o644)
}

func bill(o Options) (*spdx.Document, error) {
	program, err := os.ReadFile(filepath.Join(o.Root, "usr/local/bin/berth"))
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(program)
	digest := hex.EncodeToString(sum[:])
	berth := newPackage("berth", o.Version)
	berth.PackageLicenseDeclared = "Apache-2.0"
	berth.PackageChecksums = []common.Checksum{{Algorithm: common.SHA256, Value: digest}}
	if o.Revision != "" {
		berth.PackageSourceInfo = "commit " + o.Revision
	}
	document := &spdx.Document{
		SPDXVersion: spdx.Version, DataLicense: spdx.DataLicense, SPDXIdentifier: "DOCUMENT",
		DocumentName:      fmt.Sprintf("berth-%s-%s", o.Version, o.Architecture),
		DocumentNamespace: fmt.Sprintf("https://berth.dev/spdx/berth-%s-%s-%s", o.Version, o.Architecture, digest),
		CreationInfo: &spdx.CreationInfo{
			Creators: []common.Creator{{CreatorType: "Tool", Creator: "berth-image"}},
			Created:  o.Created.UTC().Format(time.RFC3339),
		},
		Packages:      []*spdx.Package{berth},
		Relationships: []*spdx.Relationship{relation("DOCUMENT", common.TypeRelationshipDescribe, berth.PackageSPDXIdentifier)},
	}
	distribution, err := fieldsOf(filepath.Join(o.Root, "usr/lib/os-release"), "=")
	if err != nil {
		return nil, err
	}
	for _, part := range []struct{ files, how string }{
		{"var/lib/dpkg/status.d/*", common.TypeRelationshipDependsOn},
		{"usr/share/doc/berth/compiled-in/*", common.TypeRelationshipStaticLink},
	} {
		files, err := filepath.Glob(filepath.Join(o.Root, part.files))
		if err != nil {
			return nil, err
		}
		if len(files) == 0 {
			return nil, fmt.Errorf("no files %s", part.files)
		}
		for _, file := range files {
			p, err := debianPackage(file, distribution)
			if err != nil {
				return nil, err
			}
			document.Packages = append(document.Packages, p)
			document.Relationships = append(document.Relationships, relation(berth.PackageSPDXIdentifier, part.how, p.PackageSPDXIdentifier))
		}
	}
	return document, nil
}

func newPackage(name, version string) *spdx.Package {
	return &spdx.Package{
		PackageName: name, PackageVersion: version,
		// Letters, digits, dots and dashes only.
		PackageSPDXIdentifier:   common.ElementID("Package-" + strings.NewReplacer("+", "-plus-", "_", "-").Replace(name)),
		PackageDownloadLocation: unknown, PackageLicenseConcluded: unknown, PackageLicenseDeclared: unknown, PackageCopyrightText: unknown,
		IsFilesAnalyzedTagPresent: true,
	}
}

func relation(a common.ElementID, how string, b common.ElementID) *spdx.Relationship {
	return &spdx.Relationship{RefA: common.MakeDocElementID("", string(a)), RefB: common.MakeDocElementID("", string(b)), Relationship: how}
}

// debianPackage reads a file in which dpkg describes a package.
func debianPackage(file string, distribution map[string]string) (*spdx.Package, error) {
	fields, err := fieldsOf(file, ": ")
	if err != nil {
		return nil, err
	}
	name, version := fields["Package"], fields["Version"]
	source, sourceVersion, ok := strings.Cut(strings.TrimSuffix(fields["Source"], ")"), " (")
	if name == "" || version == "" || !ok {
		return nil, fmt.Errorf("%s names no package, version and source", file)
	}
	p := newPackage(name, version)
	p.PackageSupplier = &common.Supplier{
		SupplierType: "Organization", Supplier: strings.NewReplacer("<", "(", ">", ")").Replace(fields["Maintainer"]),
	}
	// Advisories are about source packages. These two forms are what Trivy and Grype read.
	p.PackageSourceInfo = fmt.Sprintf("built package from: %s %s", source, sourceVersion)
	id := distribution["ID"]
	p.PackageExternalReferences = []*spdx.PackageExternalReference{{
		Category: common.CategoryPackageManager, RefType: common.TypePackageManagerPURL,
		Locator: fmt.Sprintf("pkg:deb/%s/%s@%s?arch=%s&distro=%s-%s&upstream=%s", id, url.QueryEscape(name), url.QueryEscape(version),
			fields["Architecture"], id, distribution["VERSION_ID"], url.QueryEscape(source+"@"+sourceVersion)),
	}}
	return p, nil
}

// fieldsOf reads a file whose lines are a name, the separator and a value, perhaps in quotation marks.
func fieldsOf(file, separator string) (map[string]string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	fields := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), separator); ok {
			fields[name] = strings.Trim(value, `"`)
		}
	}
	return fields, nil
}
