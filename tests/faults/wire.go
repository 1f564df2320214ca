// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// wire is what lies between the daemon and the proxy: a listener whose connections can be cut, silenced and slowed
// down. TLS is spoken above it. Its methods may be called from any goroutine.
type wire struct {
	net.Listener
	target string // where the API server listens

	refusing atomic.Bool
	silent   atomic.Bool
	slow     atomic.Bool

	mu    sync.Mutex
	conns map[*conn]bool
}

// conn is one connection of the daemon's.
type conn struct {
	net.Conn
	wire   *wire
	silent atomic.Bool
	once   sync.Once
	closed chan struct{}
}

// slowPace is how a slow connection moves: so many bytes at a time.
const (
	slowBytes = 2048
	slowPause = 5 * time.Millisecond
)

func listen(target string) (*wire, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	return &wire{Listener: listener, target: target, conns: map[*conn]bool{}}, nil
}

// Accept takes no connection while there is no server to pass it on to, as if that were there itself.
func (w *wire) Accept() (net.Conn, error) {
	for {
		accepted, err := w.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if w.refusing.Load() || !w.served() {
			reset(accepted)
			continue
		}
		c := &conn{Conn: accepted, wire: w, closed: make(chan struct{})}
		c.silent.Store(w.silent.Load())
		w.mu.Lock()
		w.conns[c] = true
		w.mu.Unlock()
		return c, nil
	}
}

func (w *wire) served() bool {
	probe, err := net.DialTimeout("tcp", w.target, time.Second)
	if err != nil {
		return false
	}
	_ = probe.Close()
	return true
}

func reset(c net.Conn) {
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = c.Close()
}

func (w *wire) all() []*conn {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []*conn
	for c := range w.conns {
		all = append(all, c)
	}
	return all
}

// cut ends all connections: with a reset, or as a peer that closes.
func (w *wire) cut(hard bool) {
	for _, c := range w.all() {
		c.cut(hard)
	}
}

// silence makes a half-open peer of the proxy: what the daemon sends is taken in and passed on no more, and nothing
// comes back, on the connections there are and on new ones.
func (w *wire) silence() {
	w.silent.Store(true)
	for _, c := range w.all() {
		c.silent.Store(true)
	}
}

// speak ends the silence. What was lost in it cannot be made good: connections that were silent are cut.
func (w *wire) speak() {
	w.silent.Store(false)
	for _, c := range w.all() {
		if c.silent.Load() {
			c.cut(true)
		}
	}
}

func (c *conn) cut(hard bool) {
	if hard {
		if tcp, ok := c.Conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
	}
	_ = c.Close()
}

func (c *conn) Read(data []byte) (int, error) {
	slow := c.wire.slow.Load()
	if slow {
		data = data[:min(len(data), slowBytes)]
	}
	n, err := c.Conn.Read(data)
	if slow {
		time.Sleep(slowPause)
	}
	if c.silent.Load() {
		<-c.closed
		return 0, net.ErrClosed
	}
	return n, err
}

func (c *conn) Write(data []byte) (int, error) {
	for written := 0; ; {
		if c.silent.Load() {
			return len(data), nil
		}
		if !c.wire.slow.Load() {
			n, err := c.Conn.Write(data[written:])
			return written + n, err
		}
		n, err := c.Conn.Write(data[written:min(len(data), written+slowBytes)])
		written += n
		if err != nil || written == len(data) {
			return written, err
		}
		time.Sleep(slowPause)
	}
}

func (c *conn) Close() error {
	c.once.Do(func() {
		close(c.closed)
		c.wire.mu.Lock()
		delete(c.wire.conns, c)
		c.wire.mu.Unlock()
	})
	return c.Conn.Close()
}
