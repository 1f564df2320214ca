// SPDX-License-Identifier: Apache-2.0

// Package image packs a root file system into an OCI image, without a daemon, and unpacks it again.
//
// The same root file system gives the same bytes: entries are sorted, every time is the one that the
// caller names, everything belongs to root, and compression keeps neither name nor time.
package image

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// Name is what the manifests call the image.
const Name = "berth"

// User is who the program runs as: the root file system's user berth.
const User = "65532:65532"

// Options describe an image for one architecture.
type Options struct {
	Root         string // the root file system, a folder
	Architecture string // in Go's and Debian's words, such as amd64
	Version      string // such as 0.1.0; the tag is the same with a v before it
	Revision     string // the commit, or empty
	Created      time.Time
}

// programs are what a new version of Berth changes: a layer of their own, so that nodes fetch the
// libraries below it once.
func programs(name string) bool {
	return strings.HasPrefix(name, "usr/local/") || strings.HasPrefix(name, "usr/share/doc/berth/")
}

// Build makes the image.
func Build(o Options) (v1.Image, error) {
	image := mutate.MediaType(empty.Image, types.OCIManifestSchema1)
	image = mutate.ConfigMediaType(image, types.OCIConfigJSON)
	for _, part := range []struct {
		what string
		has  func(name string) bool
	}{
		{"libraries and data of Debian packages", func(name string) bool { return !programs(name) }},
		{"Berth", programs},
	} {
		layer, err := layer(o, part.has)
		if err != nil {
			return nil, fmt.Errorf("the layer of %s: %w", part.what, err)
		}
		history := v1.History{Created: v1.Time{Time: o.Created}, CreatedBy: part.what}
		image, err = mutate.Append(image, mutate.Addendum{Layer: layer, History: history})
		if err != nil {
			return nil, fmt.Errorf("add a layer: %w", err)
		}
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, fmt.Errorf("read the image's configuration: %w", err)
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Created = "linux", o.Architecture, v1.Time{Time: o.Created}
	config.Config = v1.Config{
		User:         User,
		Entrypoint:   []string{"/usr/local/bin/berth"},
		Env:          []string{"PATH=/usr/local/bin:/usr/bin"},
		WorkingDir:   "/",
		ExposedPorts: map[string]struct{}{"10259/tcp": {}},
		Labels: map[string]string{
			"org.opencontainers.image.title":       "Berth",
			"org.opencontainers.image.description": "A Kubernetes scheduler",
			"org.opencontainers.image.licenses":    "Apache-2.0",
			"org.opencontainers.image.version":     o.Version,
			"org.opencontainers.image.revision":    o.Revision,
		},
	}
	return mutate.ConfigFile(image, config)
}

func layer(o Options, has func(name string) bool) (v1.Layer, error) {
	var all bytes.Buffer
	if err := archive(&all, o.Root, o.Created, has); err != nil {
		return nil, err
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(all.Bytes())), nil }
	return tarball.LayerFromOpener(open, tarball.WithCompressionLevel(gzip.BestCompression), tarball.WithMediaType(types.OCILayer))
}

// archive writes the folder's entries of which has is true, in the order of their names, and the
// folders that they are in. has is asked about files, links and empty folders.
func archive(to io.Writer, root string, modified time.Time, has func(name string) bool) error {
	var names []string
	wanted := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil || name == "." {
			return err
		}
		names = append(names, name)
		if entry.IsDir() {
			if children, err := os.ReadDir(path); err != nil || len(children) > 0 {
				return err
			}
		}
		if has(name) {
			for ; name != "."; name = filepath.Dir(name) {
				wanted[name] = true
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	out := tar.NewWriter(to)
	for _, name := range names {
		if wanted[name] {
			if err := add(out, filepath.Join(root, name), name, modified); err != nil {
				return err
			}
		}
	}
	return out.Close()
}

// add writes one entry, with its bytes.
func add(out *tar.Writer, path, name string, modified time.Time) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	target := ""
	if info.Mode()&fs.ModeSymlink != 0 {
		if target, err = os.Readlink(path); err != nil {
			return err
		}
	}
	header, err := tar.FileInfoHeader(info, target)
	if err != nil {
		return err
	}
	// What remains is name, kind, mode and size.
	header = &tar.Header{Typeflag: header.Typeflag, Name: name, Linkname: target, Size: header.Size, Mode: header.Mode,
		ModTime: modified.UTC().Truncate(time.Second), Format: tar.FormatPAX}
	if info.IsDir() {
		header.Name += "/"
	}
	if err := out.WriteHeader(header); err != nil || !info.Mode().IsRegular() {
		return err
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = io.Copy(out, file)
	return err
}

// Write writes the images, one for each architecture, into a tar of an OCI image layout. `docker
// load` and `ctr images import` take it as it is: the first image has docker's own index besides.
func Write(file string, options ...Options) (err error) {
	if len(options) == 0 {
		return errors.New("no image to write")
	}
	dir, err := os.MkdirTemp("", "berth-image-")
	if err != nil {
		return fmt.Errorf("make a folder for the image: %w", err)
	}
	defer os.RemoveAll(dir)
	path, err := layout.Write(dir, empty.Index)
	if err != nil {
		return fmt.Errorf("write the image's layout: %w", err)
	}
	for i, o := range options {
		image, err := Build(o)
		if err != nil {
			return fmt.Errorf("the image for %s: %w", o.Architecture, err)
		}
		if err := path.AppendImage(image, layout.WithPlatform(v1.Platform{OS: "linux", Architecture: o.Architecture}),
			layout.WithAnnotations(names(o.Version))); err != nil {
			return fmt.Errorf("write the image for %s: %w", o.Architecture, err)
		}
		if i == 0 {
			if err := writeDockerIndex(dir, image, o.Version); err != nil {
				return fmt.Errorf("write docker's index: %w", err)
			}
		}
	}
	out, err := os.Create(file)
	if err != nil {
		return fmt.Errorf("write the image: %w", err)
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	return archive(out, dir, options[0].Created, func(string) bool { return true })
}

// writeDockerIndex writes what docker reads of an image's tar where it knows no OCI layouts.
func writeDockerIndex(dir string, image v1.Image, version string) error {
	manifest, err := image.Manifest()
	if err != nil {
		return err
	}
	blob := func(h v1.Hash) string { return "blobs/" + h.Algorithm + "/" + h.Hex }
	entry := tarball.Descriptor{Config: blob(manifest.Config.Digest), RepoTags: []string{Name + ":v" + version}}
	for _, layer := range manifest.Layers {
		entry.Layers = append(entry.Layers, blob(layer.Digest))
	}
	text, err := json.Marshal(tarball.Manifest{entry})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "manifest.json"), text, 0o644)
}
