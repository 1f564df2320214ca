// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"errors"
	"fmt"
	"os"
)

// startEtcd starts etcd with the data it had, and waits until it is healthy.
func (c *ControlPlane) startEtcd(ctx context.Context) error {
	if c.Process(Etcd) != nil {
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
	if etcd := c.Process(Etcd); etcd != nil && crash {
		etcd.Kill()
	} else if etcd != nil {
		etcd.Stop()
	}
	return c.startEtcd(ctx)
}

// SaveEtcd stops etcd for a moment and keeps a copy of what it has.
func (c *ControlPlane) SaveEtcd(ctx context.Context) error {
	if etcd := c.Process(Etcd); etcd != nil {
		etcd.Stop()
	}
	if err := replaceDir(c.path("etcd-saved"), c.path("etcd")); err != nil {
		return fmt.Errorf("save etcd's data: %w", err)
	}
	return c.startEtcd(ctx)
}

// RestoreEtcd puts back what SaveEtcd kept: the cluster's state and its versions go back in time. The API server is
// restarted with it, as one has to.
func (c *ControlPlane) RestoreEtcd(ctx context.Context) error {
	c.StopAPIServer()
	if etcd := c.Process(Etcd); etcd != nil {
		etcd.Stop()
	}
	if err := replaceDir(c.path("etcd"), c.path("etcd-saved")); err != nil {
		return fmt.Errorf("restore etcd's data: %w", err)
	}
	if err := c.startEtcd(ctx); err != nil {
		return err
	}
	return c.StartAPIServer(ctx)
}

// replaceDir makes `to` a copy of `from`.
func replaceDir(to, from string) error {
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	return os.CopyFS(to, os.DirFS(from))
}
