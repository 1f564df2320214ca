// SPDX-License-Identifier: Apache-2.0

package patterns

import (
	"flag"
	"os"
	"testing"
)

const tables = "../../../src/cel/unicode_tables.cc"

var updateTables = flag.Bool("update-tables", false, "write src/cel/unicode_tables.cc")

func TestUnicodeTablesAreGos(t *testing.T) {
	source := Source()
	if *updateTables {
		if err := os.WriteFile(tables, []byte(source), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(tables)
	if err != nil {
		t.Fatal(err)
	}
	if string(have) != source {
		t.Errorf("%s is not what Go's tables come to: write it again, as its head says", tables)
	}
}
