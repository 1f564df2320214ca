// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth.dev/tests/controlplane"
)

// tokens are new ones of a service account, good for an hour.
func (e *env) tokens(count int) (tokens []string) {
	e.Helper()
	accounts := shared.Client(controlplane.Admin).CoreV1().ServiceAccounts(e.namespace)
	account, err := accounts.Create(e.ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "scraper"}}, metav1.CreateOptions{})
	e.must(err)
	for i := range count {
		seconds := int64(3600 + i) // no two alike
		request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds}}
		answer, err := accounts.CreateToken(e.ctx, account.Name, request, metav1.CreateOptions{})
		e.must(err)
		tokens = append(tokens, answer.Status.Token)
	}
	return tokens
}

// from makes connections from an address of this machine.
func from(address string) *http.Client {
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
	return &http.Client{
		Timeout: 20 * time.Second,
		Transport: &http.Transport{
			DialContext:         dialer.DialContext,
			TLSClientConfig:     &tls.Config{InsecureSkipVerify: true},
			MaxIdleConnsPerHost: 200,
		},
	}
}

func TestTokensThatOneAddressMakesUpKeepNoScraperOut(t *testing.T) {
	if program.Peer {
		t.Skip("kube-scheduler asks without a bound")
	}
	e := serve(t)
	tokens := e.tokens(40)
	ctx, cancel := context.WithCancel(e.ctx)
	flood, sent, refused := from("127.0.0.2"), atomic.Int64{}, atomic.Int64{}
	var clients sync.WaitGroup
	for i := range 120 {
		clients.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				request, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("https://127.0.0.1:%d/metrics", e.port), nil)
				if err != nil {
					return
				}
				request.Header.Set("Authorization", fmt.Sprintf("Bearer made-up-%d-%d", i, n))
				response, err := flood.Do(request)
				if err != nil {
					continue
				}
				_, _ = io.Copy(io.Discard, response.Body)
				response.Body.Close()
				sent.Add(1)
				if response.StatusCode == http.StatusTooManyRequests {
					refused.Add(1)
				}
			}
		})
	}
	e.eventually("more tokens than are asked about at once", func() bool { return refused.Load() > 1000 })
	kept := 0
	var longest time.Duration
	for _, token := range tokens {
		began := time.Now()
		code, body := e.get(e.client(), "/metrics", token)
		longest = max(longest, time.Since(began))
		switch code {
		case http.StatusForbidden: // it is known whose token that is, and he has no rights here
		case http.StatusTooManyRequests:
			kept++
		default:
			e.Errorf("a good token: %d %.200s", code, body)
		}
		e.letPass(50 * time.Millisecond)
	}
	cancel()
	clients.Wait()
	e.Logf("%d made-up tokens, of which %d were refused unasked; a good one took %v at most", sent.Load(), refused.Load(), longest)
	if kept > 0 {
		e.Errorf("%d of %d good tokens were refused", kept, len(tokens))
	}
}
