// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
)

// protobufAccept is what Prometheus sends where native histograms are on.
const protobufAccept = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;q=0.6," +
	"application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.2"

// scraped is the page as protobuf, read by Prometheus' own decoder.
func scraped(e *endpoints, path string) map[string]*dto.MetricFamily {
	e.Helper()
	response, body := e.accepting(path, protobufAccept)
	want := "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited; escaping=underscores"
	if have := response.Header.Get("Content-Type"); response.StatusCode != 200 || have != want {
		e.Fatalf("%s: %d, Content-Type %q", path, response.StatusCode, have)
	}
	decoder := expfmt.NewDecoder(strings.NewReader(body), expfmt.ResponseFormat(response.Header))
	families := map[string]*dto.MetricFamily{}
	for {
		var family dto.MetricFamily
		err := decoder.Decode(&family)
		if errors.Is(err, io.EOF) {
			return families
		}
		e.must(err)
		families[family.GetName()] = &family
	}
}

// nativeBucket is one that has something in it.
type nativeBucket struct {
	lower, upper float64
	count        uint64
}

// nativeBuckets reads spans and deltas as the format defines them; bounds of values without their sign.
func nativeBuckets(schema int32, spans []*dto.BucketSpan, deltas []int64) (buckets []nativeBucket) {
	index, count := int32(0), int64(0)
	bound := func(index int32) float64 { return math.Exp2(float64(index) * math.Exp2(-float64(schema))) }
	for _, span := range spans {
		index += span.GetOffset()
		for range span.GetLength() {
			count += deltas[0]
			deltas = deltas[1:]
			if count > 0 {
				buckets = append(buckets, nativeBucket{bound(index - 1), bound(index), uint64(count)})
			}
			index++
		}
	}
	return buckets
}

// checkNative holds the native buckets of a histogram against its count and its classic buckets.
func checkNative(t *testing.T, name string, h *dto.Histogram) {
	t.Helper()
	if h.Schema == nil || h.GetSchema() > 3 || h.GetZeroThreshold() != math.Exp2(-128) || h.ZeroCount == nil {
		t.Errorf("%s: schema %v, zero bucket of %v up to %v", name, h.Schema, h.ZeroCount, h.ZeroThreshold)
		return
	}
	if len(h.NegativeSpan) > 0 {
		t.Errorf("%s: nothing here is negative, and %v is", name, h.NegativeDelta)
	}
	buckets := nativeBuckets(h.GetSchema(), h.PositiveSpan, h.PositiveDelta)
	sum := h.GetZeroCount()
	for _, bucket := range buckets {
		sum += bucket.count
	}
	if sum != h.GetSampleCount() {
		t.Errorf("%s: native buckets hold %d observations of %d", name, sum, h.GetSampleCount())
	}
	for _, classic := range h.Bucket {
		if math.IsInf(classic.GetUpperBound(), 1) {
			t.Errorf("%s: the bucket up to infinity is spelled out, which kube-scheduler's is not", name)
		}
		below, touching := h.GetZeroCount(), h.GetZeroCount()
		for _, bucket := range buckets {
			if bucket.upper <= classic.GetUpperBound() {
				below += bucket.count
			}
			if bucket.lower < classic.GetUpperBound() {
				touching += bucket.count
			}
		}
		if count := classic.GetCumulativeCount(); count < below || count > touching {
			t.Errorf("%s: %d observations up to %v, by the native buckets %d to %d", name, count, classic.GetUpperBound(), below, touching)
		}
	}
}

func TestAScraperThatTakesProtobufGetsNativeHistograms(t *testing.T) {
	began := time.Now().Add(-time.Minute)
	e := serve(t)
	e.manyNodes(3)
	e.manyPods(50, "pod")
	e.must(e.pods.AwaitBound(e.ctx, 50))
	// Counts are published once a second, and the first scrape asks the informers for theirs.
	var text string
	e.eventually("its counts", func() bool {
		_, text = e.accepting("/metrics", "text/plain")
		return strings.Contains(text, "scheduler_pod_scheduling_attempts_count 50") && strings.Contains(text, "berth_informer_lists_total")
	})
	families := scraped(e, "/metrics")
	observed := 0
	for name, family := range families {
		if !strings.Contains(text, "# TYPE "+name+" ") {
			e.Errorf("%s is not in the text", name)
		}
		for _, sample := range family.GetMetric() {
			if family.GetType() != dto.MetricType_HISTOGRAM {
				continue
			}
			// kube-scheduler makes its client's before it has read its gates.
			if strings.HasPrefix(name, "rest_client_") || strings.HasPrefix(name, "apiserver_delegated_") {
				if sample.GetHistogram().Schema != nil {
					e.Errorf("%s has native buckets, which kube-scheduler's has not", name)
				}
				continue
			}
			checkNative(t, name, sample.GetHistogram())
			if created := sample.GetHistogram().GetCreatedTimestamp().AsTime(); created.Before(began) || created.After(time.Now()) {
				e.Errorf("%s counts since %v", name, created)
			}
			if sample.GetHistogram().GetSampleCount() > 0 {
				observed++
			}
		}
	}
	if len(families) < 43 || observed < 6 {
		e.Errorf("%d families, %d histograms with something in them", len(families), observed)
	}
	if slis := scraped(e, "/metrics/slis"); slis["kubernetes_healthchecks_total"] == nil {
		e.Errorf("/metrics/slis has %d families, and no health checks", len(slis))
	}
}

func TestWithTheGateOffHistogramsAreClassicAlone(t *testing.T) {
	e := serve(t, "--feature-gates=NativeHistograms=false")
	histograms := 0
	for name, family := range scraped(e, "/metrics") {
		for _, sample := range family.GetMetric() {
			h := sample.GetHistogram()
			if h == nil {
				continue
			}
			histograms++
			if h.Schema != nil || h.ZeroThreshold != nil || h.PositiveSpan != nil || len(h.Bucket) == 0 {
				e.Errorf("%s: %v", name, h)
			}
		}
	}
	if histograms < 10 {
		e.Errorf("only %d histograms", histograms)
	}
	if strings.Contains(e.daemon.Log(), "NativeHistograms has no effect") {
		e.Errorf("the log says that the gate has no effect")
	}
}
