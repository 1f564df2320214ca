// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"

	"berth.dev/tests/controlplane"
)

const protobufAccept = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited"

// scrape asks a scheduler on loopback as the admin, and returns Content-Type and body.
func scrape(t *testing.T, port int, path, accept string) (contentType, body string) {
	t.Helper()
	admin, err := shared.RESTConfig(controlplane.Admin)
	must(t, err)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, fmt.Sprintf("https://127.0.0.1:%d%s", port, path), nil)
	must(t, err)
	request.Header.Set("Authorization", "Bearer "+admin.BearerToken)
	if accept != "" {
		request.Header.Set("Accept", accept)
	}
	response, err := anyCertificate.Do(request)
	must(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	must(t, err)
	if response.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: %d: %s", path, response.StatusCode, text)
	}
	return response.Header.Get("Content-Type"), string(text)
}

// messages reads a page of protobuf.
func messages(t *testing.T, page string) map[string]*dto.MetricFamily {
	t.Helper()
	decoder := expfmt.NewDecoder(strings.NewReader(page), expfmt.NewFormat(expfmt.TypeProtoDelim))
	families := map[string]*dto.MetricFamily{}
	for {
		var family dto.MetricFamily
		err := decoder.Decode(&family)
		if errors.Is(err, io.EOF) {
			return families
		}
		must(t, err)
		families[family.GetName()] = &family
	}
}

// shape says which fields the samples of a family have, and what does not depend on what was observed.
func shape(family *dto.MetricFamily) string {
	sample := family.GetMetric()[0]
	counter, histogram := sample.GetCounter(), sample.GetHistogram()
	text := fmt.Sprintf("%v counter %v gauge %v", family.GetType(), counter != nil, sample.GetGauge() != nil)
	if counter != nil {
		text += fmt.Sprintf(" created %v", counter.CreatedTimestamp != nil)
	}
	if histogram != nil {
		text += fmt.Sprintf(" created %v, %d classic buckets, native %v with zero up to %v, sample count %v", histogram.CreatedTimestamp != nil,
			len(histogram.GetBucket()), histogram.Schema != nil, histogram.GetZeroThreshold(), histogram.SampleCount != nil)
	}
	return text
}

func TestScrapesAreNegotiatedAndWrittenAsKubeSchedulersAre(t *testing.T) {
	peer, err := shared.StartScheduler(t.Context(), "")
	must(t, err)
	t.Cleanup(peer.Stop)
	_, port := startShipped(t)
	busy(t, "scrapes-peer", "default-scheduler")
	busy(t, "scrapes", "berth")
	compared, native := 0, 0
	for _, path := range []string{"/metrics", "/metrics/resources", "/metrics/slis"} {
		for _, accept := range []string{
			"", "*/*", "text/plain;version=0.0.4;escaping=allow-utf-8", "application/openmetrics-text;version=1.0.0", protobufAccept,
			protobufAccept + ";escaping=allow-utf-8;q=0.6,text/plain;q=0.3", protobufAccept + ";q=0.1,text/plain;q=0.3",
		} {
			ours, _ := scrape(t, port, path, accept)
			theirs, _ := scrape(t, peer.Port(), path, accept)
			if ours != theirs {
				t.Errorf("%s, Accept %q: Content-Type %q, kube-scheduler's %q", path, accept, ours, theirs)
			}
		}
		_, ours := scrape(t, port, path, protobufAccept)
		_, theirs := scrape(t, peer.Port(), path, protobufAccept)
		if path == "/metrics/resources" && ours != theirs {
			t.Errorf("%s differs: %d bytes, kube-scheduler's %d", path, len(ours), len(theirs))
		}
		have, want := messages(t, ours), messages(t, theirs)
		for name, family := range have {
			other, ok := want[name]
			if !ok {
				continue
			}
			compared++
			if family.GetMetric()[0].GetHistogram().GetSchema() != 0 {
				native++
			}
			if shape(family) != shape(other) {
				t.Errorf("%s: %s is\n%s\nkube-scheduler's\n%s", path, name, shape(family), shape(other))
			}
		}
	}
	if compared < 40 || native < 8 {
		t.Errorf("compared %d metrics only, %d with native buckets", compared, native)
	}
}

func TestPrometheusReadsNativeHistograms(t *testing.T) {
	_, port := startShipped(t)
	busy(t, "native", "berth")
	p := startPrometheus(t, port, scraper(t), ruleGroups{}, "--enable-feature=native-histograms")
	for _, expr := range []string{
		`histogram_count(scheduler_scheduling_attempt_duration_seconds{job="berth",result="scheduled"}) >= 2`,
		`histogram_sum(scheduler_scheduling_attempt_duration_seconds{job="berth",result="scheduled"}) > 0`,
		`histogram_quantile(0.99, scheduler_scheduling_attempt_duration_seconds{job="berth",result="scheduled"}) > 0`,
		// Both pods were placed at their first attempt: a native bucket is exact there.
		`histogram_quantile(0.5, scheduler_pod_scheduling_attempts{job="berth"}) <= 1`,
		`histogram_fraction(0, 1, scheduler_pod_scheduling_attempts{job="berth"}) > 0.9`,
		// Counters and gauges come in the same messages.
		`scheduler_schedule_attempts_total{job="berth",result="scheduled"} >= 2`,
		`process_resident_memory_bytes{job="berth"} > 0`,
	} {
		if found, err := p.query(expr); err != nil || found == 0 {
			t.Errorf("%s: %d series, %v", expr, found, err)
		}
	}
	// Else classic buckets were read, not native ones.
	if found, err := p.query(`{__name__="scheduler_scheduling_attempt_duration_seconds_bucket"}`); err != nil || found != 0 {
		t.Errorf("%d classic buckets, %v", found, err)
	}
}
