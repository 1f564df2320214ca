// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"berth.dev/tests/internal/daemon/workload"
)

const podsPath = "/api/v1/namespaces/a/pods"

// bench is a proxy before a server that counts what it did, and a client of the proxy.
type bench struct {
	*testing.T
	proxy  *Proxy
	client *http.Client
	done   atomic.Int32
	events chan string // of watches
}

func newBench(t *testing.T, http1 bool) *bench {
	b := &bench{T: t, events: make(chan string)}
	upstream := httptest.NewUnstartedServer(http.HandlerFunc(b.serve))
	upstream.EnableHTTP2 = true
	upstream.StartTLS()
	t.Cleanup(upstream.Close)
	certificate := upstream.TLS.Certificates[0]
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate.Certificate[0]})
	key, err := x509.MarshalPKCS8PrivateKey(certificate.PrivateKey)
	b.must(err)
	certFile, keyFile := filepath.Join(t.TempDir(), "crt"), filepath.Join(t.TempDir(), "key")
	b.must(os.WriteFile(certFile, ca, 0o600))
	b.must(os.WriteFile(keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}), 0o600))
	b.proxy, err = NewProxy(Options{
		Upstream: upstream.URL, CA: ca, Token: "real", CertFile: certFile, KeyFile: keyFile, HTTP1: http1, Seed: 1})
	b.must(err)
	t.Cleanup(b.proxy.Close)
	b.proxy.admitTokens("ours")
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(ca)
	b.client = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted}, ForceAttemptHTTP2: !http1}}
	return b
}

func (b *bench) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func (b *bench) serve(w http.ResponseWriter, r *http.Request) {
	b.done.Add(1)
	if r.Header.Get("Authorization") != "Bearer real" {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	if r.URL.Query().Get("watch") == "" {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %s %s", r.Method, r.URL.Path, body)
		return
	}
	w.Header().Set("Content-Type", "application/json;stream=watch")
	_ = http.NewResponseController(w).Flush()
	for {
		select {
		case event := <-b.events:
			fmt.Fprintln(w, event)
			_ = http.NewResponseController(w).Flush()
		case <-r.Context().Done():
			return
		}
	}
}

// ask sends a request with a time limit, and returns code and body.
func (b *bench) ask(method, path, body string) (int, string, error) {
	ctx, cancel := context.WithTimeout(b.Context(), time.Second)
	defer cancel()
	response, err := b.open(ctx, method, path, body)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return response.StatusCode, string(text), err
}

func (b *bench) open(ctx context.Context, method, path, body string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, method, b.proxy.URL()+path, strings.NewReader(body))
	b.must(err)
	request.Header.Set("Authorization", "Bearer ours")
	return b.client.Do(request)
}

func eachProtocol(t *testing.T, test func(b *bench)) {
	for name, http1 := range map[string]bool{"HTTP/2": false, "HTTP/1.1": true} {
		t.Run(name, func(t *testing.T) { test(newBench(t, http1)) })
	}
}

func TestProxyPassesOnWhatNoFaultConcerns(t *testing.T) {
	eachProtocol(t, func(b *bench) {
		b.proxy.add(Rule{Scope{"create", "pods/binding", "b"}, Fault{Kind: Cut}, 1})
		code, body, err := b.ask("POST", podsPath+"/web/binding", "x")
		b.must(err)
		if code != 200 || body != "POST "+podsPath+"/web/binding x" {
			b.Errorf("%d %q", code, body)
		}
		b.proxy.admitTokens("another")
		if code, _, err := b.ask("GET", podsPath, ""); err != nil || code != http.StatusUnauthorized {
			b.Errorf("with a token that is not valid: %d, %v", code, err)
		}
	})
}

func TestProxyFaultsOfRequests(t *testing.T) {
	cases := []struct {
		fault Fault
		code  int // 0: no whole answer
		done  int32
	}{
		{Fault{Kind: Answer, Code: 503}, 503, 0},
		{Fault{Kind: Answer, Code: 500, Late: true}, 500, 1},
		{Fault{Kind: Cut}, 0, 0},
		{Fault{Kind: Cut, Late: true}, 0, 1},
		{Fault{Kind: Reset}, 0, 0},
		{Fault{Kind: Reset, Late: true}, 0, 1},
		{Fault{Kind: Goaway}, 200, 1},
		{Fault{Kind: Split}, 200, 1},
		{Fault{Kind: Delay, Delay: time.Millisecond}, 200, 1},
	}
	eachProtocol(t, func(b *bench) {
		for _, c := range cases {
			before := b.done.Load()
			lift := b.proxy.add(Rule{Scope{Verb: "create", Resource: "pods/binding"}, c.fault, 1})
			code, _, err := b.ask("POST", podsPath+"/web/binding", "x")
			if code != c.code || (err != nil) != (c.code == 0) || b.done.Load()-before != c.done {
				b.Errorf("%s: code %d, %v, done %d times; want %d, done %d times", c.fault, code, err, b.done.Load()-before, c.code, c.done)
			}
			lift()
			if code, _, err := b.ask("POST", podsPath+"/web/binding", "x"); code != 200 {
				b.Errorf("after %s: %d, %v", c.fault, code, err)
			}
		}
	})
}

func TestProxyDeliversNothingThatWasGivenUp(t *testing.T) {
	eachProtocol(t, func(b *bench) {
		b.proxy.add(Rule{Scope{}, Fault{Kind: Delay, Delay: 2 * time.Second}, 1})
		for range 3 {
			ctx, cancel := context.WithTimeout(b.Context(), 10*time.Millisecond)
			if _, err := b.open(ctx, "POST", podsPath+"/web/binding", "x"); !errors.Is(err, context.DeadlineExceeded) {
				b.Errorf("want no answer in time, got %v", err)
			}
			cancel()
		}
		b.proxy.server.Close() // waits for nothing, but ends what waits
		if n := b.done.Load(); n != 0 {
			b.Errorf("%d requests were delivered", n)
		}
	})
}

func TestProxyFaultsOfWatches(t *testing.T) {
	eachProtocol(t, func(b *bench) {
		response, err := b.open(b.Context(), "GET", podsPath+"?watch=1", "")
		b.must(err)
		defer response.Body.Close()
		events := bufio.NewScanner(response.Body)
		// Sends the events in their order; the watch has to deliver `want` alone.
		next := func(want string, sent ...string) {
			b.Helper()
			go func() {
				for _, event := range sent {
					b.events <- event
				}
			}()
			if !events.Scan() || events.Text() != want {
				b.Fatalf("got %q (%v), want %q", events.Text(), events.Err(), want)
			}
		}
		next("one", "one")
		lift := b.proxy.add(Rule{Scope{Verb: "watch"}, Fault{Kind: NoBookmarks}, 1})
		next("two", `{"type":"BOOKMARK"}`, "two")
		lift()
		lift = b.proxy.add(Rule{Scope{Verb: "watch"}, Fault{Kind: Split}, 1})
		next("three", "three")
		lift()
		b.proxy.add(Rule{Scope{Verb: "watch"}, Fault{Kind: Expire}, 1})
		if !events.Scan() || !strings.Contains(events.Text(), `"code":410`) {
			b.Errorf("got %q, want 410", events.Text())
		}
		if events.Scan() || events.Err() != nil {
			b.Errorf("the watch goes on with %q, %v", events.Text(), events.Err())
		}
	})
}

func TestProxyAsAHalfOpenPeer(t *testing.T) {
	eachProtocol(t, func(b *bench) {
		_, _, err := b.ask("GET", podsPath, "")
		b.must(err)
		before := b.done.Load()
		b.proxy.silence()
		if _, _, err := b.ask("POST", podsPath, "x"); err == nil {
			b.Error("a silent peer answers")
		}
		b.proxy.speak()
		// The client may first have to find that its connection is gone.
		b.must(workload.Persist(b.Context(), 5*time.Second, func() error {
			_, _, err := b.ask("GET", podsPath, "")
			return err
		}))
		if n := b.done.Load() - before; n != 1 {
			b.Errorf("%d requests were delivered, want the last one alone", n)
		}
	})
}
