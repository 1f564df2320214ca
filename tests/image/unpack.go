// SPDX-License-Identifier: Apache-2.0

package image

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
)

// Unpack puts the root file system of the image for an architecture into the folder, which is made,
// and returns the image's configuration. The archive is what Write wrote.
func Unpack(archive, architecture, folder string) (*v1.Config, error) {
	dir, index, err := open(archive)
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	image, err := find(index, architecture)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", archive, err)
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, fmt.Errorf("read the image's configuration: %w", err)
	}
	files := mutate.Extract(image)
	defer files.Close()
	if err := extract(files, folder); err != nil {
		return nil, fmt.Errorf("unpack the image's layers: %w", err)
	}
	return &config.Config, nil
}

// find is the image for the architecture in an index, or in one that it holds.
func find(index v1.ImageIndex, architecture string) (v1.Image, error) {
	manifest, err := index.IndexManifest()
	if err != nil {
		return nil, err
	}
	for _, descriptor := range manifest.Manifests {
		if descriptor.MediaType.IsIndex() {
			joined, err := index.ImageIndex(descriptor.Digest)
			if err != nil {
				return nil, err
			}
			return find(joined, architecture)
		}
		if descriptor.Platform != nil && descriptor.Platform.Architecture == architecture {
			return index.Image(descriptor.Digest)
		}
	}
	return nil, fmt.Errorf("it has no image for %s", architecture)
}

// extract writes the entries below the folder, and none elsewhere.
func extract(from io.Reader, folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer root.Close()
	for in := tar.NewReader(from); ; {
		header, err := in.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := put(root, filepath.Clean(header.Name), header, in); err != nil {
			return fmt.Errorf("%s: %w", header.Name, err)
		}
	}
}

func put(root *os.Root, name string, header *tar.Header, content io.Reader) error {
	mode := header.FileInfo().Mode()
	switch header.Typeflag {
	case tar.TypeDir:
		if err := root.MkdirAll(name, 0o755); err != nil {
			return err
		}
		return root.Chmod(name, mode)
	case tar.TypeSymlink:
		return root.Symlink(header.Linkname, name)
	case tar.TypeReg:
		file, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode.Perm())
		if err != nil {
			return err
		}
		_, err = io.Copy(file, content)
		return errors.Join(err, file.Close())
	default:
		return fmt.Errorf("an entry of type %q", header.Typeflag)
	}
}
