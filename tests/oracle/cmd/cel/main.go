// SPDX-License-Identifier: Apache-2.0

// Command cel asks Berth and kube-scheduler's own evaluator the same random expressions about random
// devices, and compares: whether they compile, result, error and cost.
//
//	go run ./oracle/cmd/cel --answers ../.build/quick/bin/cel_answers --count 20000
package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"

	"berth.dev/tests/oracle/answers"
	"berth.dev/tests/oracle/expressions"
)

func main() {
	program := flag.String("answers", "../.build/quick/bin/cel_answers", "the program that gives Berth's answers")
	count := flag.Int("count", 20000, "how many expressions")
	seed := flag.Uint64("seed", 1, "where the random numbers begin")
	show := flag.Int("show", 5, "how many differences of a sort are shown")
	one := flag.String("expression", "", "only this one, about one random device; prints both answers")
	flag.Parse()
	differ, err := run(*program, *count, *seed, *show, *one)
	if err != nil {
		fmt.Fprintln(os.Stderr, "cel:", err)
		os.Exit(2)
	}
	if differ {
		os.Exit(1)
	}
}

func questions(count int, seed uint64, one string) []expressions.Question {
	g := &expressions.Generator{Rand: rand.New(rand.NewPCG(seed, 0))}
	if one != "" {
		return []expressions.Question{{Expression: one, Device: g.Device()}}
	}
	asked := make([]expressions.Question, 0, count)
	for range count {
		expression, derived := g.Expression()
		asked = append(asked, expressions.Question{Expression: expression, Derived: derived, Device: g.Device()})
	}
	return asked
}

func run(program string, count int, seed uint64, show int, one string) (differ bool, err error) {
	asked := questions(count, seed, one)
	ours, err := answers.Ask[expressions.Question, expressions.Answer](program, asked)
	if err != nil {
		return false, err
	}
	tally := expressions.Tally{}
	for i, q := range asked {
		theirs := expressions.Upstream(q)
		if one != "" {
			fmt.Printf("upstream: %+v\nberth:    %+v\n", theirs, ours[i])
		}
		tally.Add(q, theirs, ours[i])
	}
	tally.Print(os.Stdout, show)
	return tally.Differs(), nil
}
