// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"crypto/rand"
	"encoding/csv"
	"encoding/hex"
	"fmt"
	"os"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// User is someone the API server knows. Each has a static token and a client certificate.
type User string

// The users of a control plane.
const (
	Admin         User = "admin"          // may do everything
	Berth         User = "berth"          // has exactly the rights of deploy/base
	KubeScheduler User = "kube-scheduler" // has the rights that Kubernetes itself gives its scheduler
	Nobody        User = "nobody"         // may only ask what it may do
	controllers   User = "controller-manager"
	kubelets      User = "kwok"
)

type userIdentity struct {
	User
	name   string // as the API server sees it
	groups []string
}

var users = []userIdentity{
	{Admin, "admin", []string{"system:masters"}},
	{Berth, "berth", nil},
	{KubeScheduler, "system:kube-scheduler", nil},
	{Nobody, "nobody", nil},
	{controllers, "controller-manager", []string{"system:masters"}},
	{kubelets, "kwok", []string{"system:masters"}},
}

// createTokens writes the API server's token file, unless an earlier start did, and returns each
// user's token.
func createTokens(file string) (map[User]string, error) {
	if _, err := os.Stat(file); err != nil {
		var lines strings.Builder
		writer := csv.NewWriter(&lines)
		for _, u := range users {
			secret := make([]byte, 16)
			rand.Read(secret)
			record := []string{hex.EncodeToString(secret), u.name, u.name}
			if len(u.groups) > 0 {
				record = append(record, strings.Join(u.groups, ","))
			}
			if err := writer.Write(record); err != nil {
				return nil, fmt.Errorf("write the token of %s: %w", u.name, err)
			}
		}
		writer.Flush()
		if err := os.WriteFile(file, []byte(lines.String()), 0o600); err != nil {
			return nil, fmt.Errorf("write the token file: %w", err)
		}
	}
	return readTokens(file)
}

func readTokens(file string) (map[User]string, error) {
	opened, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("read the token file: %w", err)
	}
	defer opened.Close()
	reader := csv.NewReader(opened)
	reader.FieldsPerRecord = -1
	records, err := reader.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("read the token file: %w", err)
	}
	tokens := map[User]string{}
	for _, record := range records {
		for _, u := range users {
			if len(record) > 1 && record[1] == u.name {
				tokens[u.User] = record[0]
			}
		}
	}
	return tokens, nil
}

// writeKubeconfig writes a kubeconfig with everything inlined, so that the file can be moved.
func (c *ControlPlane) writeKubeconfig(file, server string, auth clientcmdapi.AuthInfo) error {
	ca, err := os.ReadFile(c.CAFile())
	if err != nil {
		return fmt.Errorf("read the CA: %w", err)
	}
	config := clientcmdapi.NewConfig()
	config.Clusters["berth-test"] = &clientcmdapi.Cluster{Server: server, CertificateAuthorityData: ca}
	config.AuthInfos["user"] = &auth
	config.Contexts["berth-test"] = &clientcmdapi.Context{Cluster: "berth-test", AuthInfo: "user"}
	config.CurrentContext = "berth-test"
	if err := clientcmd.WriteToFile(*config, file); err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	return nil
}

// WriteKubeconfig writes a kubeconfig for the user that points at another server, such as a proxy
// in front of the API server whose certificate came from IssueServerCert.
func (c *ControlPlane) WriteKubeconfig(file string, user User, server string) error {
	token, ok := c.tokens[user]
	if !ok {
		return fmt.Errorf("no user %q", user)
	}
	return c.writeKubeconfig(file, server, clientcmdapi.AuthInfo{Token: token})
}

// writeKubeconfigs writes two files for each user: <user>.kubeconfig authenticates by token,
// <user>-cert.kubeconfig by client certificate.
func (c *ControlPlane) writeKubeconfigs() error {
	for _, u := range users {
		if err := c.WriteKubeconfig(c.Kubeconfig(u.User), u.User, c.URL()); err != nil {
			return err
		}
		cert, err := os.ReadFile(c.pki.cert(userCert(u.User)))
		if err != nil {
			return fmt.Errorf("read the certificate of %s: %w", u.name, err)
		}
		key, err := os.ReadFile(c.pki.key(userCert(u.User)))
		if err != nil {
			return fmt.Errorf("read the key of %s: %w", u.name, err)
		}
		auth := clientcmdapi.AuthInfo{ClientCertificateData: cert, ClientKeyData: key}
		if err := c.writeKubeconfig(c.Kubeconfig(u.User+"-cert"), c.URL(), auth); err != nil {
			return err
		}
	}
	return nil
}

// RESTConfig is the configuration of a client for the user, without a rate limit and with protobuf
// for the built-in kinds.
func (c *ControlPlane) RESTConfig(user User) (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", c.Kubeconfig(user))
	if err != nil {
		return nil, fmt.Errorf("load the kubeconfig of %s: %w", user, err)
	}
	config.QPS = -1
	config.ContentType = "application/vnd.kubernetes.protobuf"
	config.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	return config, nil
}
