// SPDX-License-Identifier: Apache-2.0

package progress

import (
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestTheRestIsEstimatedFromTheFirstMoment(t *testing.T) {
	e := Estimate{Total: 600, PerSecond: 2}
	for _, c := range []struct {
		done    float64
		elapsed time.Duration
		want    time.Duration
	}{
		{0, 0, 5 * time.Minute},
		{60, 30 * time.Second, 270 * time.Second},              // as fast as was expected
		{30, 30 * time.Second, 380 * time.Second},              // half as fast: it is believed by half
		{300, 10 * time.Minute, 525 * time.Second},             // by now what was expected hardly counts
		{600, 10 * time.Minute, 0}, {700, 10 * time.Minute, 0}, // more than there was to do
	} {
		if got := e.Left(c.done, c.elapsed); got != c.want {
			t.Errorf("after %s, %v of %v done: %s left, want %s", c.elapsed, c.done, e.Total, got, c.want)
		}
	}
}

func TestWhatIsLeftIsToldInWords(t *testing.T) {
	for _, c := range []struct {
		share float64
		left  time.Duration
		want  string
	}{
		{0, 5 * time.Minute, " 0 %, about 5 min left"},
		{0.379, 70 * time.Second, "37 %, about 1 min left"},
		{0.379, 100 * time.Second, "37 %, about 2 min left"},
		{0.999, 50 * time.Second, "99 %, less than a minute left"},
	} {
		if got := describe(c.share, c.left); got != c.want {
			t.Errorf("%v, %s: %q, want %q", c.share, c.left, got, c.want)
		}
	}
}

// text may be written by one goroutine and read by another.
type text struct {
	mu      sync.Mutex
	written strings.Builder
}

func (w *text) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.written.Write(p)
}

func (w *text) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.written.String()
}

func TestElsewhereThanOnATerminalALineIsThereSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out text
		done := 30.0
		stop := Watch(&out, "Building", func() (float64, Estimate) { return done, Estimate{Total: 120, PerSecond: 1} })
		time.Sleep(3 * time.Second)
		want := "Building: 25 %, less than a minute left\n"
		if got := out.String(); got != want {
			t.Errorf("after 3 s: %q, want %q", got, want)
		}
		time.Sleep(30 * time.Second)
		want += "Building: 25 %, about 2 min left\n"
		if got := out.String(); got != want {
			t.Errorf("after 33 s: %q, want %q", got, want)
		}
		stop()
	})
}

func TestAShortStepIsNotTold(t *testing.T) {
	var out text
	Watch(&out, "Building", func() (float64, Estimate) { return 0, Estimate{Total: 1, PerSecond: 1} })()
	if out.String() != "" {
		t.Errorf("it says %q", out.String())
	}
}
