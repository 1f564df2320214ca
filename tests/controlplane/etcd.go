// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"errors"
	"fmt"
	"os"

	"go.etcd.io/etcd/client/pkg/v3/transport"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"berth.dev/tests/controlplane/programs"
)

// startEtcd starts etcd with the data it had, and waits until it is healthy.
func (c *ControlPlane) startEtcd(ctx context.Context) error {
	if c.Process(programs.Etcd) != nil {
		return errors.New("etcd runs already")
	}
	etcd, err := c.run(c.etcdLaunch())
	if err != nil {
		return err
	}
	return c.awaitHTTPS(ctx, etcd, "/health")
}

// RestartEtcd ends etcd, in its orderly way or as a crash would, and starts it again. The API server stays.
func (c *ControlPlane) RestartEtcd(ctx context.Context, crash bool) error {
	if etcd := c.Process(programs.Etcd); etcd != nil && crash {
		etcd.Kill()
	} else if etcd != nil {
		etcd.Stop()
	}
	return c.startEtcd(ctx)
}

// SaveEtcd stops etcd for a moment and keeps a copy of what it has.
func (c *ControlPlane) SaveEtcd(ctx context.Context) error {
	if etcd := c.Process(programs.Etcd); etcd != nil {
		etcd.Stop()
	}
	if err := replaceDir(c.path("etcd-saved"), c.path("etcd")); err != nil {
		return fmt.Errorf("save etcd's data: %w", err)
	}
	return c.startEtcd(ctx)
}

// RestoreEtcd puts back what SaveEtcd kept: the cluster's state goes back in time, and its versions do, too, unless they
// are bumped, as etcd's documentation asks for (etcdutl snapshot restore --bump-revision --mark-compacted): then they go
// on above all that were given out, and watches of before are told that theirs is gone. The API server is restarted.
func (c *ControlPlane) RestoreEtcd(ctx context.Context, bump bool) error {
	c.StopAPIServer()
	if etcd := c.Process(programs.Etcd); etcd != nil {
		etcd.Stop()
	}
	if err := replaceDir(c.path("etcd"), c.path("etcd-saved")); err != nil {
		return fmt.Errorf("restore etcd's data: %w", err)
	}
	if err := c.startEtcd(ctx); err != nil {
		return err
	}
	if bump {
		if err := c.bumpVersions(ctx); err != nil {
			return fmt.Errorf("bump etcd's versions: %w", err)
		}
	}
	return c.StartAPIServer(ctx)
}

// bumpVersions raises etcd's version by more than a test can have given out since it was saved.
func (c *ControlPlane) bumpVersions(ctx context.Context) error {
	const by, atOnce, key = 20_000, 64, "berth-bump"
	config, err := transport.TLSInfo{CertFile: c.pki.cert(programs.APIServer), KeyFile: c.pki.key(programs.APIServer), TrustedCAFile: c.CAFile()}.ClientConfig()
	if err != nil {
		return err
	}
	client, err := clientv3.New(clientv3.Config{
		Endpoints: []string{loopback(c.state.Ports[programs.Etcd])}, TLS: config, Logger: zap.NewNop()})
	if err != nil {
		return err
	}
	defer client.Close()
	group, puts := errgroup.WithContext(ctx)
	for range atOnce {
		group.Go(func() error {
			for range by / atOnce {
				if _, err := client.Put(puts, key, ""); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	deleted, err := client.Delete(ctx, key)
	if err != nil {
		return err
	}
	_, err = client.Compact(ctx, deleted.Header.Revision)
	return err
}

// replaceDir makes `to` a copy of `from`.
func replaceDir(to, from string) error {
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	return os.CopyFS(to, os.DirFS(from))
}
