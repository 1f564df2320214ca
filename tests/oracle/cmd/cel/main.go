// SPDX-License-Identifier: Apache-2.0

// Command cel asks Berth and kube-scheduler's own evaluator the same random expressions about random
// devices, and compares: whether they compile, result, error and cost.
//
//	go run ./oracle/cmd/cel --answers ../.build/dev/bin/cel_answers --count 20000
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"

	"berth.dev/tests/oracle/expressions"
)

func main() {
	answers := flag.String("answers", "../.build/dev/bin/cel_answers", "the program that gives Berth's answers")
	count := flag.Int("count", 20000, "how many expressions")
	seed := flag.Uint64("seed", 1, "where the random numbers begin")
	show := flag.Int("show", 5, "how many differences of a sort are shown")
	one := flag.String("expression", "", "only this one, about one random device; prints both answers")
	flag.Parse()
	differ, err := run(*answers, *count, *seed, *show, *one)
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

// berth has every question answered by one process.
func berth(program string, asked []expressions.Question) ([]expressions.Answer, error) {
	var in strings.Builder
	encoder := json.NewEncoder(&in)
	encoder.SetEscapeHTML(false)
	for _, q := range asked {
		if err := encoder.Encode(q); err != nil {
			return nil, err
		}
	}
	command := exec.Command(program)
	command.Stdin, command.Stderr = strings.NewReader(in.String()), os.Stderr
	out, err := command.Output()
	if err != nil {
		return nil, err
	}
	var answers []expressions.Answer
	lines := bufio.NewScanner(strings.NewReader(string(out)))
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var answer expressions.Answer
		if err := json.Unmarshal(lines.Bytes(), &answer); err != nil {
			return nil, err
		}
		answers = append(answers, answer)
	}
	if len(answers) != len(asked) {
		return nil, fmt.Errorf("%d answers to %d questions", len(answers), len(asked))
	}
	return answers, lines.Err()
}

func run(program string, count int, seed uint64, show int, one string) (differ bool, err error) {
	asked := questions(count, seed, one)
	ours, err := berth(program, asked)
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
