// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// What a scheduler's behaviour is written in.
var readFolders = [][2]string{
	{"kubernetes", "pkg/scheduler"}, {"kubernetes", "cmd/kube-scheduler"}, {"kube-scheduler", "."},
	{"component-helpers", "nodedeclaredfeatures"}, {"component-helpers", "resource"},
	{"component-helpers", "scheduling"}, {"component-helpers", "storage"}, {"dynamic-resource-allocation", "."},
}

// readingList has a row for each folder with changed sources: the files, with lines added and taken away.
func readingList(older, newer version) ([]row, error) {
	rows := []row{}
	for _, where := range readFolders {
		before, err := sourceNames(older.path(where[0], where[1]))
		if err != nil {
			return nil, err
		}
		after, err := sourceNames(newer.path(where[0], where[1]))
		if err != nil {
			return nil, err
		}
		folders := map[string][]string{}
		names := maps.Clone(before)
		maps.Copy(names, after)
		for _, name := range slices.Sorted(maps.Keys(names)) {
			added, removed, err := lineChanges(older.path(where[0], path.Join(where[1], name)),
				newer.path(where[0], path.Join(where[1], name)))
			if err != nil {
				return nil, err
			}
			if added == 0 && removed == 0 {
				continue
			}
			mark := ""
			if !before[name] {
				mark = "new "
			} else if !after[name] {
				mark = "gone "
			}
			folder := path.Join(where[0], where[1], path.Dir(name))
			folders[folder] = append(folders[folder], fmt.Sprintf("%s%s +%d -%d", mark, path.Base(name), added, removed))
		}
		for _, folder := range slices.Sorted(maps.Keys(folders)) {
			rows = append(rows, row{Change: "changed", Name: folder, To: strings.Join(folders[folder], ", ")})
		}
	}
	return rows, nil
}

// sourceNames are those of a folder and of all below it, but for generated ones; none where it does not exist.
func sourceNames(folder string) (map[string]bool, error) {
	found := map[string]bool{}
	err := filepath.WalkDir(folder, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		below, err := filepath.Rel(folder, name)
		below = filepath.ToSlash(below)
		if err == nil && !entry.IsDir() && isSource(below) && !strings.HasPrefix(entry.Name(), "zz_generated") {
			found[below] = true
		}
		return err
	})
	return found, err
}

// lineChanges counts the lines that only one of two files has; lines that moved are none.
func lineChanges(older, newer string) (added, removed int, err error) {
	count := map[string]int{}
	lines, err := readLines(newer)
	if err != nil {
		return 0, 0, err
	}
	for _, line := range lines {
		count[line]++
	}
	if lines, err = readLines(older); err != nil {
		return 0, 0, err
	}
	for _, line := range lines {
		count[line]--
	}
	for _, n := range count {
		added += max(n, 0)
		removed += max(-n, 0)
	}
	return added, removed, nil
}
