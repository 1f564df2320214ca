// SPDX-License-Identifier: Apache-2.0

package main

import (
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strings"
)

const pluginFolder = "pkg/scheduler/framework/plugins"

var (
	reasonName = regexp.MustCompile(`(?i)^(err|reason)|reason`)
	verb       = regexp.MustCompile(`%[-+#0-9.]*[a-zA-Z]`)
)

// reasons are the texts that plugins give: constants that are named as reasons, and what NewStatus() gets, by folder.
func reasons(v version, _ *berth) (facts, error) {
	files, err := readFolder(v.path("kubernetes", pluginFolder), true)
	if err != nil {
		return nil, err
	}
	found := facts{}
	for _, f := range files {
		folder := path.Dir(f.name)
		for name, value := range stringConstants([]goFile{f}) {
			if reasonName.MatchString(name) {
				found[folder+": "+value] = name
			}
		}
		ast.Inspect(f.tree, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || lastName(call.Fun) != "NewStatus" {
				return true
			}
			for _, argument := range call.Args {
				ast.Inspect(argument, func(n ast.Node) bool {
					if e, ok := n.(ast.Expr); ok {
						if value, ok := literal(e); ok {
							found[folder+": "+value] = "NewStatus"
							return false
						}
					}
					return true
				})
			}
			return true
		})
	}
	return found, nil
}

// noteReason looks for the longest piece of the text between its verbs.
func noteReason(own *berth, r row) string {
	_, reason, _ := strings.Cut(r.Name, ": ")
	longest := ""
	for _, piece := range verb.Split(reason, -1) {
		if len(piece) > len(longest) {
			longest = piece
		}
	}
	quoted := strings.ReplaceAll(strings.TrimSpace(longest), `"`, `\"`)
	if len(quoted) > 3 && strings.Contains(own.strings, quoted) {
		return "has it"
	}
	return "does not have it"
}

// events are the resources that each plugin's EventsToRegister() names, with the actions.
func events(v version, _ *berth) (facts, error) {
	files, err := readFolder(v.path("kubernetes", pluginFolder), true)
	if err != nil {
		return nil, err
	}
	actions := map[string][]string{}
	for _, f := range files {
		ast.Inspect(f.tree, func(n ast.Node) bool {
			event, ok := n.(*ast.CompositeLit)
			if !ok {
				return true
			}
			values := keyed(event)
			if values["Resource"] == nil || values["ActionType"] == nil {
				return true
			}
			name := path.Dir(f.name) + ": " + lastName(values["Resource"])
			action := strings.ReplaceAll(text(f.set, values["ActionType"]), "fwk.", "")
			if !slices.Contains(actions[name], action) {
				actions[name] = append(actions[name], action)
			}
			return true
		})
	}
	found := facts{}
	for name, list := range actions {
		slices.Sort(list)
		found[name] = strings.Join(list, "; ")
	}
	return found, nil
}
