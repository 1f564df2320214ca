// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"bufio"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"k8s.io/apiserver/pkg/endpoints/request"
)

// exchange is one request and its answer.
type exchange struct {
	proxy   *Proxy
	out     http.ResponseWriter
	request *http.Request
	info    *request.RequestInfo
	fault   Fault
	version uint64 // of the rules by which the fault was drawn
}

func (x *exchange) serve() {
	f := x.fault
	if !f.Late && !x.disturb() {
		return
	}
	response, err := x.proxy.transport.RoundTrip(x.proxy.outgoing(x.request.Context(), x.request, f.Kind == Brief && x.isWatch()))
	if err != nil {
		// What became of the request is not known: a server that is gone breaks connections off.
		x.cut()
		return
	}
	defer response.Body.Close()
	if f.Late && !x.isWatch() {
		_, _ = io.Copy(io.Discard, response.Body)
	}
	if f.Late && !x.disturb() {
		return
	}
	header := x.out.Header()
	for name, values := range response.Header {
		header[name] = values
	}
	header.Del("Connection")
	if f.Kind == Goaway {
		header.Set("Connection", "close")
	}
	x.out.WriteHeader(response.StatusCode)
	x.flush()
	if x.isWatch() && response.StatusCode == http.StatusOK {
		x.copyWatch(response.Body, framingOf(response.Header.Get("Content-Type")))
	} else {
		x.copyBody(response.Body)
	}
}

func (x *exchange) isWatch() bool { return x.info.IsResourceRequest && x.info.Verb == "watch" }

// disturb does what goes before an answer. It says whether to go on.
func (x *exchange) disturb() bool {
	switch x.fault.Kind {
	case Answer:
		x.answer(x.fault)
		return false
	case Delay:
		return x.sleep(x.fault.Delay)
	case Reset:
		x.reset()
	case Cut:
		x.cut()
		return false
	}
	return true
}

// sleep says whether the daemon still waits afterwards. A connection that fell silent meanwhile does not tell.
func (x *exchange) sleep(d time.Duration) bool {
	select {
	case <-time.After(d):
		return !x.conn().silent.Load()
	case <-x.request.Context().Done():
		return false
	}
}

func (x *exchange) answer(f Fault) {
	if f.RetryAfter > 0 {
		x.out.Header().Set("Retry-After", fmt.Sprint(f.RetryAfter))
	}
	x.out.Header().Set("Content-Type", "application/json")
	x.out.WriteHeader(f.Code)
	_ = json.NewEncoder(x.out).Encode(failure(f.Code, f.Reason, "a fault of the test", f.RetryAfter))
}

// reset ends the stream, and the handler with it.
func (x *exchange) reset() { panic(http.ErrAbortHandler) }

func (x *exchange) cut() {
	x.conn().cut(true)
	x.reset()
}

// conn is the connection on which the request came.
func (x *exchange) conn() *conn {
	return x.request.Context().Value(connKey{}).(*tls.Conn).NetConn().(*conn)
}

type connKey struct{}

func (x *exchange) flush() { _ = http.NewResponseController(x.out).Flush() }

// copyBody passes on an answer that ends.
func (x *exchange) copyBody(body io.Reader) {
	text, err := io.ReadAll(body)
	if err != nil {
		x.cut()
		return
	}
	switch x.fault.Kind {
	case Truncate:
		_, _ = x.out.Write(text[:x.proxy.below(len(text)+1)])
		x.flush()
		x.reset()
	case Split:
		x.writeSplit(text)
	default:
		_, _ = x.out.Write(text)
	}
}

func (x *exchange) writeSplit(text []byte) {
	for len(text) > 0 {
		// Few crumbs of a long text, lest it take for ever.
		n := min(len(text), 1+x.proxy.below(max(16, len(text)/50)))
		_, _ = x.out.Write(text[:n])
		x.flush()
		text = text[n:]
	}
}

// copyWatch passes events on. Faults that begin while the watch runs concern it as well.
func (x *exchange) copyWatch(body io.Reader, framing framing) {
	done := x.request.Context().Done()
	frames := make(chan []byte)
	broken := make(chan error, 1)
	go func() {
		for reader := bufio.NewReader(body); ; {
			frame, err := framing.next(reader)
			if err != nil {
				broken <- err
				return
			}
			select {
			case frames <- frame:
			case <-done:
				return
			}
		}
	}()
	for {
		version, changed := x.proxy.state()
		if version != x.version {
			x.version, x.fault = version, x.proxy.draw(x.info)
		}
		var from <-chan []byte = frames
		switch x.fault.Kind {
		case Stall:
			from = nil
		case End:
			return
		case Reset:
			x.reset()
		case Cut:
			x.cut()
		case Expire:
			if event, err := framing.expired(); err == nil {
				_, _ = x.out.Write(event)
			}
			return
		}
		select {
		case frame := <-from:
			if !x.writeFrame(frame, framing) {
				return
			}
		case err := <-broken:
			if err != io.EOF {
				x.cut()
			}
			return
		case <-changed:
		case <-done:
			return
		}
	}
}

// writeFrame says whether the watch goes on.
func (x *exchange) writeFrame(frame []byte, framing framing) bool {
	switch x.fault.Kind {
	case Truncate:
		_, _ = x.out.Write(frame[:x.proxy.below(len(frame))])
		x.flush()
		if x.proxy.below(2) == 0 {
			x.reset()
		}
		return false
	case NoBookmarks:
		if framing.isMereBookmark(frame) {
			return true
		}
	case Delay:
		if !x.sleep(time.Duration(x.proxy.below(int(x.fault.Delay) + 1))) {
			return false
		}
	case Split:
		x.writeSplit(frame)
		return true
	}
	_, _ = x.out.Write(frame)
	x.flush()
	return true
}
