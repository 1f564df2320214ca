// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"go/ast"
	"slices"
	"strconv"
	"strings"
)

// Where gates that kube-scheduler knows are declared; k8s.io/kubernetes, which may say otherwise, is last.
var gateFolders = [][2]string{
	{"client-go", "features"}, {"component-base", "logs/api/v1"}, {"component-base", "metrics/features"},
	{"component-base", "zpages/features"}, {"apiextensions-apiserver", "pkg/features"}, {"apiserver", "pkg/features"},
	{"kubernetes", "pkg/features"},
}

// Where a scheduler asks for gates.
var askingFolders = [][2]string{
	{"kubernetes", "pkg/scheduler"}, {"kubernetes", "cmd/kube-scheduler"}, {"component-helpers", "."},
	{"dynamic-resource-allocation", "."},
}

// gateText is a gate in words, as in "Beta, on, needs GenericWorkload".
func gateText(stage string, on, locked bool, needs []string) string {
	words := []string{stage, "off"}
	if on {
		words[1] = "on"
	}
	if locked {
		words = append(words, "locked")
	}
	if len(needs) > 0 {
		slices.Sort(needs)
		words = append(words, "needs "+strings.Join(needs, " "))
	}
	return strings.Join(words, ", ")
}

// featureGates are all gates by their names, as the version has them.
func featureGates(v version, _ *berth) (facts, error) { return featureGatesAt(v, v.minor()) }

// featureGatesAt are those that the version has when it emulates an older minor version. A gate that is not there yet is
// PreAlpha.
func featureGatesAt(v version, minor int) (facts, error) {
	specs := map[string]map[string]ast.Expr{}
	needs := map[string][]string{}
	for _, where := range gateFolders {
		files, err := readFolder(v.path(where[0], where[1]), false)
		if err != nil {
			return nil, err
		}
		constants := stringConstants(files)
		nameOf := func(e ast.Expr) string {
			// featuregate.Feature(X) is X.
			if call, ok := e.(*ast.CallExpr); ok && len(call.Args) == 1 {
				e = call.Args[0]
			}
			if value, ok := constants[lastName(e)]; ok {
				return value
			}
			return lastName(e)
		}
		for _, f := range files {
			ast.Inspect(f.tree, func(n ast.Node) bool {
				pair, ok := n.(*ast.KeyValueExpr)
				if !ok || lastName(pair.Key) == "" {
					return true
				}
				list, ok := pair.Value.(*ast.CompositeLit)
				if !ok {
					return true
				}
				if spec, is := specOf(list, minor); is {
					specs[nameOf(pair.Key)] = spec
				} else if names := gateNames(list, nameOf); names != nil {
					needs[nameOf(pair.Key)] = names
				}
				return true
			})
		}
	}
	found := facts{}
	for name, spec := range specs {
		stage := lastName(spec["PreRelease"])
		if spec == nil {
			stage = "PreAlpha"
		} else if stage == "" {
			stage = strings.Trim(fmt.Sprint(spec["PreRelease"]), `"`)
		}
		found[name] = gateText(stage, lastName(spec["Default"]) == "true", lastName(spec["LockToDefault"]) == "true",
			needs[name])
	}
	return found, nil
}

// specOf is what a list of {Version:, Default:, PreRelease:} says of a minor version that need not be compatible with
// more than the one before it, as kube-scheduler by default; nil where it begins later. False of other lists.
func specOf(list *ast.CompositeLit, minor int) (last map[string]ast.Expr, is bool) {
	for _, element := range list.Elts {
		literal, ok := element.(*ast.CompositeLit)
		if !ok {
			return nil, false
		}
		spec := keyed(literal)
		if spec["Default"] == nil || spec["PreRelease"] == nil {
			return nil, false
		}
		if minorOf(spec["Version"]) <= minor && minorOf(spec["MinCompatibilityVersion"]) <= minor-1 {
			last = spec
		}
	}
	return last, len(list.Elts) > 0
}

// minorOf is 37 of version.MustParse("1.37"), 0 of others.
func minorOf(expression ast.Expr) int {
	call, ok := expression.(*ast.CallExpr)
	if !ok || len(call.Args) != 1 {
		return 0
	}
	value, _ := literal(call.Args[0])
	minor, err := strconv.Atoi(strings.TrimPrefix(value, "1."))
	if err != nil {
		return 0
	}
	return minor
}

// gateNames are those of a list of nothing but constants.
func gateNames(list *ast.CompositeLit, nameOf func(ast.Expr) string) []string {
	var names []string
	for _, element := range list.Elts {
		name := nameOf(element)
		if name == "" {
			return nil
		}
		names = append(names, name)
	}
	return names
}

func noteGate(own *berth, r row) string {
	text, known := own.gates[r.Name]
	switch {
	case !known && r.Change == "gone":
		return "gone too"
	case !known:
		return "missing"
	case text == r.To:
		return "as new"
	case text == r.From:
		return "as old"
	}
	return text
}

// askedGates are the gates that the scheduler's sources name as features.X, with the folders that do.
func askedGates(v version, _ *berth) (facts, error) {
	known, err := featureGates(v, nil)
	if err != nil {
		return nil, err
	}
	found := facts{}
	for _, where := range askingFolders {
		files, err := readFolder(v.path(where[0], where[1]), true)
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			ast.Inspect(f.tree, func(n ast.Node) bool {
				selector, ok := n.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				qualifier, ok := selector.X.(*ast.Ident)
				if !ok || !strings.HasSuffix(importPath(f.tree, qualifier.Name), "/features") {
					return true
				}
				if text, is := known[selector.Sel.Name]; is {
					found[selector.Sel.Name] = text
				}
				return true
			})
		}
	}
	return found, nil
}

func noteAskedGate(own *berth, r row) string {
	if own.usedGates[r.Name] {
		return "acts upon it"
	}
	return "does not act upon it"
}
