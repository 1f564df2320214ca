// SPDX-License-Identifier: Apache-2.0

package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestRecordMeasuresBerthAgainstItself(t *testing.T) {
	o, err := parse([]string{"-record", "recordings", "-workload", "plain"})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(o.schedulers, []string{berthName, recordingName}) || !filepath.IsAbs(o.record) {
		t.Errorf("it measures %q into %q", o.schedulers, o.record)
	}
	o.variants = []string{stream}
	taken := func(scheduler string, wall time.Duration) measurement {
		return measurement{scheduler: scheduler, variant: stream, kind: o.kinds[0], wall: wall, bound: 101}
	}
	r := o.report([]measurement{taken(berthName, time.Second), taken(recordingName, 2*time.Second)})
	if len(r.Ratios) != 1 || r.Ratios[0].PodsPerSecond != 0.5 || r.Ratios[0].Of != recordingName {
		t.Errorf("the ratios are %+v", r.Ratios)
	}
	r.Replays, err = readReplays([]byte(`{"recording":"a","messages":7,"decisions":3,"identical":true}
{"recording":"b","messages":8,"decisions":3,"differences":2,"identical":false}
`))
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	if err := r.writeTable(&table); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"berth --record / berth", "0.500 x",
		"recording a: 7 messages, 3 decisions, repeated bit for bit\n",
		"recording b: 8 messages, 3 decisions, DIFFERS in 2 decisions\n",
	} {
		if !strings.Contains(table.String(), want) {
			t.Errorf("the table lacks %q:\n%s", want, &table)
		}
	}
}

func TestExplainMeasuresBerthAgainstItself(t *testing.T) {
	o, err := parse([]string{"-explain", "-workload", "plain", "-variants", stream})
	if err != nil {
		t.Fatal(err)
	}
	taken := func(scheduler string, wall time.Duration, explained int) measurement {
		return measurement{scheduler: scheduler, variant: stream, kind: o.kinds[0], wall: wall, bound: 101, explained: explained,
			answers: explained / 10}
	}
	r := o.report([]measurement{taken(berthName, time.Second, 0), taken(explainingName, 1010*time.Millisecond, 70)})
	var table strings.Builder
	if err := r.writeTable(&table); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"berth, explaining / berth", "0.990 x", "plain, stream: 7 answers of why pods are pending were given meanwhile, about 10 pods each"} {
		if !strings.Contains(table.String(), want) {
			t.Errorf("the table lacks %q:\n%s", want, &table)
		}
	}
}

func TestArgumentsThatMakeNoSense(t *testing.T) {
	for _, args := range [][]string{
		{"-record", "r", "-schedulers", "berth"},
		{"-record", "r", "-start"},
		{"-record", "r", "-explain"},
		{"-explain", "-start"},
		{"-explain", "-variants", pending},
		{"-schedulers", recordingName},
		{"-schedulers", explainingName},
		{"-variants", "0/s", "-workload", "plain"},
		{"-variants", "5", "-workload", "plain"},
		{"-variants", "5/s", "-workload", "deployments"},
	} {
		if _, err := parse(args); err == nil {
			t.Errorf("%q is accepted", args)
		}
	}
}
