// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"berth.dev/tests/controlplane"
	"berth.dev/tests/image"
	"berth.dev/tests/neighbours"
)

// registry is Debian's docker-registry, on this machine alone. Returns its host and port.
func registry(t *testing.T) string {
	t.Helper()
	dir, port := t.TempDir(), freePort(t)
	config := fmt.Sprintf(`version: 0.1
storage: {filesystem: {rootdirectory: %q}}
http: {addr: "127.0.0.1:%d"}
`, filepath.Join(dir, "data"), port)
	file := filepath.Join(dir, "config.yml")
	must(t, os.WriteFile(file, []byte(config), 0o644))
	command := exec.Command("docker-registry", "serve", file)
	log := &bytes.Buffer{}
	command.Stdout, command.Stderr = log, log
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	must(t, command.Start())
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
		if t.Failed() {
			t.Logf("the registry: %.4000s", log)
		}
	})
	host := fmt.Sprintf("127.0.0.1:%d", port)
	waitFor(t, "the registry", func() bool {
		response, err := http.Get("http://" + host + "/v2/")
		if err != nil {
			return false
		}
		response.Body.Close()
		return response.StatusCode == http.StatusOK
	})
	return host
}

// publishable is a tree, committed, whose releases go to a registry.
func publishable(t *testing.T, host string) string {
	t.Helper()
	tree := committed(t)
	places := fmt.Sprintf("image=%s/team/berth\ncharts=%s/charts\nfiles=http://%s/files\nsource=https://forge.test/berth\nsite=https://docs.test\n", host, host, host)
	must(t, os.WriteFile(filepath.Join(tree, "cmake", "release", "places"), []byte(places), 0o644))
	sh(t, tree, "git -c user.name=T -c user.email=t@example.com -c core.hooksPath=/dev/null commit -qam Places")
	return tree
}

// sh runs a script in a folder and returns what it prints.
func sh(t *testing.T, dir, script string, args ...string) string {
	t.Helper()
	command := exec.Command("bash", append([]string{"-euo", "pipefail", "-c", script, "-"}, args...)...)
	command.Dir = dir
	var out, problems bytes.Buffer
	command.Stdout, command.Stderr = &out, &problems
	if err := command.Run(); err != nil {
		t.Fatalf("%s: %v\n%s%s", script, err, &out, &problems)
	}
	return out.String()
}

// twoArchitectures makes the parts of a release for this machine, and stand-ins for another architecture: the same
// files, which say that they are for it.
func twoArchitectures(t *testing.T, tree, version string) (other string) {
	t.Helper()
	if out, err := release(t, tree, version, "--dry-run", "--parts", "--program", program.Path); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	other = map[string]string{"amd64": "arm64", "arm64": "amd64"}[runtime.GOARCH]
	parts := filepath.Join(tree, ".build", "parts")
	must(t, os.Rename(filepath.Join(tree, ".build", "release-"+version), parts))
	files, err := os.ReadDir(parts)
	must(t, err)
	if len(files) < 6 {
		t.Fatalf("the parts are %v", files)
	}
	for _, file := range files {
		name := strings.ReplaceAll(file.Name(), runtime.GOARCH, other)
		if name == file.Name() {
			t.Fatalf("%s is a part and names no architecture", name)
		}
		if strings.HasSuffix(name, ".image.tar") {
			unpacked := sharedDir(t)
			_, err := image.Unpack(filepath.Join(parts, file.Name()), runtime.GOARCH, unpacked)
			must(t, err)
			must(t, image.Write(filepath.Join(parts, name), image.Options{Root: unpacked, Architecture: other, Version: version, Created: time.Unix(1, 0)}))
			continue
		}
		text, err := os.ReadFile(filepath.Join(parts, file.Name()))
		must(t, err)
		must(t, os.WriteFile(filepath.Join(parts, name), text, 0o644))
	}
	if out, err := release(t, tree, version, "--dry-run", "--join"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return other
}

// keyPair is made as docs/releasing.md says.
func keyPair(t *testing.T) (private, public string) {
	t.Helper()
	dir := t.TempDir()
	sh(t, dir, "openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out berth.key && openssl pkey -in berth.key -pubout -out berth.pub")
	text, err := os.ReadFile(filepath.Join(dir, "berth.key"))
	must(t, err)
	return string(text), filepath.Join(dir, "berth.pub")
}

func publish(tree, key string, args ...string) (string, error) {
	command := exec.Command(filepath.Join(tree, "cmake", "release", "publish.sh"), args...)
	command.Env = append(os.Environ(), "BERTH_SIGNING_KEY="+key)
	out, err := command.CombinedOutput()
	return string(out), err
}

// verified fails where openssl does not find the key's signature, in base64, under the text.
func verified(t *testing.T, public, what, signature string, text []byte) {
	t.Helper()
	decoded, err := base64.StdEncoding.DecodeString(signature)
	must(t, err)
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "signature"), decoded, 0o644))
	must(t, os.WriteFile(filepath.Join(dir, "text"), text, 0o644))
	command := exec.Command("openssl", "dgst", "-sha256", "-verify", public, "-signature", "signature", "text")
	command.Dir = dir
	if out, err := command.CombinedOutput(); err != nil {
		t.Errorf("%s: openssl: %s", what, out)
	}
}

// layerText is a layer of a signature, as it is.
func layerText(t *testing.T, of v1.Image, descriptor v1.Descriptor) []byte {
	t.Helper()
	layer, err := of.LayerByDigest(descriptor.Digest)
	must(t, err)
	content, err := layer.Compressed()
	must(t, err)
	defer content.Close()
	text, err := io.ReadAll(content)
	must(t, err)
	return text
}

// besides is what a registry has beside an image: "sig" or "att", as cosign looks for it.
func besides(t *testing.T, repository name.Repository, digest v1.Hash, what string) (v1.Image, *v1.Manifest) {
	t.Helper()
	found, err := remote.Image(repository.Tag(digest.Algorithm + "-" + digest.Hex + "." + what))
	must(t, err)
	manifest, err := found.Manifest()
	must(t, err)
	return found, manifest
}

// isSigned checks a signature as `cosign verify --key` does.
func isSigned(t *testing.T, public string, repository name.Repository, digest v1.Hash) {
	t.Helper()
	signature, manifest := besides(t, repository, digest, "sig")
	if len(manifest.Layers) != 1 || manifest.Layers[0].MediaType != "application/vnd.dev.cosign.simplesigning.v1+json" {
		t.Fatalf("the signature of %s is %v", digest, manifest.Layers)
	}
	payload := layerText(t, signature, manifest.Layers[0])
	verified(t, public, digest.String(), manifest.Layers[0].Annotations["dev.cosignproject.cosign/signature"], payload)
	var said struct {
		Critical struct {
			Identity struct {
				Reference string `json:"docker-reference"`
			}
			Image struct {
				Digest string `json:"docker-manifest-digest"`
			}
			Type string
		}
	}
	must(t, json.Unmarshal(payload, &said))
	if c := said.Critical; c.Image.Digest != digest.String() || c.Identity.Reference != repository.Name() || c.Type != "cosign container image signature" {
		t.Errorf("the signature of %s is of %s", digest, payload)
	}
}

// statement is what a signed envelope says.
type statement struct {
	Type          string `json:"_type"`
	PredicateType string
	Subject       []struct {
		Name   string
		Digest map[string]string
	}
	Predicate json.RawMessage
}

func (s statement) digestOf(name string) string {
	for _, subject := range s.Subject {
		if subject.Name == name {
			return subject.Digest["sha256"]
		}
	}
	return ""
}

// opened verifies an envelope and returns the statement in it.
func opened(t *testing.T, public string, envelope []byte) (s statement) {
	t.Helper()
	var signed struct {
		PayloadType string
		Payload     []byte
		Signatures  []struct{ Sig string }
	}
	must(t, json.Unmarshal(envelope, &signed))
	if len(signed.Signatures) != 1 || signed.PayloadType != "application/vnd.in-toto+json" {
		t.Fatalf("%.200s", envelope)
	}
	text := fmt.Sprintf("DSSEv1 %d %s %d %s", len(signed.PayloadType), signed.PayloadType, len(signed.Payload), signed.Payload)
	verified(t, public, "a statement", signed.Signatures[0].Sig, []byte(text))
	must(t, json.Unmarshal(signed.Payload, &s))
	if s.Type != "https://in-toto.io/Statement/v1" {
		t.Errorf("a statement of type %s", s.Type)
	}
	return s
}

// attested is the one statement about an image.
func attested(t *testing.T, public string, repository name.Repository, digest v1.Hash) statement {
	t.Helper()
	of, manifest := besides(t, repository, digest, "att")
	if len(manifest.Layers) != 1 || manifest.Layers[0].MediaType != "application/vnd.dsse.envelope.v1+json" {
		t.Fatalf("what is attested of %s is %v", digest, manifest.Layers)
	}
	s := opened(t, public, layerText(t, of, manifest.Layers[0]))
	if s.PredicateType != manifest.Layers[0].Annotations["predicateType"] {
		t.Errorf("the statement about %s is %s, and called %v", digest, s.PredicateType, manifest.Layers[0].Annotations)
	}
	return s
}

func TestAReleaseIsPublishedSignedAndInstalledFromItsRegistry(t *testing.T) {
	const version = "7.8.9"
	host := registry(t)
	tree := publishable(t, host)
	other := twoArchitectures(t, tree, version)
	files := filepath.Join(tree, ".build", "release-"+version)
	private, public := keyPair(t)
	if out, err := publish(tree, "", version); err == nil || !strings.Contains(out, "BERTH_SIGNING_KEY is not set") {
		t.Errorf("published without a key: %v\n%s", err, out)
	}
	out, err := publish(tree, private)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}

	repository, err := name.NewRepository(host + "/team/berth")
	must(t, err)
	index, err := remote.Index(repository.Tag("v" + version))
	must(t, err)
	digest, err := index.Digest()
	must(t, err)
	manifest, err := index.IndexManifest()
	must(t, err)
	if len(manifest.Manifests) != 2 {
		t.Fatalf("the image has %v", manifest.Manifests)
	}
	isSigned(t, public, repository, digest)
	provenance := attested(t, public, repository, digest)
	if provenance.PredicateType != "https://slsa.dev/provenance/v1" || provenance.digestOf(host+"/team/berth") != digest.Hex {
		t.Errorf("the provenance is %s of %v", provenance.PredicateType, provenance.Subject)
	}
	for _, part := range manifest.Manifests {
		if a := part.Platform.Architecture; part.Platform.OS != "linux" || a != runtime.GOARCH && a != other {
			t.Errorf("it has an image for %v", part.Platform)
		}
		isSigned(t, public, repository, part.Digest)
		bill := attested(t, public, repository, part.Digest)
		if bill.PredicateType != "https://spdx.dev/Document" || bill.digestOf(host+"/team/berth") != part.Digest.Hex || !bytes.Contains(bill.Predicate, []byte(`"libc6"`)) {
			t.Errorf("the bill of materials is %s of %v", bill.PredicateType, bill.Subject)
		}
	}
	charts, err := name.NewRepository(host + "/charts/berth")
	must(t, err)
	chart, err := remote.Image(charts.Tag(version))
	must(t, err)
	chartDigest, err := chart.Digest()
	must(t, err)
	isSigned(t, public, charts, chartDigest)

	t.Run("cosign", func(t *testing.T) { cosignVerifies(t, files, public, digest, manifest.Manifests[0].Digest, host) })
	t.Run("files", func(t *testing.T) { filesAreSigned(t, files, public, tree) })
	t.Run("manifests", func(t *testing.T) { manifestsNameTheImage(t, files, host+"/team/berth@"+digest.String()) })
	t.Run("again", func(t *testing.T) {
		if out, err := publish(tree, private, version); err != nil {
			t.Errorf("the same release is refused: %v\n%s", err, out)
		}
		// Another image under the same version.
		must(t, remote.Write(repository.Tag("v"+version), chart))
		if out, err := publish(tree, private, version); err == nil || !strings.Contains(out, "is there already") {
			t.Errorf("a version that is published is replaced: %v\n%s", err, out)
		}
		must(t, remote.WriteIndex(repository.Tag("v"+version), index))
	})
	t.Run("installs", func(t *testing.T) { installsFrom(t, host, version, digest) })
}

// cosignVerifies runs what docs/installing.md has users run, with BERTH_TEST_WHOLE=1: it takes ten minutes to build cosign.
func cosignVerifies(t *testing.T, files, public string, digest, part v1.Hash, host string) {
	if os.Getenv("BERTH_TEST_WHOLE") == "" {
		t.Skip("BERTH_TEST_WHOLE is not set")
	}
	cosign, err := neighbours.Cosign.Build(t.Context(), t.Output())
	must(t, err)
	run := func(args ...string) (string, error) {
		command := exec.Command(cosign, args...)
		command.Dir = files
		out, err := command.CombinedOutput()
		return string(out), err
	}
	_, another := keyPair(t)
	image := host + "/team/berth@"
	for _, args := range [][]string{
		{"verify", image + digest.String()},
		{"verify", image + part.String()},
		{"verify", host + "/charts/berth:7.8.9"},
		{"verify-attestation", "--type", "slsaprovenance1", image + digest.String()},
		{"verify-attestation", "--type", "spdxjson", image + part.String()},
		{"verify-blob", "--signature", "SHA256SUMS.sig", "SHA256SUMS"},
	} {
		with := append([]string{args[0], "--insecure-ignore-tlog"}, args[1:]...)
		if args[0] != "verify-blob" {
			with = append(with, "--allow-http-registry")
		}
		if out, err := run(append(with, "--key", public)...); err != nil {
			t.Errorf("cosign %v: %v\n%.2000s", args, err, out)
		}
		if out, err := run(append(with, "--key", another)...); err == nil {
			t.Errorf("cosign %v takes another key:\n%.2000s", args, out)
		}
	}
}

// filesAreSigned checks the files that are uploaded: sums, and the provenance of each.
func filesAreSigned(t *testing.T, files, public, tree string) {
	read := func(name string) []byte {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(files, name))
		must(t, err)
		return text
	}
	sums := read("SHA256SUMS")
	verified(t, public, "SHA256SUMS", string(read("SHA256SUMS.sig")), sums)
	provenance := opened(t, public, read("berth-7.8.9.provenance.dsse.json"))
	var said struct {
		BuildDefinition struct {
			BuildType            string
			ExternalParameters   map[string]string
			ResolvedDependencies []struct {
				URI    string
				Digest map[string]string
			}
		}
		RunDetails struct{ Builder struct{ ID string } }
	}
	must(t, json.Unmarshal(provenance.Predicate, &said))
	commit := strings.TrimSpace(sh(t, tree, "git rev-parse HEAD"))
	if d := said.BuildDefinition; d.BuildType != "https://docs.test/releasing.html#provenance" || d.ExternalParameters["version"] != "7.8.9" ||
		len(d.ResolvedDependencies) != 1 || d.ResolvedDependencies[0].Digest["gitCommit"] != commit || said.RunDetails.Builder.ID == "" {
		t.Errorf("the provenance says %s", provenance.Predicate)
	}
	for line := range strings.Lines(string(sums)) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		if !strings.Contains(name, "provenance") && provenance.digestOf(name) != sum {
			t.Errorf("the provenance has %q of %s, and the sum is %s", provenance.digestOf(name), name, sum)
		}
	}
}

// manifestsNameTheImage looks into the archive that `kubectl apply -k` takes.
func manifestsNameTheImage(t *testing.T, files, image string) {
	dir := t.TempDir()
	sh(t, dir, `tar -xzf "$1"/berth-7.8.9-manifests.tar.gz`, files)
	for folder, kind := range map[string]string{"base": "Deployment", "overlays/kube-scheduler": "Pod", "overlays/shadow": "Deployment"} {
		made := string(kubectl(t, "kustomize", filepath.Join(dir, "berth-deploy", folder)))
		named := regexp.MustCompile(`(?m)^\s+image: (.*)$`).FindAllStringSubmatch(made, -1)
		if len(named) != 1 || named[0][1] != image || !strings.Contains(made, "kind: "+kind+"\n") {
			t.Errorf("%s names %q, want %s", folder, named, image)
		}
	}
	patch, err := os.ReadFile(filepath.Join(dir, "berth-deploy/overlays/kube-scheduler/kubeadm-patch.yaml"))
	must(t, err)
	if !strings.Contains(string(patch), "\n      image: "+image+"\n") {
		t.Errorf("kubeadm's patch does not name %s:\n%s", image, patch)
	}
}

// installsFrom installs the chart from the registry, as docs/installing.md says, and runs what its Deployment names.
func installsFrom(t *testing.T, host, version string, digest v1.Hash) {
	const namespace = "berth-registry"
	mustHelm(t, "install", "berth-oci", "oci://"+host+"/charts/berth", "--version", version, "--plain-http",
		"--namespace", namespace, "--create-namespace", "--set", "schedulerName=by-registry")
	// Not at the test's end, when its context has ended.
	defer mustHelm(t, "uninstall", "berth-oci", "--namespace", namespace)
	deployment, err := shared.Client(controlplane.Admin).AppsV1().Deployments(namespace).Get(t.Context(), "berth-oci", metav1.GetOptions{})
	must(t, err)
	named := deployment.Spec.Template.Spec.Containers[0].Image
	if want := host + "/team/berth@" + digest.String(); named != want {
		t.Errorf("the chart names %s, want %s", named, want)
	}
	reference, err := name.ParseReference(named)
	must(t, err)
	pulled, err := remote.Image(reference, remote.WithPlatform(v1.Platform{OS: "linux", Architecture: runtime.GOARCH}))
	must(t, err)
	root := sharedDir(t)
	content := mutate.Extract(pulled)
	defer content.Close()
	untar := exec.Command("tar", "--extract", "--directory", root)
	untar.Stdin = content
	if out, err := untar.CombinedOutput(); err != nil {
		t.Fatalf("unpack the image: %v\n%s", err, out)
	}
	config, err := pulled.ConfigFile()
	must(t, err)
	t.Run("schedules", func(t *testing.T) {
		runtimes(t)[0].run(t, containerOf(t, namespace, "berth-oci", root, &config.Config))
		busy(t, "registry", "by-registry")
	})
}

func TestNothingIsPublishedToExamples(t *testing.T) {
	tree := committed(t)
	must(t, os.MkdirAll(filepath.Join(tree, ".build", "release-7.8.9"), 0o755))
	must(t, os.WriteFile(filepath.Join(tree, ".build", "release-7.8.9", "SHA256SUMS"), nil, 0o644))
	private, _ := keyPair(t)
	if out, err := publish(tree, private, "7.8.9"); err == nil || !strings.Contains(out, "still has examples") {
		t.Errorf("%v\n%s", err, out)
	}
	if out, err := publish(tree, private, "7.8.8"); err == nil || !strings.Contains(out, "there is no release '7.8.8'") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestOnlyKeysThatCosignTakesSign(t *testing.T) {
	private, _ := keyPair(t)
	dir := t.TempDir()
	for script, says := range map[string]string{
		"openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048":                                  "another curve",
		"openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-384":                                "another curve",
		"openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -aes-256-cbc -pass pass:secret": "without a password",
		"echo nothing": "not in PEM",
	} {
		if _, err := image.ReadKey([]byte(sh(t, dir, script))); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", script, err)
		}
	}
	for _, script := range []string{"cat", "openssl ec 2>/dev/null"} { // PKCS #8, and as ecparam -genkey has it
		command := exec.Command("bash", "-c", script)
		command.Stdin = strings.NewReader(private)
		key, err := command.Output()
		must(t, err)
		if _, err := image.ReadKey(key); err != nil {
			t.Errorf("%s: %v", script, err)
		}
	}
}

func TestThePluginOfKubectlNeedsNothingOfTheMachine(t *testing.T) {
	dir := t.TempDir()
	for _, folder := range []string{"one", "two"} {
		sh(t, root, `cmake/package/kubectl.sh "$1" "$2"`, program.Path, filepath.Join(dir, folder))
	}
	archive := one(t, filepath.Join(dir, "one"), "kubectl-berth-*.tar.gz")
	sh(t, dir, `cmp one/*.tar.gz two/*.tar.gz && tar -xzf one/*.tar.gz`)
	plugin := filepath.Join(dir, "kubectl-berth")
	// As krew installs it.
	link := filepath.Join(dir, "bin", "kubectl-berth")
	must(t, os.Mkdir(filepath.Dir(link), 0o755))
	must(t, os.Symlink(filepath.Join(plugin, "kubectl-berth"), link))
	out, err := exec.Command(link, "explain", "--cluster", filepath.Join(root, "docs/tutorial/shop.yaml")).CombinedOutput()
	if !strings.Contains(string(out), "shop/web-3: unschedulable") {
		t.Errorf("%s: %v\n%s", filepath.Base(archive), err, out)
	}
	if out, err := exec.Command(link, "--v=2").CombinedOutput(); err == nil || !strings.Contains(string(out), "kubectl berth") {
		t.Errorf("it is no plugin of kubectl: %v\n%s", err, out)
	}
	// Libraries, and those of libraries, are its own.
	libraries := sh(t, plugin, `lib/ld-linux-*.so.* --list --library-path lib ./berth && lib/ld-linux-*.so.* --list --library-path lib lib/berth/plugins/legacy.so`)
	found := 0
	for line := range strings.Lines(libraries) {
		_, path, resolved := strings.Cut(strings.TrimSpace(line), " => ")
		if !resolved {
			continue
		}
		found++
		if !strings.HasPrefix(path, "lib/") {
			t.Errorf("it takes the machine's %s", path)
		}
	}
	if found < 20 {
		t.Errorf("it has %d libraries only:\n%s", found, libraries)
	}
	config := filepath.Join(dir, "legacy.yaml")
	must(t, os.WriteFile(config, []byte(legacyProfile), 0o644))
	if out, _ := exec.Command(link, "explain", "--cluster", filepath.Join(root, "docs/tutorial/shop.yaml"), "--config", config).CombinedOutput(); !strings.Contains(
		string(out), "4 node(s) didn't have the requested labels") {
		t.Errorf("it does not find its plugin library:\n%s", out)
	}
}

// krewManifest is what krew reads.
type krewManifest struct {
	Metadata struct{ Name string }
	Spec     struct {
		Version, Homepage, ShortDescription, Description string
		Platforms                                        []struct {
			Selector    metav1.LabelSelector
			URI, SHA256 string
			Bin         string
		}
	}
}

func TestKrewsManifestNamesAnArchiveForEachArchitecture(t *testing.T) {
	dir := t.TempDir()
	sh(t, root, `cmake/package/kubectl.sh "$1" "$2"`, program.Path, dir)
	archive := one(t, dir, "kubectl-berth-*.tar.gz")
	version := strings.Split(filepath.Base(archive), "-")[2]
	twin := strings.ReplaceAll(archive, runtime.GOARCH, "riscv64")
	text, err := os.ReadFile(archive)
	must(t, err)
	must(t, os.WriteFile(twin, text, 0o644))
	var m krewManifest
	manifest := sh(t, root, `cmake/release/krew.sh "$1" "$2"`, version, dir)
	must(t, yaml.Unmarshal([]byte(manifest), &m))
	if m.Metadata.Name != "berth" || m.Spec.Version != "v"+version || len(m.Spec.Platforms) != 2 || len(m.Spec.ShortDescription) > 50 {
		t.Fatalf("%+v", m)
	}
	sum := sha256.Sum256(text)
	for i, architecture := range []string{runtime.GOARCH, "riscv64"} {
		p := m.Spec.Platforms[i]
		if p.Selector.MatchLabels["os"] != "linux" || p.Selector.MatchLabels["arch"] != architecture || p.SHA256 != hex.EncodeToString(sum[:]) ||
			p.URI != placeholder(t, "files")+"/v"+version+"/kubectl-berth-"+version+"-linux-"+architecture+".tar.gz" {
			t.Errorf("%+v", p)
		}
	}
	installsByKrew(t, manifest, archive)
}

// krewVersion is the module that the krew of this test is built from.
const krewVersion = "v0.4.3"

// installsByKrew installs the plugin as its users do, but for the download, and asks it something.
func installsByKrew(t *testing.T, manifest, archive string) {
	t.Helper()
	krew, err := built("sigs.k8s.io/krew/cmd/krew", krewVersion)
	must(t, err)
	home := t.TempDir()
	file := filepath.Join(home, "berth.yaml")
	must(t, os.WriteFile(file, []byte(manifest), 0o644))
	command := exec.Command(krew, "install", "--manifest="+file, "--archive="+archive)
	command.Env = append(os.Environ(), "KREW_ROOT="+filepath.Join(home, "krew"), "KREW_NO_UPGRADE_CHECK=1")
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("krew install: %v\n%s", err, out)
	}
	plugin := filepath.Join(home, "krew", "bin", "kubectl-berth")
	out, _ := exec.Command(plugin, "explain", "--cluster", filepath.Join(root, "docs/tutorial/shop.yaml")).CombinedOutput()
	if !strings.Contains(string(out), "shop/web-3: unschedulable") {
		t.Errorf("as krew has installed it, it says %s", out)
	}
}
