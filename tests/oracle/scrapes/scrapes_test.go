// SPDX-License-Identifier: Apache-2.0

// Package scrapes holds the unit tests' data about pages of metrics against kube-scheduler's own libraries. To write them
// again:
//
//	BERTH_UPDATE_TESTDATA=1 go -C tests test ./oracle/scrapes/
package scrapes

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math"
	"math/rand"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/component-base/featuregate"
	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/features"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// holds compares the file of a unit test with what it should be, or writes it.
func holds(t *testing.T, want string, path ...string) {
	t.Helper()
	file := filepath.Join(append([]string{"..", "..", "unit"}, path...)...)
	if os.Getenv("BERTH_UPDATE_TESTDATA") != "" {
		must(t, os.MkdirAll(filepath.Dir(file), 0o755))
		must(t, os.WriteFile(file, []byte(want), 0o644))
	}
	have, err := os.ReadFile(file)
	must(t, err)
	if string(have) != want {
		t.Errorf("%s is not what kube-scheduler's libraries say: write it again as the head of this file tells", file)
	}
}

type observed struct {
	name   string
	values []float64
}

// spread has values between two powers of two, in even steps of their logarithms.
func spread(from, to float64, count int) []float64 {
	var values []float64
	for i := range count {
		values = append(values, math.Exp2(from+(to-from)*float64(i)/float64(count)))
	}
	return values
}

func cases() []observed {
	random := rand.New(rand.NewSource(38))
	var durations, bounds, signed, coarsest []float64
	for range 60 {
		durations = append(durations, math.Exp(random.NormFloat64())*0.004)
		signed = append(signed, random.NormFloat64()*100)
	}
	for i := -16; i <= 16; i++ {
		bound := math.Exp2(float64(i) / 8)
		bounds = append(bounds, bound, math.Nextafter(bound, 0), math.Nextafter(bound, math.Inf(1)), math.Ldexp(1, i))
	}
	for _, value := range spread(-120, 1023, 300) {
		coarsest = append(coarsest, value, -value)
	}
	// The limit is looked at with each observation, and then each two buckets become one, once: the last values are repeated
	// until there are few enough.
	again := func(values []float64) []float64 {
		last := values[len(values)-1]
		return append(values, last, last, last, last, last, last, last, last)
	}
	return []observed{
		{"nothing", nil},
		{"durations", durations},
		{"bounds", bounds},
		{"both_signs", signed},
		{"gaps", []float64{1, 1.1, 1.5, 4, 4, 100, 1e6, -1, -1, -3}},
		{"edges", []float64{
			0, math.Copysign(0, -1), 1e-300, -1e-300, math.Ldexp(1, -128), math.Nextafter(math.Ldexp(1, -128), 1),
			-math.Ldexp(1, -128), -math.Nextafter(math.Ldexp(1, -128), 1), 5e-324, math.MaxFloat64, -math.MaxFloat64,
		}},
		{"infinity", []float64{1, math.Inf(1), math.Inf(1)}},
		{"negative_infinity", []float64{1, math.Inf(-1)}},
		{"limit_reached", spread(-10, 10, 160)},
		{"limit_passed", again(spread(-10, 11, 400))},
		{"limit_passed_twice", again(spread(-30, 30, 700))},
		{"coarsest", again(coarsest)},
	}
}

var classicBounds = []float64{0.001, 0.0032, 1, 10, 1048576}

// page registers a counter, a gauge and a histogram for each case with Kubernetes' own wrappers, the gate
// NativeHistograms at its default, and returns their families as they are scraped.
func page(t *testing.T) []*dto.MetricFamily {
	t.Helper()
	gates := featuregate.NewVersionedFeatureGate(version.MustParse("1.37"))
	must(t, features.AddFeatureGates(gates))
	features.ApplyFeatureGates(gates)
	registry := metrics.NewKubeRegistry()
	counter := metrics.NewCounterVec(&metrics.CounterOpts{Name: "c_total", Help: "Counts \"things\".", StabilityLevel: metrics.STABLE},
		[]string{"z", "a"})
	gauge := metrics.NewGauge(&metrics.GaugeOpts{Name: "g", Help: "Is zero.", StabilityLevel: metrics.ALPHA})
	histogram := metrics.NewHistogramVec(&metrics.HistogramOpts{Name: "h", Help: "Observes.", Buckets: classicBounds,
		StabilityLevel: metrics.BETA}, []string{"case"})
	registry.MustRegister(counter, gauge, histogram)
	counter.WithLabelValues("1", "é\n").Add(2.5)
	counter.WithLabelValues("0", "").Add(1)
	gauge.Set(0)
	for _, c := range cases() {
		series := histogram.WithLabelValues(c.name)
		for _, value := range c.values {
			series.Observe(value)
		}
	}
	families, err := registry.Gather()
	must(t, err)
	for _, family := range families {
		for _, sample := range family.GetMetric() {
			created := sample.GetCounter().GetCreatedTimestamp()
			if sample.GetHistogram() != nil {
				created = sample.GetHistogram().GetCreatedTimestamp()
			}
			if created != nil {
				created.Seconds, created.Nanos = 1700000000, 5 // as the unit test has it
			}
		}
	}
	return families
}

func TestPagesAreWrittenAsKubernetesWritesThem(t *testing.T) {
	var text strings.Builder
	text.WriteString("bounds")
	for _, bound := range classicBounds {
		text.WriteString(" " + strconv.FormatFloat(bound, 'x', -1, 64))
	}
	text.WriteString("\n")
	for _, c := range cases() {
		text.WriteString("observe " + c.name)
		for _, value := range c.values {
			text.WriteString(" " + strconv.FormatFloat(value, 'x', -1, 64))
		}
		text.WriteString("\n")
	}
	families := page(t)
	for _, format := range []expfmt.Format{expfmt.NewFormat(expfmt.TypeProtoDelim), expfmt.NewFormat(expfmt.TypeTextPlain)} {
		var written bytes.Buffer
		encoder := expfmt.NewEncoder(&written, format)
		for _, family := range families {
			must(t, encoder.Encode(family))
		}
		fmt.Fprintf(&text, "%s %s\n", map[bool]string{true: "protobuf", false: "text"}[format.FormatType() == expfmt.TypeProtoDelim],
			hex.EncodeToString(written.Bytes()))
	}
	holds(t, text.String(), "metrics", "testdata", "page.txt")
}

// accepts are Accept headers: of Prometheus' releases, of people and of clients that ask for odd things.
var accepts = []string{
	"",
	"*/*",
	"text/plain",
	"text/plain;version=0.0.4",
	"text/plain;version=1.0.0;escaping=allow-utf-8,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
	"text/plain; version=0.0.3",
	"text/html",
	"application/json",
	// Prometheus 2.42 without and with native histograms.
	"application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
	"application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited,application/openmetrics-text;version=1.0.0;q=0.8,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
	// Prometheus 3.
	"application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,application/openmetrics-text;version=0.0.1;q=0.4,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.3,text/plain;version=0.0.4;q=0.2,*/*;q=0.1",
	"application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;q=0.6,application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.2",
	"application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;escaping=underscores;q=0.6",
	"application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;escaping=values",
	"application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;escaping=dots;q=0.1,text/plain;q=0.2",
	"application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;q=0",
	"application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;q=none,text/plain;q=0.1",
	"application/vnd.google.protobuf ; proto = io.prometheus.client.MetricFamily ; encoding = delimited",
	"application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily",
	"application/vnd.google.protobuf;proto=another;encoding=delimited",
	"application/vnd.google.protobuf;encoding=delimited",
	"text/plain;escaping=unknown",
	"text/plain;escaping=allow-utf-8",
	"text/plain/odd, , ;q=1, text",
}

func TestFormatsAreChosenAsKubernetesChoosesThem(t *testing.T) {
	var text strings.Builder
	for _, accept := range accepts {
		header := http.Header{}
		header.Set("Accept", accept)
		fmt.Fprintf(&text, "%s\t%s\n", accept, expfmt.Negotiate(header))
	}
	holds(t, text.String(), "app", "testdata", "metrics_formats.txt")
}
