// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"berth.dev/tests/controlplane/programs"
)

// DefaultControllers are the controllers that scheduling tests need: those that make and remove
// pods, bind volumes, make claims from templates, and let deletions end.
var DefaultControllers = []string{
	"daemonset-controller",
	"deployment-controller",
	"disruption-controller",
	"ephemeral-volume-controller",
	"garbage-collector-controller",
	"job-controller",
	"namespace-controller",
	"persistentvolume-binder-controller",
	"persistentvolume-protection-controller",
	"persistentvolumeclaim-protection-controller",
	"pod-garbage-collector-controller",
	"replicaset-controller",
	"replicationcontroller-controller",
	"resourceclaim-controller",
	"root-ca-certificate-publisher-controller",
	"serviceaccount-controller",
	"statefulset-controller",
}

// ClaimControllers bind volumes to claims, make claims of volumes and of devices from templates, and let the deletion of
// all of them end.
var ClaimControllers = []string{
	"ephemeral-volume-controller",
	"persistentvolume-binder-controller",
	"persistentvolume-protection-controller",
	"persistentvolumeclaim-protection-controller",
	"resourceclaim-controller",
	"statefulset-controller",
}

// nodeLifecycleControllers taint nodes that are not ready and evict their pods.
var nodeLifecycleControllers = []string{"node-lifecycle-controller", "taint-eviction-controller"}

// auditPolicy keeps which pod was bound to which node and, of the users asked for, each request.
func auditPolicy(users []string) string {
	policy := `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
  - level: Request
    verbs: [create]
    resources:
      - group: ""
        resources: [pods/binding, bindings]
`
	if len(users) > 0 {
		policy += "  - level: Metadata\n    users:\n"
	}
	for _, user := range users {
		policy += fmt.Sprintf("      - %q\n", user)
	}
	return policy + "  - level: None\n"
}

func (c *ControlPlane) etcdLaunch() launch {
	port, peerPort := c.state.Ports[programs.Etcd], c.state.Ports["etcd-peer"]
	url, peerURL := loopback(port), loopback(peerPort)
	return c.launch(programs.Etcd, port,
		"--name=default",
		"--data-dir="+c.path("etcd"),
		"--listen-client-urls="+url,
		"--advertise-client-urls="+url,
		"--listen-peer-urls="+peerURL,
		"--initial-advertise-peer-urls="+peerURL,
		"--initial-cluster=default="+peerURL,
		"--cert-file="+c.pki.cert(programs.Etcd),
		"--key-file="+c.pki.key(programs.Etcd),
		"--trusted-ca-file="+c.CAFile(),
		"--client-cert-auth",
		"--peer-cert-file="+c.pki.cert(programs.Etcd),
		"--peer-key-file="+c.pki.key(programs.Etcd),
		"--peer-trusted-ca-file="+c.CAFile(),
		"--peer-client-cert-auth",
		// A lone member elects itself; the default waits a second for others to speak first.
		"--heartbeat-interval=20",
		"--election-timeout=200",
		// Nothing here has to survive a power cut.
		"--unsafe-no-fsync",
		"--quota-backend-bytes=8589934592",
		"--log-level=warn",
	)
}

func (c *ControlPlane) apiServerLaunch() launch {
	port := c.state.Ports[programs.APIServer]
	args := []string{
		"--bind-address=127.0.0.1",
		fmt.Sprintf("--secure-port=%d", port),
		"--advertise-address=127.0.0.1",
		// The endpoints of service kubernetes may not be loopback addresses, and no test needs them.
		"--endpoint-reconciler-type=none",
		"--service-cluster-ip-range=10.96.0.0/16",
		"--allow-privileged",
		"--etcd-servers=" + loopback(c.state.Ports[programs.Etcd]),
		"--etcd-cafile=" + c.CAFile(),
		"--etcd-certfile=" + c.pki.cert(programs.APIServer),
		"--etcd-keyfile=" + c.pki.key(programs.APIServer),
		"--tls-cert-file=" + c.pki.cert(programs.APIServer),
		"--tls-private-key-file=" + c.pki.key(programs.APIServer),
		"--client-ca-file=" + c.CAFile(),
		"--token-auth-file=" + c.path("tokens.csv"),
		"--authorization-mode=RBAC",
		"--service-account-issuer=https://kubernetes.default.svc.cluster.local",
		"--service-account-key-file=" + filepath.Join(c.pki.dir, serviceAccounts+".pub"),
		"--service-account-signing-key-file=" + c.pki.key(serviceAccounts),
		"--requestheader-client-ca-file=" + c.pki.cert(frontProxyCAName),
		"--requestheader-allowed-names=front-proxy-client",
		"--requestheader-username-headers=X-Remote-User",
		"--requestheader-group-headers=X-Remote-Group",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--proxy-client-cert-file=" + c.pki.cert("front-proxy-client"),
		"--proxy-client-key-file=" + c.pki.key("front-proxy-client"),
		"--audit-policy-file=" + c.path("audit-policy.yaml"),
		"--audit-log-path=" + c.AuditLog(),
		"--audit-log-mode=blocking",
		"--audit-log-maxsize=0", // one file, never rotated
		"--max-requests-inflight=3000",
		"--max-mutating-requests-inflight=1000",
		"--profiling=true",
		// Watches are told to end when it stops; by default they hold it up for a minute.
		"--shutdown-watch-termination-grace-period=1s",
	}
	var disabled []string
	if !c.options.ControllerManager {
		// It demands a service account in each namespace, which only the controller manager makes.
		disabled = append(disabled, "ServiceAccount")
	}
	if !c.options.NodeLifecycle {
		// It taints each new node as not ready; only the node lifecycle controller takes that away.
		disabled = append(disabled, "TaintNodesByCondition")
	}
	if len(disabled) > 0 {
		args = append(args, "--disable-admission-plugins="+strings.Join(disabled, ","))
	}
	return c.launch(programs.APIServer, port, append(args, c.options.APIServerArgs...)...)
}

// controllersToRun are those of the options.
func (c *ControlPlane) controllersToRun() []string {
	chosen := c.options.Controllers
	if len(chosen) == 0 {
		chosen = DefaultControllers
	}
	if c.options.NodeLifecycle {
		chosen = slices.Concat(chosen, nodeLifecycleControllers)
	}
	return chosen
}

func (c *ControlPlane) controllerManagerLaunch(controllersToRun []string) launch {
	port := c.state.Ports[programs.ControllerManager]
	args := []string{
		"--kubeconfig=" + c.Kubeconfig(controllers),
		"--authentication-kubeconfig=" + c.Kubeconfig(controllers),
		"--authorization-kubeconfig=" + c.Kubeconfig(controllers),
		"--bind-address=127.0.0.1",
		fmt.Sprintf("--secure-port=%d", port),
		"--tls-cert-file=" + c.pki.cert(programs.ControllerManager),
		"--tls-private-key-file=" + c.pki.key(programs.ControllerManager),
		"--controllers=" + strings.Join(controllersToRun, ","),
		"--leader-elect=false",
		"--root-ca-file=" + c.CAFile(),
		"--service-account-private-key-file=" + c.pki.key(serviceAccounts),
		"--kube-api-qps=1000",
		"--kube-api-burst=2000",
		// Volumes for storage classes of provisioner kubernetes.io/host-path.
		"--enable-hostpath-provisioner",
		// kwok renews node statuses every ten to twenty minutes.
		"--node-monitor-grace-period=1h",
	}
	return c.launch(programs.ControllerManager, port, append(args, c.options.ControllerManagerArgs...)...)
}

func (c *ControlPlane) kwokLaunch() launch {
	port := c.state.Ports[programs.Kwok]
	return c.launch(programs.Kwok, port,
		"--kubeconfig="+c.Kubeconfig(kubelets),
		"--config="+c.binaries.KwokStages(),
		"--manage-all-nodes=true",
		"--node-lease-duration-seconds=0", // no leases: their renewals are most of the load of idle nodes
		"--node-ip=10.0.0.1",
		"--server-address="+fmt.Sprintf("127.0.0.1:%d", port),
	)
}

// launch is the start of a program whose binary has the program's name.
func (c *ControlPlane) launch(program string, port int, args ...string) launch {
	return launch{
		name:     program,
		port:     port,
		program:  c.binaries.Path(program),
		args:     args,
		dir:      c.path("work", program),
		detached: c.options.Detached,
	}
}

func loopback(port int) string { return fmt.Sprintf("https://127.0.0.1:%d", port) }
