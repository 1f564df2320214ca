// SPDX-License-Identifier: Apache-2.0

package patterns

import (
	"encoding/hex"
	"regexp"

	"berth.dev/tests/oracle/answers"
)

// Question is a pattern and texts to look through, in hexadecimal digits.
type Question struct {
	Pattern string   `json:"pattern"`
	Texts   []string `json:"texts"`
}

// Found is what a pattern finds in a text, in hexadecimal digits.
type Found struct {
	Matches bool     `json:"matches"`
	First   string   `json:"first"`
	Parts   []string `json:"parts"`
}

// Answer is the error, or what is found.
type Answer struct {
	Error string  `json:"error,omitempty"`
	Found []Found `json:"found,omitempty"`
	// Of Berth only: the steps that compiling took, and the instructions: before, about, and after it.
	Steps        uint64 `json:"steps"`
	Estimate     uint64 `json:"estimate"`
	Instructions uint64 `json:"instructions"`
}

// Ask is a question of a pattern and texts.
func Ask(pattern string, texts ...string) Question {
	q := Question{Pattern: hex.EncodeToString([]byte(pattern)), Texts: []string{}}
	for _, text := range texts {
		q.Texts = append(q.Texts, hex.EncodeToString([]byte(text)))
	}
	return q
}

// Text undoes what Ask does to a text.
func Text(digits string) string {
	bytes, err := hex.DecodeString(digits)
	if err != nil {
		return "no digits: " + digits
	}
	return string(bytes)
}

// Berth's answers.
func Berth(questions []Question) ([]Answer, error) {
	program, err := answers.Program()
	if err != nil {
		return nil, err
	}
	return answers.Ask[Question, Answer](program, questions)
}

// Go's answer.
func Go(q Question) (answer Answer) {
	pattern, err := regexp.Compile(Text(q.Pattern))
	if err != nil {
		answer.Error = hex.EncodeToString([]byte(err.Error()))
		return answer
	}
	for _, digits := range q.Texts {
		text := Text(digits)
		found := Found{
			Matches: pattern.MatchString(text),
			First:   hex.EncodeToString([]byte(pattern.FindString(text))),
			Parts:   []string{},
		}
		for _, part := range pattern.FindAllString(text, -1) {
			found.Parts = append(found.Parts, hex.EncodeToString([]byte(part)))
		}
		answer.Found = append(answer.Found, found)
	}
	return answer
}
