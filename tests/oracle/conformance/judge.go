// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"encoding/hex"
	"fmt"
	"strings"

	celpb "cel.dev/expr"
	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/ext"
	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/cel/environment"
)

// Variable is one of a question's.
type Variable struct {
	Name  string `json:"name"`
	Type  string `json:"type"`
	Value any    `json:"value"`

	celType *cel.Type
	val     ref.Val
}

// Question is a test as both sides are asked it.
type Question struct {
	Expression string     `json:"expression"`
	Variables  []Variable `json:"variables"`
}

// Answer is what a side says.
type Answer struct {
	// value, compile error, runtime error, panic
	Kind  string `json:"kind"`
	Type  string `json:"type"`
	Value any    `json:"value"`
	// In hexadecimal digits.
	Error string `json:"error"`
	Cost  uint64 `json:"cost"`
}

// Text is the answer in one line.
func (a Answer) Text() string {
	if a.Kind == "value" {
		return canonical(a.Value)
	}
	message, _ := hex.DecodeString(a.Error)
	return a.Kind + ": " + strings.ReplaceAll(string(message), "\n", "\\n")
}

// ask makes a question of a test; why: it cannot be asked, as the environment cannot have such variables.
func ask(t Test) (q Question, why string) {
	q = Question{Expression: t.GetExpr(), Variables: []Variable{}}
	for _, decl := range t.GetTypeEnv() {
		if decl.GetFunction() != nil {
			return q, "functions of its own"
		}
		celType, err := types.ProtoAsType(decl.GetIdent().GetType())
		if err != nil {
			return q, "a type that cel-go does not know"
		}
		if strings.Contains(decl.GetName(), ".") {
			return q, "variables whose names have a dot"
		}
		name := typeName(celType)
		if strings.Contains(name, ".") || strings.Contains(name, "wrapper") {
			return q, "variables that are messages"
		}
		variable := Variable{Name: decl.GetName(), Type: name, Value: map[string]any{"null": true}, celType: celType}
		if binding, ok := t.GetBindings()[decl.GetName()]; ok {
			if variable.val, variable.Value, ok = valueOf(binding.GetValue()); !ok {
				return q, "variables that are messages"
			}
		} else if !t.GetCheckOnly() {
			return q, "variables without a value"
		}
		q.Variables = append(q.Variables, variable)
	}
	for name := range t.GetBindings() {
		declared := false
		for _, variable := range q.Variables {
			declared = declared || variable.Name == name
		}
		if !declared {
			return q, "variables without a type"
		}
	}
	return q, ""
}

// typeName is a type as Berth's declarations write it; what else has a dot is a message.
func typeName(t *cel.Type) string {
	return strings.NewReplacer("google.protobuf.Timestamp", "timestamp", "google.protobuf.Duration", "duration",
		"null_type", "null", "google.protobuf.Any", "any").Replace(t.String())
}

func valueOf(value *celpb.Value) (val ref.Val, encoded any, ok bool) {
	val, err := cel.ProtoAsValue(types.DefaultTypeAdapter, value)
	if err != nil {
		return nil, nil, false
	}
	encoded, ok = encode(val)
	return val, encoded, ok
}

// Upstream's answer: as k8s.io/dynamic-resource-allocation/cel compiles and evaluates, with the question's
// variables in place of the device.
func Upstream(q Question) (answer Answer) {
	defer func() {
		if r := recover(); r != nil {
			answer = failed("panic", fmt.Sprint(r))
		}
	}()
	options := []cel.EnvOption{ext.Bindings(ext.BindingsVersion(0))}
	values := map[string]any{}
	for _, variable := range q.Variables {
		options = append(options, cel.Variable(variable.Name, variable.celType))
		if variable.val != nil {
			values[variable.Name] = variable.val
		}
	}
	set, err := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()).Extend(
		environment.VersionedOptions{IntroducedVersion: version.MajorMinor(1, 31), EnvOptions: options})
	if err != nil {
		return failed("panic", err.Error())
	}
	env := set.StoredExpressionsEnv()
	ast, issues := env.Compile(q.Expression)
	if issues != nil {
		return failed("compile error", "compilation failed: "+issues.String())
	}
	program, err := env.Program(ast, cel.CostLimit(resourceapi.CELSelectorExpressionMaxCost))
	if err != nil {
		return failed("compile error", "program instantiation failed: "+err.Error())
	}
	result, details, err := program.ContextEval(context.Background(), values)
	answer.Type = ast.OutputType().String()
	if details != nil && details.ActualCost() != nil {
		answer.Cost = *details.ActualCost()
	}
	if err != nil {
		answer.Kind, answer.Error = "runtime error", hex.EncodeToString([]byte(err.Error()))
		return answer
	}
	answer.Kind = "value"
	var ok bool
	if answer.Value, ok = encode(result); !ok {
		answer.Value = map[string]any{"other": hex.EncodeToString([]byte(fmt.Sprint(result)))}
	}
	return answer
}

func failed(kind, message string) Answer {
	return Answer{Kind: kind, Error: hex.EncodeToString([]byte(message))}
}
