// SPDX-License-Identifier: Apache-2.0

package newcomer

import (
	"context"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// bareLimit is how long one command of a bare machine may take.
const bareLimit = 90 * time.Minute

// release is the Debian that the machines begin with.
const release = "bookworm"

// debianMachine is a Debian with nothing but what is in its image, in a folder, entered by bubblewrap. It
// stands for a container: there need be no engine.
type debianMachine struct {
	t           *testing.T
	root        string
	directory   string
	environment []string
	shared      []string // bubblewrap's options that bind folders of this machine
}

// debianRepositories are those of this machine's Debian as lines of a sources.list, and their main address.
func debianRepositories(t *testing.T) (mirror string, lines []string) {
	t.Helper()
	list := func() []string {
		out, err := exec.CommandContext(t.Context(), "apt-get", "indextargets",
			"--format", "$(ORIGIN) $(REPO_URI) $(RELEASE) $(COMPONENT)", "Created-By: Packages").Output()
		must(t, err)
		return strings.Split(strings.TrimSpace(string(out)), "\n")
	}
	targets := list()
	// Lists that were never fetched are not shown.
	if len(targets) == 1 && targets[0] == "" {
		command(t, "apt-get", "update", "-qq")
		targets = list()
	}
	for _, target := range targets {
		words := strings.Fields(target)
		if len(words) != 4 || words[0] != "Debian" {
			continue
		}
		if words[2] == release {
			mirror = words[1]
		}
		lines = append(lines, "deb "+strings.Join(words[1:], " "))
	}
	if mirror == "" {
		t.Fatalf("this machine has no packages of Debian %s, but of %q", release, targets)
	}
	return mirror, lines
}

// command runs a program of this machine, which must succeed.
func command(t *testing.T, name string, arguments ...string) []byte {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), name, arguments...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(arguments, " "), err, out)
	}
	return out
}

// networkSettings are the variables that say how programs reach the network.
var networkSettings = []string{"http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY",
	"GOPROXY", "GOSUMDB", "GONOSUMDB", "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_DEFAULT_TIMEOUT"}

// authorities are the variables that name a file with certificates.
var authorities = []string{"SSL_CERT_FILE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO", "PIP_CERT", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"}

// newDebian installs one into a folder.
func newDebian(t *testing.T) *debianMachine {
	t.Helper()
	m := &debianMachine{t: t, root: filepath.Join(t.TempDir(), "root"), directory: "/"}
	mirror, lines := debianRepositories(t)
	began := time.Now()
	command(t, "debootstrap", "--variant=minbase", release, m.root, mirror)
	t.Logf("a bare Debian: %s", time.Since(began).Round(time.Second))
	m.write("/etc/apt/sources.list", strings.Join(lines, "\n")+"\n")
	// As in Debian's images: packages leave no archives behind.
	m.write("/etc/apt/apt.conf.d/docker-clean", "APT::Keep-Downloaded-Packages \"false\";\nDir::Cache::pkgcache \"\";\nDir::Cache::srcpkgcache \"\";\n")
	var settings strings.Builder
	for line := range strings.Lines(string(command(t, "apt-config", "dump"))) {
		for _, prefix := range []string{"Acquire::http::", "Acquire::https::", "Acquire::Check-", "Acquire::Retries"} {
			if strings.HasPrefix(line, prefix) {
				settings.WriteString(line)
			}
		}
	}
	m.write("/etc/apt/apt.conf.d/99network", settings.String())
	for _, file := range []string{"/etc/resolv.conf", "/etc/hosts"} {
		text, err := os.ReadFile(file)
		must(t, err)
		m.write(file, string(text))
	}

	m.environment = []string{"HOME=/root", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8"}
	for _, name := range networkSettings {
		if value, ok := os.LookupEnv(name); ok {
			m.environment = append(m.environment, name+"="+value)
		}
	}
	for _, name := range authorities {
		if file, ok := os.LookupEnv(name); ok {
			text, err := os.ReadFile(file)
			must(t, err)
			m.write("/etc/network-certificates.pem", string(text))
			m.environment = append(m.environment, name+"=/etc/network-certificates.pem")
		}
	}
	// What the compiler has compiled before is all that a machine which is not cold has.
	if dir := os.Getenv("CCACHE_DIR"); dir != "" && !cold() {
		m.shared = append(m.shared, "--bind", dir, "/root/.cache/berth/ccache")
	}
	return m
}

// write writes a file of the machine, never through one of its links into this one.
func (m *debianMachine) write(name, text string) {
	m.t.Helper()
	file := filepath.Join(m.root, name)
	must(m.t, os.MkdirAll(filepath.Dir(file), 0o755))
	if err := os.Remove(file); err != nil && !os.IsNotExist(err) {
		m.t.Fatal(err)
	}
	must(m.t, os.WriteFile(file, []byte(text), 0o644))
}

// run runs a script by the shell that docker and the workflows' runner take, and returns what it prints.
func (m *debianMachine) run(script string) string {
	m.t.Helper()
	arguments := []string{"--bind", m.root, "/", "--proc", "/proc", "--dev", "/dev", "--unshare-pid", "--die-with-parent", "--cap-add", "ALL", "--clearenv"}
	arguments = append(arguments, m.shared...)
	for _, variable := range m.environment {
		name, value, _ := strings.Cut(variable, "=")
		arguments = append(arguments, "--setenv", name, value)
	}
	arguments = append(arguments, "--chdir", m.directory, "/bin/sh", "-ec", script)
	ctx, cancel := context.WithTimeout(m.t.Context(), bareLimit)
	defer cancel()
	var stderr strings.Builder
	bwrap := exec.CommandContext(ctx, "bwrap", arguments...)
	bwrap.Stderr = &stderr
	began := time.Now()
	out, err := bwrap.Output()
	if err != nil {
		m.t.Fatalf("%s: %v\n%s%s", script, err, out, stderr.String())
	}
	m.t.Logf("%s: %s", script, time.Since(began).Round(time.Second))
	return string(out)
}

// copyIn copies what a COPY names: of a folder, what it holds.
func (m *debianMachine) copyIn(from string, words []string) {
	m.t.Helper()
	target := words[len(words)-1]
	if !path.IsAbs(target) {
		// Join would take the slash away, which makes it a folder.
		target = strings.TrimSuffix(m.directory, "/") + "/" + target
	}
	target = m.root + target
	for _, word := range words[:len(words)-1] {
		source := filepath.Join(from, word)
		info, err := os.Stat(source)
		must(m.t, err)
		if info.IsDir() {
			must(m.t, os.MkdirAll(target, 0o755))
			command(m.t, "cp", "-a", "--no-preserve=ownership", source+"/.", target)
		} else {
			must(m.t, os.MkdirAll(filepath.Dir(target+"x"), 0o755))
			command(m.t, "cp", "-a", "--no-preserve=ownership", source, target)
		}
	}
}

// clone is the same machine once more, in a folder of its own.
func (m *debianMachine) clone(t *testing.T) *debianMachine {
	t.Helper()
	other := *m
	other.t, other.root, other.environment = t, filepath.Join(t.TempDir(), "root"), slices.Clone(m.environment)
	command(t, "cp", "-a", m.root, other.root)
	return &other
}

// untouched is a clone in which nothing was built.
func (d *desk) untouched(t *testing.T) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "berth")
	command(t, "git", "clone", "--quiet", d.clone, folder)
	return folder
}

// dockerBuild makes a Dockerfile's stages from a bare machine and a clone, and returns the machines by name.
func dockerBuild(t *testing.T, d *desk, bare *debianMachine, file string) map[string]*debianMachine {
	t.Helper()
	clone := d.untouched(t)
	stages, err := parseDockerfile(d.read(t, file))
	must(t, err)
	made := map[string]*debianMachine{}
	for _, stage := range stages {
		var m *debianMachine
		switch from := made[stage.base]; {
		case from != nil:
			m = from.clone(t)
		case stage.base == "scratch":
			m = &debianMachine{t: t, root: filepath.Join(t.TempDir(), "root"), directory: "/"}
			must(t, os.Mkdir(m.root, 0o755))
		default:
			m = bare.clone(t)
		}
		made[stage.name] = m
		for _, i := range stage.instructions {
			words := strings.Fields(i.arguments)
			switch i.name {
			case "WORKDIR":
				m.directory = words[0]
				must(t, os.MkdirAll(m.root+m.directory, 0o755))
			case "COPY":
				from := clone
				if name, ok := strings.CutPrefix(words[0], "--from="); ok {
					from, words = made[name].root, words[1:]
				}
				m.copyIn(from, words)
			case "RUN":
				m.run(i.arguments)
			}
		}
	}
	return made
}

// TestABareDebian makes from nothing what the containers and the workflows make from it.
func TestABareDebian(t *testing.T) {
	if os.Getenv("BERTH_NEWCOMER_BARE") == "" {
		t.Skip("BERTH_NEWCOMER_BARE asks for a bare Debian, which takes most of an hour")
	}
	if os.Getuid() != 0 {
		t.Fatal("a bare Debian takes root")
	}
	d := theNewcomer(t)
	bare := newDebian(t)
	t.Run("builds Berth", func(t *testing.T) { buildsBerth(t, d, bare) })
	t.Run("runs the workflows' first steps", func(t *testing.T) { runsFirstSteps(t, d, bare) })
	t.Run("builds the image", func(t *testing.T) { buildsImage(t, d, bare) })
}

// buildsBerth makes the Dockerfile's container and the dev container, and lets each tell the same.
func buildsBerth(t *testing.T, d *desk, bare *debianMachine) {
	stages, err := parseDockerfile(d.read(t, quickDockerfile))
	must(t, err)
	last := stages[len(stages)-1]
	words, err := last.command()
	must(t, err)
	made := dockerBuild(t, d, bare, quickDockerfile)
	d.checkStory(t, quickDockerfile, made[last.name].run(quoted(words)))

	container := readDevContainer(t, d)
	opened := made[container.Build.Target]
	opened.directory = "/workspaces/berth"
	opened.copyIn(d.untouched(t), []string{".", opened.directory})
	opened.run(container.PostCreateCommand)
	d.checkStory(t, devContainer, opened.run(quoted(words)))
}

// runsFirstSteps runs the steps before ./dev test or ./dev verify, after which git must know the checkout.
func runsFirstSteps(t *testing.T, d *desk, bare *debianMachine) {
	runner := bare.clone(t)
	runner.directory = "/__w/berth/berth"
	runner.environment = append(runner.environment, "GITHUB_WORKSPACE="+runner.directory)
	runner.copyIn(d.untouched(t), []string{".", runner.directory})
	// The checkout is the runner's, whose user is another than the container's.
	command(t, "chown", "-R", "1001:1001", runner.root+runner.directory)
	ran := map[string]bool{}
	for _, step := range workflowSteps(t, readWorkflows(t, d)) {
		if call := devCall.FindStringSubmatch(step.script); !ran[step.script] && (call == nil || !slices.Contains(recursing, call[2])) {
			runner.run(step.script)
		}
		ran[step.script] = true
	}
	const ask = "git rev-parse HEAD"
	if got, want := runner.run(ask), d.run(t, "the clone", ask); got != want {
		t.Errorf("after the first steps the commit is %s, want %s", got, want)
	}
	runner.run("./dev help")
}

// buildsImage makes the image's root, and starts the program in it.
func buildsImage(t *testing.T, d *desk, bare *debianMachine) {
	image := dockerBuild(t, d, bare, "deploy/Dockerfile")[""]
	version := regexp.MustCompile(`project\(Berth VERSION ([\d.]+)`).FindStringSubmatch(d.read(t, "CMakeLists.txt"))
	said := string(command(t, "chroot", image.root, "/usr/local/bin/berth", "version"))
	if len(version) != 2 || !strings.Contains(said, "v"+version[1]+"\n") {
		t.Errorf("the image's berth says %s, CMakeLists.txt %s", said, version)
	}
	if _, err := os.Stat(filepath.Join(image.root, "bin/sh")); err == nil {
		t.Error("the image has a shell")
	}
}
