// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// goFile is one source, without its comments.
type goFile struct {
	// From the folder that was read, with slashes.
	name string
	tree *ast.File
	set  *token.FileSet
}

// isSource: no test and nothing that only tests use.
func isSource(name string) bool {
	return strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") &&
		!slices.Contains(strings.Split(name, "/"), "testing")
}

// readFolder parses the sources of a folder, with those below it if `deep`; none where the folder does not exist, as
// folders come and go between versions.
func readFolder(folder string, deep bool) ([]goFile, error) {
	var files []goFile
	set := token.NewFileSet()
	err := filepath.WalkDir(folder, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			if name == folder && errors.Is(err, fs.ErrNotExist) {
				return filepath.SkipAll
			}
			return err
		}
		if entry.IsDir() {
			if name != folder && !deep {
				return filepath.SkipDir
			}
			return nil
		}
		below, err := filepath.Rel(folder, name)
		if err != nil {
			return err
		}
		below = filepath.ToSlash(below)
		if !isSource(below) {
			return nil
		}
		tree, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files = append(files, goFile{below, tree, set})
		return nil
	})
	return files, err
}

// text is an expression's or declaration's source in gofmt's form.
func text(set *token.FileSet, node any) string {
	var out bytes.Buffer
	if err := printer.Fprint(&out, set, node); err != nil {
		return err.Error()
	}
	return out.String()
}

// literal is the value of a string literal, or of several joined by "+".
func literal(expression ast.Expr) (string, bool) {
	switch e := expression.(type) {
	case *ast.BasicLit:
		if e.Kind != token.STRING {
			return "", false
		}
		value, err := strconv.Unquote(e.Value)
		return value, err == nil
	case *ast.BinaryExpr:
		left, ok := literal(e.X)
		right, also := literal(e.Y)
		return left + right, ok && also && e.Op == token.ADD
	}
	return "", false
}

// stringConstants are the constants and variables of the package level that have a literal for a value.
func stringConstants(files []goFile) map[string]string {
	found := map[string]string{}
	for _, f := range files {
		for _, declaration := range f.tree.Decls {
			group, ok := declaration.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, spec := range group.Specs {
				values, ok := spec.(*ast.ValueSpec)
				if !ok {
					continue
				}
				for i, name := range values.Names {
					if i < len(values.Values) {
						if value, ok := literal(values.Values[i]); ok {
							found[name.Name] = value
						}
					}
				}
			}
		}
	}
	return found
}

// lastName is X of X and of package.X, "" of others.
func lastName(expression ast.Expr) string {
	switch e := expression.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}

// keyed are the elements of a composite literal by their keys; nil if they have none.
func keyed(literal *ast.CompositeLit) map[string]ast.Expr {
	found := map[string]ast.Expr{}
	for _, element := range literal.Elts {
		pair, ok := element.(*ast.KeyValueExpr)
		if !ok {
			return nil
		}
		found[lastName(pair.Key)] = pair.Value
	}
	return found
}

// importPath is what `name` stands for in the file, "" if it is no import.
func importPath(f *ast.File, name string) string {
	for _, spec := range f.Imports {
		value, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		if (spec.Name != nil && spec.Name.Name == name) || (spec.Name == nil && path.Base(value) == name) {
			return value
		}
	}
	return ""
}

// readLines are a file's; none where it does not exist.
func readLines(name string) ([]string, error) {
	content, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return strings.Split(string(content), "\n"), err
}
