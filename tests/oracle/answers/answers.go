// SPDX-License-Identifier: Apache-2.0

// Package answers asks Berth's CEL: the program cel_answers, which answers JSON documents.
package answers

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"berth.dev/tests/checkout"
)

// Program is the cel_answers that was built together with the berth that is tested.
func Program() (string, error) {
	folder := filepath.Dir(os.Getenv(checkout.BinaryVariable))
	if folder == "." {
		module, err := checkout.Module()
		if err != nil {
			return "", err
		}
		folder = filepath.Join(module, "..", ".build", "quick", "bin")
	}
	program := filepath.Join(folder, "cel_answers")
	if _, err := os.Stat(program); err != nil {
		return "", fmt.Errorf("build cel_answers: %w", err)
	}
	return program, nil
}

// Ask has every question answered by one process.
func Ask[Question, Answer any](program string, questions []Question) ([]Answer, error) {
	var in bytes.Buffer
	encoder := json.NewEncoder(&in)
	encoder.SetEscapeHTML(false)
	for _, question := range questions {
		if err := encoder.Encode(question); err != nil {
			return nil, err
		}
	}
	command := exec.Command(program)
	command.Stdin, command.Stderr = &in, os.Stderr
	out, err := command.Output()
	if err != nil {
		return nil, err
	}
	var answers []Answer
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var answer Answer
		if err := json.Unmarshal(lines.Bytes(), &answer); err != nil {
			return nil, err
		}
		answers = append(answers, answer)
	}
	if len(answers) != len(questions) {
		return nil, fmt.Errorf("%d answers to %d questions", len(answers), len(questions))
	}
	return answers, lines.Err()
}
