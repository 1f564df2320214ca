// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"berth.dev/tests/controlplane"
)

// buildPackages packs the program under test, as ./dev package does.
func buildPackages(folder string) error {
	if out, err := exec.Command(filepath.Join(root, "cmake", "package", "build.sh"), program.Path, folder).CombinedOutput(); err != nil {
		return fmt.Errorf("build the packages: %w\n%s", err, out)
	}
	return nil
}

// sharedPackages are built once.
var sharedPackages = sync.OnceValues(func() (string, error) {
	folder := filepath.Join(imageFolder, "packages")
	return folder, buildPackages(folder)
})

// one finds the one file of that pattern in a folder.
func one(t *testing.T, folder, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(folder, pattern))
	must(t, err)
	if len(found) != 1 {
		t.Fatalf("%s: %q", pattern, found)
	}
	return found[0]
}

func TestPackagesAreTheSameEachTime(t *testing.T) {
	first, err := sharedPackages()
	must(t, err)
	second := t.TempDir()
	must(t, buildPackages(second))
	for _, pattern := range []string{"berth_*.deb", "berth-*.tar.gz"} {
		a, err := os.ReadFile(one(t, first, pattern))
		must(t, err)
		b, err := os.ReadFile(one(t, second, pattern))
		must(t, err)
		if !bytes.Equal(a, b) {
			t.Errorf("made twice, %s differs", pattern)
		}
		t.Logf("%s: %.1f MB", pattern, float64(len(a))/1e6)
	}
}

// flattened is a user's kubeconfig with everything in it, for those who cannot read the control plane's files.
func flattened(t *testing.T, user controlplane.User) string {
	t.Helper()
	config, err := clientcmd.LoadFromFile(shared.Kubeconfig(user))
	must(t, err)
	must(t, clientcmd.ResolveLocalPaths(config))
	must(t, clientcmdapi.FlattenConfig(config))
	file := filepath.Join(t.TempDir(), "kubeconfig")
	must(t, clientcmd.WriteToFile(*config, file))
	return file
}

func TestTheDebianPackageInstallsSchedulesAndLeavesNothing(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("dpkg needs root")
	}
	folder, err := sharedPackages()
	must(t, err)
	script, err := filepath.Abs(filepath.Join("testdata", "package.sh"))
	must(t, err)
	command := exec.Command("unshare", "--mount", script, one(t, folder, "berth_*.deb"), flattened(t, controlplane.KubeScheduler),
		fmt.Sprint(freePort(t)), t.TempDir())
	input, err := command.StdinPipe()
	must(t, err)
	var left, log bytes.Buffer
	command.Stdout, command.Stderr = &left, &log
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	must(t, command.Start())
	ended := false
	t.Cleanup(func() {
		if !ended {
			_ = syscall.Kill(-command.Process.Pid, syscall.SIGKILL)
			_ = command.Wait()
		}
		if t.Failed() {
			t.Logf("%s", &log)
		}
	})
	t.Run("schedules", func(t *testing.T) { busy(t, "package", "default-scheduler") })
	_, err = input.Write([]byte("stop\n"))
	must(t, err)
	err, ended = command.Wait(), true
	must(t, err)
	if left.Len() > 0 {
		t.Errorf("it leaves\n%s", &left)
	}
}

func TestTheUnitIsBoundedAsTheBaseIsAndLeaksNoCredentials(t *testing.T) {
	text, err := os.ReadFile(inDeploy("systemd", "berth.service"))
	must(t, err)
	base, err := os.ReadFile(inDeploy("base", "deployment.yaml"))
	must(t, err)
	limit := regexp.MustCompile(`limits:\n\s+memory: (\d+G)i`).FindSubmatch(base)
	if limit == nil {
		t.Fatal("the base has no limit of memory in GiB")
	}
	for _, line := range []string{"MemoryMax=" + string(limit[1]), "UMask=0077", "LimitCORE=0"} {
		if !strings.Contains(string(text), "\n"+line+"\n") {
			t.Errorf("berth.service lacks %s", line)
		}
	}
}

// legacyProfile names a plugin of an older release, which is in a library beside the program.
const legacyProfile = `apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
  plugins: {filter: {enabled: [{name: NodeLabel}], disabled: [{name: "*"}]}}
  pluginConfig:
  - name: NodeLabel
    args: {presentLabels: [rack]}
`

// runsLegacyPlugins expects that a program finds its plugin libraries where it has been installed, and says
// so where they are missing.
func runsLegacyPlugins(t *testing.T, program string) {
	t.Helper()
	config := filepath.Join(t.TempDir(), "legacy.yaml")
	must(t, os.WriteFile(config, []byte(legacyProfile), 0o644))
	explain := func() string {
		out, _ := exec.Command(program, "explain", "--cluster", filepath.Join(root, "docs/tutorial/shop.yaml"), "--config", config).CombinedOutput()
		return string(out)
	}
	if said := explain(); !strings.Contains(said, "4 node(s) didn't have the requested labels") {
		t.Errorf("%s with a plugin of an older release: %s", program, said)
	}
	library := filepath.Join(filepath.Dir(program), "../lib/berth/plugins/legacy.so")
	must(t, os.Rename(library, library+".away"))
	if said := explain(); !strings.Contains(said, `"NodeLabel": its library, which comes with Berth, cannot be loaded: `+library+": No such file") {
		t.Errorf("%s without its library: %s", program, said)
	}
	must(t, os.Rename(library+".away", library))
}

func TestTheManualPagesTellOfEachCommandAndField(t *testing.T) {
	folder, err := sharedPackages()
	must(t, err)
	unpacked := t.TempDir()
	must(t, exec.Command("dpkg-deb", "--extract", one(t, folder, "berth_*.deb"), unpacked).Run())
	runsLegacyPlugins(t, filepath.Join(unpacked, "usr/bin/berth"))
	page := func(path string) string {
		t.Helper()
		text, err := exec.Command("gzip", "-dc", filepath.Join(unpacked, "usr/share/man", path)).Output()
		must(t, err)
		return strings.ReplaceAll(string(text), `\-`, "-")
	}
	manual, fields := page("man1/berth.1.gz"), page("man5/berth-config.5.gz")
	help, err := exec.Command(program.Path, "run", "--help").Output()
	must(t, err)
	flags := regexp.MustCompile(`(?m)^ +(?:-\w, ?)?(--[a-z][a-z0-9-]+)`).FindAllStringSubmatch(string(help), -1)
	if len(flags) < 50 {
		t.Fatalf("only %d flags in the program's help", len(flags))
	}
	for _, flag := range flags {
		if !strings.Contains(manual, `\fB`+flag[1]) && !strings.Contains(manual, ", "+flag[1]) {
			t.Errorf("berth(1) does not tell of %s", flag[1])
		}
	}
	for _, field := range []string{"leaderElection.leaseDuration", "clientConnection.qps", "profiles[].plugins.<point>.enabled[].name"} {
		if !strings.Contains(fields, ".TP\n\\fB"+field+"\\fR") {
			t.Errorf("berth-config(5) does not tell of %s", field)
		}
	}
}

// pluginProject is the least that builds a plugin with the installed SDK.
const pluginProject = `cmake_minimum_required(VERSION 3.25)
project(Example LANGUAGES CXX)
find_package(Berth %s REQUIRED)
berth_add_plugin(example example.cc)
`

func TestTheTarballHasTheProgramAndTheSDK(t *testing.T) {
	folder, err := sharedPackages()
	must(t, err)
	dir := t.TempDir()
	run := func(name string, args ...string) string {
		t.Helper()
		out, err := exec.Command(name, args...).CombinedOutput()
		if err != nil {
			t.Fatalf("%s %q: %v\n%s", name, args, err, out)
		}
		return string(out)
	}
	run("tar", "-xzf", one(t, folder, "berth-*.tar.gz"), "-C", dir)
	prefix := one(t, dir, "berth-*")
	runsLegacyPlugins(t, filepath.Join(prefix, "bin", "berth"))
	version := regexp.MustCompile(`Berth Version: v(\S+)`).FindStringSubmatch(run(filepath.Join(prefix, "bin", "berth"), "version"))
	if version == nil || !strings.HasPrefix(filepath.Base(prefix), "berth-"+version[1]+"-linux-") {
		t.Fatalf("%s holds version %q", prefix, version)
	}
	project := filepath.Join(dir, "plugin")
	must(t, os.Mkdir(project, 0o755))
	must(t, os.WriteFile(filepath.Join(project, "CMakeLists.txt"), fmt.Appendf(nil, pluginProject, version[1]), 0o644))
	must(t, os.WriteFile(filepath.Join(project, "example.cc"), []byte("#include \"berth/loadable/plugin.hpp\"\n"), 0o644))
	run("cmake", "-S", project, "-B", filepath.Join(project, "build"), "-DCMAKE_PREFIX_PATH="+prefix)
	run("cmake", "--build", filepath.Join(project, "build"))
	one(t, filepath.Join(project, "build"), "example.so")
}
