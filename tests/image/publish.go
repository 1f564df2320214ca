// SPDX-License-Identifier: Apache-2.0

package image

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
)

// Release is what cmake/release/release.sh made, and where it goes.
type Release struct {
	Folder  string
	Version string
	Image   string // the image's repository
	Charts  string // the repository below which the chart goes
	Key     Key
	Options []remote.Option // how registries are reached
}

// published is a name in a registry, by digest.
type published struct {
	reference name.Digest
	tag       name.Tag
}

// Publish pushes the image, the chart, and the signatures and statements of both, and puts signatures of the files beside
// them. What stands under a tag of the version already stays, and is an error unless it is the same.
func (r Release) Publish(ctx context.Context, say func(string)) error {
	r.Options = append(r.Options, remote.WithContext(ctx))
	dir, outer, err := open(r.file("berth-%s.image.tar"))
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	index, err := onlyIndex(outer)
	if err != nil {
		return fmt.Errorf("read the image: %w", err)
	}
	chart, chartName, chartVersion, err := Chart(r.file("berth-%s-chart.tgz"))
	if err != nil {
		return err
	}
	image, err := r.push(r.Image, "v"+r.Version, index)
	if err != nil {
		return err
	}
	say(image.String())
	charts, err := r.push(r.Charts+"/"+chartName, chartVersion, chart)
	if err != nil {
		return err
	}
	say(charts.String())
	if err := r.signFiles(); err != nil {
		return err
	}
	provenance, err := readStatement(r.file("berth-%s.provenance.json"))
	if err != nil {
		return fmt.Errorf("read the provenance: %w", err)
	}
	if err := r.sign(image.reference, provenance); err != nil {
		return err
	}
	if err := r.sign(charts.reference); err != nil {
		return err
	}
	return r.signEach(image.reference.Context(), index)
}

func (p published) String() string { return p.tag.String() + "@" + p.reference.DigestStr() }

func (r Release) file(pattern string) string {
	return filepath.Join(r.Folder, fmt.Sprintf(pattern, r.Version))
}

// onlyIndex is the one index that a layout holds.
func onlyIndex(outer v1.ImageIndex) (v1.ImageIndex, error) {
	manifest, err := outer.IndexManifest()
	if err != nil {
		return nil, err
	}
	if len(manifest.Manifests) != 1 || !manifest.Manifests[0].MediaType.IsIndex() {
		return nil, errors.New("it is not joined")
	}
	return outer.ImageIndex(manifest.Manifests[0].Digest)
}

// push writes an image, or an index with its images, under a tag that has nothing else.
func (r Release) push(repository, tag string, what remote.Taggable) (p published, err error) {
	if p.tag, err = name.NewTag(repository+":"+tag, name.StrictValidation); err != nil {
		return p, fmt.Errorf("%s is no place for it: %w", repository, err)
	}
	digester, ok := what.(interface{ Digest() (v1.Hash, error) })
	if !ok {
		return p, fmt.Errorf("%s has no digest", p.tag)
	}
	digest, err := digester.Digest()
	if err != nil {
		return p, fmt.Errorf("push %s: %w", p.tag, err)
	}
	p.reference = p.tag.Context().Digest(digest.String())
	found, err := remote.Head(p.tag, r.Options...)
	var refused *transport.Error
	switch {
	case err == nil && found.Digest != digest:
		return p, fmt.Errorf("%s is there already, and is %s", p.tag, found.Digest)
	case err == nil:
		return p, nil
	case !errors.As(err, &refused) || refused.StatusCode != http.StatusNotFound:
		return p, fmt.Errorf("ask for %s: %w", p.tag, err)
	}
	if err := remote.Push(p.tag, what, r.Options...); err != nil {
		return p, fmt.Errorf("push %s: %w", p.tag, err)
	}
	return p, nil
}

// sign writes a signature beside what a registry has, and the statements about it.
func (r Release) sign(what name.Digest, statements ...Statement) error {
	tag := strings.Replace(what.DigestStr(), ":", "-", 1)
	signature, err := signatureOf(what, r.Key)
	if err != nil {
		return fmt.Errorf("sign %s: %w", what, err)
	}
	if err := remote.Write(what.Context().Tag(tag+".sig"), signature, r.Options...); err != nil {
		return fmt.Errorf("write the signature of %s: %w", what, err)
	}
	if len(statements) == 0 {
		return nil
	}
	attested, err := attestations(r.Key, statements...)
	if err != nil {
		return fmt.Errorf("attest %s: %w", what, err)
	}
	if err := remote.Write(what.Context().Tag(tag+".att"), attested, r.Options...); err != nil {
		return fmt.Errorf("write what is attested of %s: %w", what, err)
	}
	return nil
}

// signEach signs the image of each architecture, with its bill of materials.
func (r Release) signEach(repository name.Repository, index v1.ImageIndex) error {
	manifest, err := index.IndexManifest()
	if err != nil {
		return err
	}
	for _, descriptor := range manifest.Manifests {
		file := filepath.Join(r.Folder, fmt.Sprintf("berth-%s-%s.spdx.json", r.Version, descriptor.Platform.Architecture))
		bill, err := billOf(r.Image, descriptor.Digest, file)
		if err != nil {
			return err
		}
		if err := r.sign(repository.Digest(descriptor.Digest.String()), bill); err != nil {
			return err
		}
	}
	return nil
}

// signFiles writes the signature of the sums, which are of all files, and the signed provenance.
func (r Release) signFiles() error {
	sums, err := os.ReadFile(filepath.Join(r.Folder, "SHA256SUMS"))
	if err != nil {
		return fmt.Errorf("sign the files: %w", err)
	}
	signature, err := r.Key.Sign(sums)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(r.Folder, "SHA256SUMS.sig"), []byte(signature), 0o644); err != nil {
		return err
	}
	statement, err := os.ReadFile(r.file("berth-%s.provenance.json"))
	if err != nil {
		return fmt.Errorf("sign the files: %w", err)
	}
	signed, err := r.Key.Envelope(statement)
	if err != nil {
		return err
	}
	return os.WriteFile(r.file("berth-%s.provenance.dsse.json"), signed, 0o644)
}
