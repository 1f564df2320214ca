// SPDX-License-Identifier: Apache-2.0

// following lists what changed between two versions of Kubernetes that Berth has to follow:
//
//	go run ./following [-o table|json] 1.36.3 1.37.1
//
// It reads the sources of the modules, which it downloads as Go does, and compiles none of them; the last column says
// what Berth's tree has. docs/following_kubernetes.md says what to do with the list.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"berth.dev/tests/checkout"
)

func main() {
	format := flag.String("o", "table", "table or json")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "Usage: following [-o table|json] FROM TO, as in: following 1.36.3 1.37.1")
	}
	flag.Parse()
	if flag.NArg() != 2 || (*format != "table" && *format != "json") {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(os.Stdout, *format, flag.Arg(0), flag.Arg(1)); err != nil {
		fmt.Fprintln(os.Stderr, "following:", err)
		os.Exit(1)
	}
}

func run(out io.Writer, format, from, to string) error {
	module, err := checkout.Module()
	if err != nil {
		return err
	}
	tables, err := compare(context.Background(), filepath.Dir(module), from, to)
	if err != nil {
		return err
	}
	if format == "json" {
		encoder := json.NewEncoder(out)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		return encoder.Encode(tables)
	}
	return printTables(out, tables)
}

// printTables writes each table below its title, a row in a line: what changed, from what to what, and what Berth has.
func printTables(out io.Writer, tables []table) error {
	w := bufio.NewWriter(out)
	for _, t := range tables {
		fmt.Fprintf(w, "== %s: %d (%s)\n", t.Title, len(t.Rows), t.Where)
		for _, r := range t.Rows {
			line := fmt.Sprintf("%-7s  %s", r.Change, r.Name)
			switch {
			case r.Change == "changed" && r.From != "":
				line += ": " + r.From + " -> " + r.To
			case r.From+r.To != "":
				line += ": " + r.From + r.To
			}
			if r.Berth != "" {
				line += "  [Berth: " + r.Berth + "]"
			}
			fmt.Fprintln(w, strings.ReplaceAll(line, "\n", " "))
		}
		fmt.Fprintln(w)
	}
	return w.Flush()
}
