// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/sha256"
	"fmt"
	"go/ast"
	"regexp"
	"strings"
)

// configFields are those of KubeSchedulerConfiguration v1 and of the plugins' args.
func configFields(v version, _ *berth) (facts, error) {
	const where = "k8s.io/kube-scheduler/config/v1"
	r := typeReader{v, map[string]map[string]declared{}, map[string]bool{}, facts{}}
	types, err := r.types(where)
	if err != nil {
		return nil, err
	}
	for name := range types {
		if err := r.walk(where, name); err != nil {
			return nil, err
		}
	}
	return r.found, nil
}

func noteConfigField(own *berth, r row) string {
	_, field, _ := strings.Cut(r.Name, ".")
	if own.config[field] {
		return "some source names it"
	}
	return "no source names it"
}

// functions are a folder's, by file and name: how long each is, and a digest, so that any change of it shows.
func functions(folder, shown string, deep bool, wanted *regexp.Regexp, found facts) error {
	files, err := readFolder(folder, deep)
	if err != nil {
		return err
	}
	for _, f := range files {
		for _, declaration := range f.tree.Decls {
			function, ok := declaration.(*ast.FuncDecl)
			if !ok || !wanted.MatchString(function.Name.Name) || strings.Contains(f.name, "zz_generated") {
				continue
			}
			body := text(f.set, function)
			name := function.Name.Name
			if function.Recv != nil {
				name = strings.TrimPrefix(text(f.set, function.Recv.List[0].Type), "*") + "." + name
			}
			found[shown+f.name+" "+name] = fmt.Sprintf("%d lines, %.3x", strings.Count(body, "\n")+1,
				sha256.Sum256([]byte(body)))
		}
	}
	return nil
}

var anyName = regexp.MustCompile("")

func configFunctions(v version, _ *berth) (facts, error) {
	found := facts{}
	for _, folder := range []string{"v1", "validation", "latest", "scheme"} {
		err := functions(v.path("kubernetes", "pkg/scheduler/apis/config/"+folder), folder+"/", false, anyName, found)
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// validation are the functions that check objects which a scheduler reads.
func validation(v version, _ *berth) (facts, error) {
	found := facts{}
	for _, group := range []string{"core", "resource", "scheduling", "policy", "storage"} {
		err := functions(v.path("kubernetes", "pkg/apis/"+group+"/validation"), group+"/", false, anyName, found)
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

var hintName = regexp.MustCompile(`(?i)^(isSchedulableAfter\w*|EventsToRegister|\w*QueueingHint\w*)$`)

// hints are the functions that say whether an event can help a pod.
func hints(v version, _ *berth) (facts, error) {
	found := facts{}
	return found, functions(v.path("kubernetes", "pkg/scheduler/framework/plugins"), "", true, hintName, found)
}

// defaultPlugins are those that default_plugins.go names, with their weights; gates decide over some.
func defaultPlugins(v version, _ *berth) (facts, error) {
	names, err := readFolder(v.path("kubernetes", "pkg/scheduler/framework/plugins/names"), false)
	if err != nil {
		return nil, err
	}
	constants := stringConstants(names)
	files, err := readFolder(v.path("kubernetes", "pkg/scheduler/apis/config/v1"), false)
	if err != nil {
		return nil, err
	}
	found := facts{}
	for _, f := range files {
		ast.Inspect(f.tree, func(n ast.Node) bool {
			composite, ok := n.(*ast.CompositeLit)
			if !ok {
				return true
			}
			values := keyed(composite)
			name, ok := constants[lastName(values["Name"])]
			if !ok {
				return true
			}
			found[name] = "no weight"
			if weight := values["Weight"]; weight != nil {
				found[name] = text(f.set, weight)
			}
			return true
		})
	}
	return found, nil
}

// flags are those that kube-scheduler declares itself, each with its default and help.
func flags(v version, _ *berth) (facts, error) {
	files, err := readFolder(v.path("kubernetes", "cmd/kube-scheduler"), true)
	if err != nil {
		return nil, err
	}
	found := facts{}
	for _, f := range files {
		ast.Inspect(f.tree, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || !strings.HasSuffix(lastName(call.Fun), "Var") || len(call.Args) < 4 {
				return true
			}
			if name, ok := literal(call.Args[1]); ok {
				found["--"+name] = text(f.set, call.Args[2]) + "; " + text(f.set, call.Args[3])
			}
			return true
		})
	}
	return found, nil
}

func noteFlag(own *berth, r row) string {
	for word := range own.flags {
		if strings.Contains(word, strings.TrimPrefix(r.Name, "--")) {
			return "known"
		}
	}
	return "unknown"
}
