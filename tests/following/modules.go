// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// The modules that hold what a scheduler has to follow, besides k8s.io/kubernetes.
var staging = []string{
	"api", "apiextensions-apiserver", "apimachinery", "apiserver", "client-go", "component-base", "component-helpers",
	"dynamic-resource-allocation", "kube-scheduler",
}

// version is where Go keeps the modules of one version: folders by path, such as "k8s.io/api".
type version struct {
	name    string
	folders map[string]string
}

// path is that of a folder or file, which need not exist.
func (v version) path(module, below string) string {
	return filepath.Join(v.folders["k8s.io/"+module], filepath.FromSlash(below))
}

// minor is 37 of 1.37.1.
func (v version) minor() int {
	minor, err := strconv.Atoi(strings.Split(v.name, ".")[1])
	if err != nil {
		panic(err) // download() took the name
	}
	return minor
}

var versionName = regexp.MustCompile(`^v?1\.(\d+\.\d+\S*)$`)

// download has Go fetch the modules of a version such as "1.37.1", where its cache does not have them.
func download(ctx context.Context, name string) (version, error) {
	match := versionName.FindStringSubmatch(name)
	if match == nil {
		return version{}, fmt.Errorf("%q is no version such as 1.37.1", name)
	}
	minor := match[1]
	arguments := []string{"mod", "download", "-json", "k8s.io/kubernetes@v1." + minor}
	for _, module := range staging {
		arguments = append(arguments, "k8s.io/"+module+"@v0."+minor)
	}
	// Outside a module, so that no go.mod or go.sum has a say.
	empty, err := os.MkdirTemp("", "following-")
	if err != nil {
		return version{}, err
	}
	defer os.RemoveAll(empty)
	command := exec.CommandContext(ctx, "go", arguments...)
	command.Dir = empty
	command.Env = append(os.Environ(), "GOWORK=off", "PWD="+empty)
	var complaints bytes.Buffer
	command.Stderr = &complaints
	// It fails where one module does; that one's entry says why.
	out, failure := command.Output()
	v := version{name: "1." + minor, folders: map[string]string{}}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var module struct{ Path, Dir, Error string }
		if err := decoder.Decode(&module); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return version{}, fmt.Errorf("go mod download: %w: %s", err, complaints.String())
		}
		if module.Error != "" {
			return version{}, fmt.Errorf("%s: %s", module.Path, module.Error)
		}
		v.folders[module.Path] = module.Dir
	}
	if failure != nil {
		return version{}, fmt.Errorf("go mod download: %w: %s", failure, complaints.String())
	}
	if len(v.folders) != len(staging)+1 {
		return version{}, fmt.Errorf("go mod download gave %d modules of %d", len(v.folders), len(staging)+1)
	}
	return v, nil
}
