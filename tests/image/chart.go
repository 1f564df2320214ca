// SPDX-License-Identifier: Apache-2.0

package image

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"sigs.k8s.io/yaml"
)

// What Helm calls the parts of a chart in a registry.
const (
	chartConfig  types.MediaType = "application/vnd.cncf.helm.config.v1+json"
	chartContent types.MediaType = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
)

// artifact is what a registry keeps as an image although it is none: its configuration is not an image's.
type artifact struct {
	manifest, config []byte
	content          v1.Layer
}

func (a artifact) RawConfigFile() ([]byte, error)      { return a.config, nil }
func (a artifact) RawManifest() ([]byte, error)        { return a.manifest, nil }
func (a artifact) MediaType() (types.MediaType, error) { return types.OCIManifestSchema1, nil }
func (a artifact) LayerByDigest(digest v1.Hash) (partial.CompressedLayer, error) {
	own, err := a.content.Digest()
	if err != nil {
		return nil, err
	}
	if own != digest {
		return nil, fmt.Errorf("it has no layer %s", digest)
	}
	return a.content, nil
}

// Chart is a chart's archive as `helm push` stores it, and its name and version.
func Chart(archive string) (chart v1.Image, name, version string, err error) {
	content, err := os.ReadFile(archive)
	if err != nil {
		return nil, "", "", fmt.Errorf("read the chart: %w", err)
	}
	metadata, err := chartMetadata(content)
	if err != nil {
		return nil, "", "", fmt.Errorf("read the chart %s: %w", archive, err)
	}
	var about struct{ Name, Version, Description string }
	if err := json.Unmarshal(metadata, &about); err != nil {
		return nil, "", "", fmt.Errorf("read the chart %s: %w", archive, err)
	}
	layer := static.NewLayer(content, chartContent)
	describe := func(text []byte, kind types.MediaType) (v1.Descriptor, error) {
		digest, size, err := v1.SHA256(bytes.NewReader(text))
		return v1.Descriptor{MediaType: kind, Digest: digest, Size: size}, err
	}
	manifest := v1.Manifest{SchemaVersion: 2, MediaType: types.OCIManifestSchema1, Annotations: map[string]string{
		"org.opencontainers.image.title": about.Name, "org.opencontainers.image.version": about.Version,
		"org.opencontainers.image.description": about.Description,
	}}
	if manifest.Config, err = describe(metadata, chartConfig); err != nil {
		return nil, "", "", err
	}
	of, err := describe(content, chartContent)
	if err != nil {
		return nil, "", "", err
	}
	manifest.Layers = []v1.Descriptor{of}
	text, err := json.Marshal(manifest)
	if err != nil {
		return nil, "", "", err
	}
	chart, err = partial.CompressedToImage(artifact{text, metadata, layer})
	return chart, about.Name, about.Version, err
}

// chartMetadata is the chart's Chart.yaml, as JSON.
func chartMetadata(archive []byte) ([]byte, error) {
	unzipped, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return nil, err
	}
	for in := tar.NewReader(unzipped); ; {
		header, err := in.Next()
		if errors.Is(err, io.EOF) {
			return nil, errors.New("it has no Chart.yaml")
		}
		if err != nil {
			return nil, err
		}
		// The archive's one folder is the chart; those below have charts of their own.
		if folder, file := path.Split(path.Clean(header.Name)); file != "Chart.yaml" || path.Dir(path.Clean(folder)) != "." {
			continue
		}
		text, err := io.ReadAll(in)
		if err != nil {
			return nil, err
		}
		return yaml.YAMLToJSON(text)
	}
}
