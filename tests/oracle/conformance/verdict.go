// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"strings"

	"cel.dev/expr/conformance/test"
	"github.com/google/cel-go/common/types"

	"berth.dev/tests/oracle/answers"
)

// Verdict is what comes of a test.
type Verdict int

const (
	// Passes: Berth and cel-go answer what the suite asks for.
	Passes Verdict = iota
	// Refused: the environment lacks what the expression needs, so both refuse it.
	Refused
	// Alike: both give the same other answer.
	Alike
	// OnPurpose: Berth refuses what docs/differences.md says that it refuses.
	OnPurpose
	// NotAsked: the environment can have no such variables.
	NotAsked
	// Differs: Berth and cel-go answer differently.
	Differs
	verdicts
)

// Result is what both sides say to a test.
type Result struct {
	Test         Test
	Verdict      Verdict
	Theirs, Ours Answer
}

// tries are how often cel-go is asked: it goes through a map in random order, so an error and what it costs
// may come early or late.
const tries = 50

// Run asks both sides all that can be asked; program: Berth's cel_answers.
func Run(tests []Test, program string) ([]Result, error) {
	results := make([]Result, len(tests))
	var questions []Question
	var asked []int
	for i, one := range tests {
		results[i] = Result{Test: one, Verdict: NotAsked}
		if q, why := ask(one); why == "" {
			questions, asked = append(questions, q), append(asked, i)
		}
	}
	ours, err := answers.Ask[Question, Answer](program, questions)
	if err != nil {
		return nil, err
	}
	for n, i := range asked {
		r := &results[i]
		r.Ours = ours[n]
		for range tries {
			r.Theirs = Upstream(questions[n])
			if r.Verdict = judge(r.Test, r.Theirs, r.Ours); r.Verdict != Differs {
				break
			}
		}
	}
	return results, nil
}

// satisfies says whether an answer is what the suite asks for.
func satisfies(t Test, a Answer) bool {
	switch want := t.GetResultMatcher().(type) {
	case *test.SimpleTest_EvalError, *test.SimpleTest_AnyEvalErrors:
		return a.Kind == "runtime error"
	case *test.SimpleTest_Unknown, *test.SimpleTest_AnyUnknowns:
		return false
	case *test.SimpleTest_TypedResult:
		deduced, err := types.ProtoAsType(want.TypedResult.GetDeducedType())
		if err != nil || a.Type != deduced.String() {
			return false
		}
		if t.GetCheckOnly() {
			return true
		}
		_, encoded, ok := valueOf(want.TypedResult.GetResult())
		return ok && a.Kind == "value" && canonical(a.Value) == canonical(encoded)
	case *test.SimpleTest_Value:
		_, encoded, ok := valueOf(want.Value)
		return ok && a.Kind == "value" && canonical(a.Value) == canonical(encoded)
	default:
		return a.Kind == "value" && canonical(a.Value) == "bool true"
	}
}

// judge compares the two answers with each other and with the suite.
func judge(t Test, theirs, ours Answer) Verdict {
	if !same(t, theirs, ours) {
		if refusedOnPurpose(ours) {
			return OnPurpose
		}
		return Differs
	}
	switch {
	case satisfies(t, ours):
		return Passes
	case ours.Kind == "compile error":
		return Refused
	default:
		return Alike
	}
}

// refusedOnPurpose knows the errors of messages and of named time zones.
func refusedOnPurpose(ours Answer) bool {
	text := ours.Text()
	return strings.Contains(text, "messages cannot be made") || strings.Contains(text, "unknown time zone")
}

// same says whether the answers are equal. Syntax errors and refused messages have words of their own.
func same(t Test, theirs, ours Answer) bool {
	if t.GetCheckOnly() && theirs.Type == ours.Type && theirs.Type != "" {
		return true
	}
	if theirs.Kind != ours.Kind || theirs.Type != ours.Type {
		return false
	}
	if theirs.Kind == "compile error" {
		return theirs.Text() == ours.Text() || strings.Contains(theirs.Text(), "Syntax error") || refusedOnPurpose(ours)
	}
	return theirs.Text() == ours.Text() && theirs.Cost == ours.Cost
}
