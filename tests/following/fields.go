// SPDX-License-Identifier: Apache-2.0

package main

import (
	"go/ast"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
)

const apiModule, metaModule = "k8s.io/api/", "k8s.io/apimachinery/"

// typeReader walks the types of the API's packages, from kind to field to the field's type.
type typeReader struct {
	version  version
	packages map[string]map[string]declared
	seen     map[string]bool
	found    facts
}

// declared is one type with the file that imports what it names.
type declared struct {
	file       goFile
	expression ast.Expr
}

// apiFields are the fields of all types of which the kinds that Berth reads are made: "core/v1 PodSpec.nodeName".
func apiFields(v version, own *berth) (facts, error) {
	r := typeReader{v, map[string]map[string]declared{}, map[string]bool{}, facts{}}
	for _, kind := range own.kinds {
		if err := r.walk(apiModule+kind[0]+"/"+kind[1], kind[2]); err != nil {
			return nil, err
		}
	}
	return r.found, nil
}

// types are those of a package, by name; none where the version does not have it.
func (r *typeReader) types(importPath string) (map[string]declared, error) {
	if known, ok := r.packages[importPath]; ok {
		return known, nil
	}
	module, below, ok := "", "", false
	if below, ok = strings.CutPrefix(importPath, apiModule); ok {
		module = "api"
	} else if below, ok = strings.CutPrefix(importPath, metaModule); ok {
		module = "apimachinery"
	} else if below, ok = strings.CutPrefix(importPath, "k8s.io/kube-scheduler/"); ok {
		module = "kube-scheduler"
	} else if below, ok = strings.CutPrefix(importPath, "k8s.io/component-base/"); ok {
		module = "component-base"
	} else {
		return nil, nil
	}
	files, err := readFolder(r.version.path(module, below), false)
	if err != nil {
		return nil, err
	}
	found := map[string]declared{}
	for _, f := range files {
		for _, declaration := range f.tree.Decls {
			group, ok := declaration.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, spec := range group.Specs {
				if named, ok := spec.(*ast.TypeSpec); ok {
					found[named.Name.Name] = declared{f, named.Type}
				}
			}
		}
	}
	r.packages[importPath] = found
	return found, nil
}

// walk records the fields of a struct and those of its fields' types.
func (r *typeReader) walk(importPath, name string) error {
	if r.seen[importPath+" "+name] {
		return nil
	}
	r.seen[importPath+" "+name] = true
	types, err := r.types(importPath)
	if err != nil {
		return err
	}
	d, ok := types[name]
	if !ok {
		return nil
	}
	owner := path.Base(path.Dir(importPath)) + "/" + path.Base(importPath) + " " + name
	return r.fieldsOf(owner, importPath, d)
}

// fieldsOf records those of an inlined struct as the owner's, as JSON has them.
func (r *typeReader) fieldsOf(owner, importPath string, d declared) error {
	structure, ok := d.expression.(*ast.StructType)
	if !ok {
		return r.follow(importPath, d.file, d.expression)
	}
	for _, field := range structure.Fields.List {
		name, options := "", ""
		if field.Tag != nil {
			tag := reflect.StructTag(strings.Trim(field.Tag.Value, "`")).Get("json")
			name, options, _ = strings.Cut(tag, ",")
		}
		unexported := len(field.Names) > 0 && !field.Names[0].IsExported()
		if name == "-" || unexported {
			continue
		}
		if name == "" && (len(field.Names) == 0 || strings.Contains(options, "inline")) {
			if err := r.inline(owner, importPath, d.file, field.Type); err != nil {
				return err
			}
			continue
		}
		if name == "" && len(field.Names) > 0 {
			name = field.Names[0].Name
		}
		r.found[owner+"."+name] = text(d.file.set, field.Type)
		if err := r.follow(importPath, d.file, field.Type); err != nil {
			return err
		}
	}
	return nil
}

func (r *typeReader) inline(owner, importPath string, f goFile, expression ast.Expr) error {
	where, name := resolve(importPath, f, expression)
	types, err := r.types(where)
	if err != nil || name == "TypeMeta" {
		return err
	}
	if d, ok := types[name]; ok {
		return r.fieldsOf(owner, where, d)
	}
	return nil
}

// follow walks the types that an expression names.
func (r *typeReader) follow(importPath string, f goFile, expression ast.Expr) error {
	switch e := expression.(type) {
	case *ast.StarExpr:
		return r.follow(importPath, f, e.X)
	case *ast.ArrayType:
		return r.follow(importPath, f, e.Elt)
	case *ast.MapType:
		return r.follow(importPath, f, e.Value)
	case *ast.Ident, *ast.SelectorExpr:
		where, name := resolve(importPath, f, e)
		return r.walk(where, name)
	}
	return nil
}

// resolve is the package and name of X or package.X.
func resolve(importPathHere string, f goFile, expression ast.Expr) (string, string) {
	switch e := expression.(type) {
	case *ast.StarExpr:
		return resolve(importPathHere, f, e.X)
	case *ast.Ident:
		return importPathHere, e.Name
	case *ast.SelectorExpr:
		if qualifier, ok := e.X.(*ast.Ident); ok {
			return importPath(f.tree, qualifier.Name), e.Sel.Name
		}
	}
	return "", ""
}

func noteField(own *berth, r row) string {
	_, name, _ := strings.Cut(r.Name, " ")
	owner, field, _ := strings.Cut(name, ".")
	fields, known := own.fields[owner]
	switch {
	case !known:
		return "no table"
	case fields[field]:
		return "read"
	}
	return "not read"
}

// apiVersions are those of the groups of which Berth reads kinds: "scheduling/v1beta1".
func apiVersions(v version, own *berth) (facts, error) {
	found := facts{}
	for _, kind := range own.kinds {
		entries, err := os.ReadDir(v.path("api", kind[0]))
		if err != nil {
			return nil, err
		}
		for _, entry := range entries {
			if _, err := os.Stat(filepath.Join(v.path("api", kind[0]), entry.Name(), "types.go")); err == nil {
				found[kind[0]+"/"+entry.Name()] = ""
			}
		}
	}
	return found, nil
}

func noteVersion(own *berth, r row) string {
	var kinds []string
	for _, kind := range own.kinds {
		if kind[0]+"/"+kind[1] == r.Name {
			kinds = append(kinds, kind[2])
		}
	}
	if kinds == nil {
		return "not read"
	}
	slices.Sort(kinds)
	return "read: " + strings.Join(kinds, ", ")
}
