// SPDX-License-Identifier: Apache-2.0

// Command report puts the figures that benchmarks left as JSON into docs/performance.md, and draws
// docs/performance.svg from them.
//
//	go run ./bench/report -results bench/results -docs ../docs
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	results := flag.String("results", "bench/results", "folder of engine.json, cluster.json, claims.json, latency.json, wide.json, start.json and scale.json; what is absent is left out")
	docs := flag.String("docs", "../docs", "folder of performance.md and performance.svg")
	flag.Parse()
	if err := run(*results, *docs); err != nil {
		fmt.Fprintln(os.Stderr, "report:", err)
		os.Exit(1)
	}
}

func run(results, docs string) error {
	var r figures
	if err := r.readEngine(filepath.Join(results, "engine.json")); err != nil {
		return err
	}
	for name, value := range map[string]any{"cluster": &r.cluster, "claims": &r.claims, "latency": &r.latency, "wide": &r.wide, "start": &r.start, "scale": &r.scale} {
		if err := readJSON(filepath.Join(results, name+".json"), value); err != nil {
			return err
		}
	}
	page := filepath.Join(docs, "performance.md")
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	for name, table := range map[string]string{
		"engine": r.engineTable(), "cluster": r.cluster.table(), "claims": r.claims.table(), "latency": r.latency.table(), "wide": r.wide.table(), "start": r.startTable(), "scale": r.scaleTable(),
	} {
		if table == "" {
			continue
		}
		if text, err = replaceSection(text, name, table); err != nil {
			return fmt.Errorf("%s: %w", page, err)
		}
	}
	if err := os.WriteFile(page, text, 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(docs, "performance.svg"), r.plot(), 0o644)
}

// replaceSection puts the table between the marks "<!-- NAME -->" and "<!-- end -->".
func replaceSection(text []byte, name, table string) ([]byte, error) {
	begin, end := []byte("<!-- "+name+" -->\n"), []byte("<!-- end -->")
	before, rest, ok := bytes.Cut(text, begin)
	if !ok {
		return nil, fmt.Errorf("there is no mark %q", begin)
	}
	_, after, ok := bytes.Cut(rest, end)
	if !ok {
		return nil, fmt.Errorf("the mark of %s has no end", name)
	}
	return bytes.Join([][]byte{before, begin, []byte(table), end, after}, nil), nil
}

// readJSON leaves value alone where there is no such file.
func readJSON(file string, value any) error {
	text, err := os.ReadFile(file)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, value); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}
