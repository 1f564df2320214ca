// SPDX-License-Identifier: Apache-2.0

package image

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// open extracts an archive into a folder of its own, which the caller removes, and returns the index of its layout.
func open(archive string) (dir string, index v1.ImageIndex, err error) {
	dir, err = os.MkdirTemp("", "berth-image-")
	if err != nil {
		return "", nil, fmt.Errorf("make a folder for the image: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("read %s: %w", archive, err), os.RemoveAll(dir))
		}
	}()
	file, err := os.Open(archive)
	if err != nil {
		return dir, nil, err
	}
	defer file.Close()
	if err = extract(file, dir); err != nil {
		return dir, nil, err
	}
	index, err = layout.ImageIndexFromPath(dir)
	return dir, index, err
}

// Join makes one image for several architectures of archives that Write wrote, each for others, and writes it as such an
// archive: a layout with one index. Returns the index's digest, by which manifests and charts name the image.
func Join(file, version string, created time.Time, archives ...string) (digest v1.Hash, err error) {
	var parts []mutate.IndexAddendum
	for _, archive := range archives {
		dir, index, err := open(archive)
		if err != nil {
			return digest, err
		}
		// Layers are read when they are written below.
		defer os.RemoveAll(dir)
		manifest, err := index.IndexManifest()
		if err != nil {
			return digest, fmt.Errorf("read %s: %w", archive, err)
		}
		for _, descriptor := range manifest.Manifests {
			if descriptor.Platform == nil {
				return digest, fmt.Errorf("read %s: it does not say what its image is for", archive)
			}
			image, err := index.Image(descriptor.Digest)
			if err != nil {
				return digest, fmt.Errorf("read %s: %w", archive, err)
			}
			parts = append(parts, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: descriptor.Platform}})
		}
	}
	architecture := func(part mutate.IndexAddendum) string { return part.Platform.Architecture }
	slices.SortFunc(parts, func(a, b mutate.IndexAddendum) int { return cmp.Compare(architecture(a), architecture(b)) })
	for i := 1; i < len(parts); i++ {
		if architecture(parts[i]) == architecture(parts[i-1]) {
			return digest, fmt.Errorf("two images are for %s", architecture(parts[i]))
		}
	}
	if len(parts) == 0 {
		return digest, errors.New("no image to join")
	}
	index := mutate.AppendManifests(mutate.IndexMediaType(empty.Index, types.OCIImageIndex), parts...)
	if digest, err = index.Digest(); err != nil {
		return digest, fmt.Errorf("join the images: %w", err)
	}
	return digest, writeIndex(file, version, created, index)
}

// writeIndex writes a tar of a layout that has the index alone.
func writeIndex(file, version string, created time.Time, index v1.ImageIndex) (err error) {
	dir, err := os.MkdirTemp("", "berth-image-")
	if err != nil {
		return fmt.Errorf("make a folder for the image: %w", err)
	}
	defer os.RemoveAll(dir)
	path, err := layout.Write(dir, empty.Index)
	if err != nil {
		return fmt.Errorf("write the image's layout: %w", err)
	}
	if err := path.AppendIndex(index, layout.WithAnnotations(names(version))); err != nil {
		return fmt.Errorf("write the joined image: %w", err)
	}
	out, err := os.Create(file)
	if err != nil {
		return fmt.Errorf("write the image: %w", err)
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	return archive(out, dir, created, func(string) bool { return true })
}

// names are by what containerd and others call an image that they take from a layout.
func names(version string) map[string]string {
	return map[string]string{
		"io.containerd.image.name":          "docker.io/library/" + Name + ":v" + version,
		"org.opencontainers.image.ref.name": "v" + version,
	}
}
