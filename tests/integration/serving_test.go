// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"

	"berth.dev/tests/controlplane"
	"berth.dev/tests/internal/daemon"
	"berth.dev/tests/internal/daemon/workload"
)

// endpoints is a daemon that serves HTTPS.
type endpoints struct {
	*env
	daemon *daemon.Daemon
	port   int
}

func freePort(t *testing.T) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}

// serve starts a daemon with its endpoints, and waits until it is ready.
func serve(t *testing.T, args ...string) *endpoints {
	t.Helper()
	return serveWith(t, fast(), args...)
}

func serveWith(t *testing.T, config string, args ...string) *endpoints {
	t.Helper()
	return serveOn(newEnv(t), config, args...)
}

func serveOn(env *env, config string, args ...string) *endpoints {
	env.Helper()
	e := &endpoints{env: env, port: freePort(env.T)}
	e.refusals = true // they are what the tests are about
	kubeconfig := e.plane.Kubeconfig(controlplane.Berth)
	args = append([]string{
		"--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", e.port),
		"--authentication-kubeconfig=" + kubeconfig, "--authorization-kubeconfig=" + kubeconfig,
	}, args...)
	e.daemon = e.startAs(controlplane.Berth, config, args...)
	e.eventually("/readyz", func() bool {
		code, _, err := e.try(e.client(), "/readyz", "")
		return err == nil && code == http.StatusOK
	})
	return e
}

// client makes a new connection for each request. With a certificate it shows that.
func (e *endpoints) client(certs ...tls.Certificate) *http.Client {
	return &http.Client{
		Timeout: 20 * time.Second,
		Transport: &http.Transport{
			TLSClientConfig:   &tls.Config{InsecureSkipVerify: true, Certificates: certs},
			DisableKeepAlives: true,
		},
	}
}

func (e *endpoints) try(client *http.Client, path, token string) (code int, body string, err error) {
	request, err := http.NewRequestWithContext(e.ctx, http.MethodGet, fmt.Sprintf("https://127.0.0.1:%d%s", e.port, path), nil)
	if err != nil {
		return 0, "", err
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := client.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return response.StatusCode, string(text), err
}

func (e *endpoints) get(client *http.Client, path, token string) (code int, body string) {
	e.Helper()
	code, body, err := e.try(client, path, token)
	e.must(err)
	return code, body
}

func tokenOf(e *endpoints, user controlplane.User) string {
	config, err := e.plane.RESTConfig(user)
	e.must(err)
	return config.BearerToken
}

func certificateOf(e *endpoints, user controlplane.User) tls.Certificate {
	config, err := clientcmd.BuildConfigFromFlags("", shared.Kubeconfig(user+"-cert"))
	e.must(err)
	cert, err := tls.X509KeyPair(config.CertData, config.KeyData)
	e.must(err)
	return cert
}

func TestEndpointsAreForThoseWhomTheServerLetsRead(t *testing.T) {
	e := serve(t)
	nobody := tokenOf(e, controlplane.Nobody)
	admin := tokenOf(e, controlplane.Admin)
	cases := []struct {
		name        string
		path, token string
		certs       []tls.Certificate
		code        int
		says        string
	}{
		{name: "a caller without credentials asks whether it lives", path: "/livez", code: 200, says: "ok"},
		{name: "a caller without credentials asks whether it is healthy", path: "/healthz", code: 200, says: "ok"},
		{name: "one check is not for all callers", path: "/readyz/shutdown", code: 403},
		{name: "anonymous", path: "/metrics", code: 403, says: `User \"system:anonymous\" cannot get path \"/metrics\"`},
		{name: "anonymous, of what is not there", path: "/nothing", code: 403},
		{name: "a wrong token", path: "/metrics", token: "wrong", code: 401, says: `"reason":"Unauthorized"`},
		{name: "a token without rights", path: "/metrics", token: nobody, code: 403, says: `User \"nobody\" cannot get`},
		{name: "a certificate without rights", path: "/metrics", certs: []tls.Certificate{certificateOf(e, controlplane.Nobody)}, code: 403, says: `User \"nobody\" cannot get`},
		{name: "the admin's token", path: "/metrics", token: admin, code: 200, says: "# TYPE scheduler_"},
		{name: "the admin's certificate", path: "/metrics", certs: []tls.Certificate{certificateOf(e, controlplane.Admin)}, code: 200, says: "# TYPE scheduler_"},
		{name: "the configuration", path: "/configz", token: admin, code: 200, says: `{"componentconfig":{`},
		{name: "nothing there", path: "/nothing", token: admin, code: 404, says: "404 page not found"},
	}
	for _, c := range cases {
		code, body := e.get(e.client(c.certs...), c.path, c.token)
		// Some answers are printed for people.
		if code != c.code || !strings.Contains(strings.ReplaceAll(body, `": "`, `":"`), c.says) {
			e.Errorf("%s: %d %.300s; want %d and %s", c.name, code, body, c.code, c.says)
		}
	}
}

// accepting asks for a path as the admin, who takes these media types.
func (e *endpoints) accepting(path, types string) (response *http.Response, body string) {
	e.Helper()
	request, err := http.NewRequestWithContext(e.ctx, http.MethodGet, fmt.Sprintf("https://127.0.0.1:%d%s", e.port, path), nil)
	e.must(err)
	request.Header.Set("Authorization", "Bearer "+tokenOf(e, controlplane.Admin))
	request.Header.Set("Accept", types)
	response, err = e.client().Do(request)
	e.must(err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	e.must(err)
	return response, string(text)
}

func TestZPagesTellPeopleAndPrograms(t *testing.T) {
	e := serve(t, "--leader-elect-renew-deadline=9s")
	for _, page := range []struct{ path, kind string }{{"/statusz", "Statusz"}, {"/flagz", "Flagz"}} {
		ask := func(form, version string) string {
			return fmt.Sprintf("application/%s;v=%s;g=config.k8s.io;as=%s", form, version, page.kind)
		}
		response, text := e.accepting(page.path, "*/*")
		if title := "\nkube-scheduler " + page.path[1:] + "\nWarning: "; !strings.HasPrefix(text, title) || response.StatusCode != 200 {
			e.Errorf("%s as text: %d %.200s", page.path, response.StatusCode, text)
		}
		response, text = e.accepting(page.path, "application/json")
		if response.StatusCode != http.StatusNotAcceptable {
			e.Errorf("%s without a kind: %d %s", page.path, response.StatusCode, text)
		}
		response, text = e.accepting(page.path, ask("yaml", "v1beta1"))
		if !strings.Contains(text, "kind: "+page.kind+"\n") || len(response.Header.Values("Warning")) != 0 {
			e.Errorf("%s as YAML: %d %s", page.path, response.StatusCode, text)
		}
		response, text = e.accepting(page.path, ask("json", "v1alpha1"))
		var document struct {
			Kind, APIVersion string
			Metadata         struct{ Name string }
			StartTime        metav1.Time
			BinaryVersion    string
			EmulationVersion string
			Paths            []string
			Flags            map[string]string
		}
		e.must(json.Unmarshal([]byte(text), &document))
		if document.Kind != page.kind || document.APIVersion != "config.k8s.io/v1alpha1" || document.Metadata.Name != "kube-scheduler" {
			e.Errorf("%s as JSON: %s", page.path, text)
		}
		if warning := response.Header.Get("Warning"); !strings.Contains(warning, "deprecated") {
			e.Errorf("%s warns of v1alpha1: %q", page.path, warning)
		}
		if page.kind == "Flagz" {
			for flag, value := range map[string]string{
				"leader-elect-renew-deadline":            "9s",
				"leader-elect-resource-name":             "kube-scheduler",
				"secure-port":                            strconv.Itoa(e.port),
				"profiling":                              "true",
				"pod-max-in-unschedulable-pods-duration": "5m0s",
			} {
				if got := document.Flags[flag]; got != value {
					e.Errorf("--%s is %q, want %q", flag, got, value)
				}
			}
			continue
		}
		if want := []string{"/configz", "/flagz", "/healthz", "/livez", "/metrics", "/readyz"}; !slices.Equal(document.Paths, want) {
			e.Errorf("paths are %q, want %q", document.Paths, want)
		}
		if age := time.Since(document.StartTime.Time); age < 0 || age > time.Minute {
			e.Errorf("it began %v ago", age)
		}
		if document.BinaryVersion != "1.37.1" || document.EmulationVersion != "1.37" {
			e.Errorf("it is %q and emulates %q", document.BinaryVersion, document.EmulationVersion)
		}
	}
}

func TestMetricsAreCompressedForThoseWhoTakeIt(t *testing.T) {
	e := serve(t)
	response, text := e.accepting("/metrics", "text/plain")
	if !response.Uncompressed || !strings.Contains(text, "# TYPE scheduler_") {
		e.Errorf("Go's client asked for gzip and got (unpacked: %v) %.200s", response.Uncompressed, text)
	}
}

func TestARightThatIsGrantedLetsAScraperIn(t *testing.T) {
	e := serve(t, "--authorization-webhook-cache-unauthorized-ttl=1s")
	token := tokenOf(e, controlplane.Nobody)
	if code, body := e.get(e.client(), "/metrics", token); code != 403 {
		e.Fatalf("before: %d %s", code, body)
	}
	name := "scraper-" + e.namespace
	_, err := e.admin.RbacV1().ClusterRoles().Create(e.ctx, &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Rules:      []rbacv1.PolicyRule{{Verbs: []string{"get"}, NonResourceURLs: []string{"/metrics"}}},
	}, metav1.CreateOptions{})
	e.must(err)
	_, err = e.admin.RbacV1().ClusterRoleBindings().Create(e.ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: string(controlplane.Nobody)}},
	}, metav1.CreateOptions{})
	e.must(err)
	t.Cleanup(func() {
		_ = shared.Client(controlplane.Admin).RbacV1().ClusterRoleBindings().Delete(t.Context(), name, metav1.DeleteOptions{})
		_ = shared.Client(controlplane.Admin).RbacV1().ClusterRoles().Delete(t.Context(), name, metav1.DeleteOptions{})
	})
	e.eventually("the scraper's right", func() bool {
		code, _ := e.get(e.client(), "/metrics", token)
		return code == 200
	})
	if code, _ := e.get(e.client(), "/configz", token); code != 403 {
		e.Errorf("/configz: %d, though only /metrics was granted", code)
	}
}

func TestARotatedServingCertificateIsPickedUp(t *testing.T) {
	dir := t.TempDir()
	files := []string{filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")}
	install := func(name string) {
		cert, key, err := shared.IssueServerCert(name)
		if err != nil {
			t.Fatal(err)
		}
		for i, from := range []string{cert, key} {
			text, err := os.ReadFile(from)
			if err == nil {
				err = os.WriteFile(files[i], text, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	install("serving-before")
	e := serve(t, "--tls-cert-file="+files[0], "--tls-private-key-file="+files[1])
	shown := func() string {
		connection, err := tls.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", e.port), &tls.Config{InsecureSkipVerify: true})
		e.must(err)
		defer connection.Close()
		return connection.ConnectionState().PeerCertificates[0].SerialNumber.String()
	}
	before := shown()
	install("serving-after")
	e.eventually("the new certificate", func() bool { return shown() != before })
}

func TestARunningSchedulerExplains(t *testing.T) {
	if program.Peer {
		t.Skip("kube-scheduler has no such endpoint")
	}
	e := serve(t)
	e.manyNodes(2, workload.Allocatable("cpu", "1"))
	e.manyPods(1, "web", workload.Requests("cpu", "2"))
	e.awaitUnschedulable("web-0", "0/2 nodes are available: 2 Insufficient cpu.")
	admin := tokenOf(e, controlplane.Admin)
	code, body := e.get(e.client(), "/debug/explain?pod="+e.namespace+"/web-0", admin)
	var verdict struct{ Pod, Result, Message string }
	if err := json.Unmarshal([]byte(body), &verdict); err != nil || code != 200 {
		e.Fatalf("%d %s: %v", code, body, err)
	}
	if verdict.Result != "unschedulable" || verdict.Message != "0/2 nodes are available: 2 Insufficient cpu." {
		e.Errorf("it says %+v", verdict)
	}
	if code, body := e.get(e.client(), "/debug/explain?pod=default/none", admin); code != 404 {
		e.Errorf("of a pod that is not there it says %d %s", code, body)
	}
	if _, body := e.get(e.client(), "/debug/queue", admin); !strings.Contains(body, `"pod":"`+e.namespace+`/web-0"`) {
		e.Errorf("the queue is %s", body)
	}
	if _, body := e.get(e.client(), "/debug/cache?node=node-1", admin); !strings.Contains(body, `"nodes":[{"name":"node-1"`) {
		e.Errorf("the cache is %s", body)
	}
}

// pprof reads a profile as people do, and returns what it prints.
func (e *endpoints) pprof(profile string) string {
	e.Helper()
	file := filepath.Join(e.dir, "profile.pb")
	e.must(os.WriteFile(file, []byte(profile), 0o600))
	out, err := exec.Command("go", "tool", "pprof", "-top", "-nodecount=500", file).CombinedOutput()
	if err != nil {
		e.Fatalf("go tool pprof: %v\n%s", err, out)
	}
	return string(out)
}

func TestProfilesAreReadByPprof(t *testing.T) {
	if program.Peer {
		t.Skip("its profiles are Go's")
	}
	t.Setenv("MALLOC_CONF", "prof:true,lg_prof_sample:12")
	e := serve(t)
	admin := tokenOf(e, controlplane.Admin)
	profile := make(chan string)
	go func() {
		code, body, err := e.try(e.client(), "/debug/pprof/profile?seconds=3", admin)
		if err != nil || code != http.StatusOK {
			e.Errorf("a profile: %d %.200s %v", code, body, err)
		}
		profile <- body
	}()
	var cpu string
	for done := false; !done; {
		select {
		case cpu = <-profile:
			done = true
		default:
			e.get(e.client(), "/metrics", admin) // handshakes cost what is sampled
		}
	}
	if top := e.pprof(cpu); !strings.Contains(top, "Type: cpu") || !strings.Contains(top, "berth::") {
		e.Errorf("of CPU time pprof says\n%s", top)
	}
	code, heap := e.get(e.client(), "/debug/pprof/heap", admin)
	if code != http.StatusOK {
		e.Fatalf("a heap profile: %d %s", code, heap)
	}
	if top := e.pprof(heap); !strings.Contains(top, "Type: inuse_space") || !strings.Contains(top, "berth::") {
		e.Errorf("of memory pprof says\n%s", top)
	}
	for path, want := range map[string]int{
		"/debug/pprof/profile?seconds=61": http.StatusBadRequest,
		"/debug/pprof/cmdline":            http.StatusOK,
		"/debug/pprof/":                   http.StatusOK,
	} {
		if code, body := e.get(e.client(), path, admin); code != want {
			e.Errorf("%s: %d %.200s; want %d", path, code, body, want)
		}
	}
	if code, _ := e.get(e.client(), "/debug/pprof/profile", tokenOf(e, controlplane.Nobody)); code != http.StatusForbidden {
		e.Errorf("a caller without rights gets %d", code)
	}
}

// residentBytes is the memory that the process holds.
func (e *endpoints) residentBytes() int {
	e.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", e.daemon.PID()))
	e.must(err)
	pages, err := strconv.Atoi(strings.Fields(string(text))[1])
	e.must(err)
	return pages * os.Getpagesize()
}

// checkLively checks that /livez answers fast, new connection and all.
func (e *endpoints) checkLively() {
	e.Helper()
	var times []time.Duration
	for range 21 {
		began := time.Now()
		if code, _ := e.get(e.client(), "/livez", ""); code != 200 {
			e.Errorf("/livez: %d", code)
		}
		times = append(times, time.Since(began))
	}
	slices.Sort(times)
	e.Logf("/livez answers in %v (median) to %v", times[10], times[20])
	if times[10] > 100*time.Millisecond {
		e.Errorf("/livez answers in %v (median)", times[10])
	}
}

func TestHostileClientsNeitherDelayNorFill(t *testing.T) {
	if program.Peer {
		t.Skip("kube-scheduler has no limit on connections")
	}
	e := serve(t)
	address := fmt.Sprintf("127.0.0.1:%d", e.port)
	e.checkLively()
	before := e.residentBytes()

	for range 1000 {
		idle, err := net.Dial("tcp", address)
		e.must(err)
		defer idle.Close()
	}
	e.checkLively()
	for range 300 {
		slow, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true})
		e.must(err)
		defer slow.Close()
		_, _ = slow.Write([]byte("GET /livez HTTP/1.1\r\nX-Slow: "))
	}
	e.checkLively()
	endless, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true})
	e.must(err)
	defer endless.Close()
	_, _ = endless.Write([]byte("GET /livez HTTP/1.1\r\nX-Long: "))
	part, sent := make([]byte, 1<<16), 0
	for i := range part {
		part[i] = 'x'
	}
	for err == nil && sent < 1<<30 {
		var n int
		n, err = endless.Write(part)
		sent += n
	}
	if err == nil {
		e.Error("it took a header of 1 GiB")
	}
	e.checkLively()
	if grown := e.residentBytes() - before; grown > 20<<20 {
		e.Errorf("its memory grew by %d MiB", grown>>20)
	} else {
		e.Logf("its memory grew by %d KiB", grown>>10)
	}
}
