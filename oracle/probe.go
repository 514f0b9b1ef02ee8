package oracle

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"signalbox/rule"
)

// Probe is a task made out of a case by changing what was asked. Text says what
// was changed.
type Probe struct {
	Kind string
	Text string
	Task rule.Document
}

// Kinds of the probes that need no word of the list.
const (
	probeInserted = "inserted"
	probeAltered  = "altered"
	probeDropped  = "dropped"
	probeInput    = "input"
)

// Probes returns the probes of one case, about a dozen with the host's words:
// each word put before or after the instruction, the first one also put before
// a colon or line break inside, the longest word altered and dropped, and the
// input turned into other types and left out. A probe that can't be a task is
// left out.
func Probes(c rule.Case, words []ScopeWord) []Probe {
	return probesOf(c.Task.Document(), words, wordsOf(c.Task.Instruction))
}

// probesOf is Probes with the words that may count as the fixed part: those
// that all instructions of the family share.
func probesOf(task rule.Document, words []ScopeWord, fixed []string) []Probe {
	var probes []Probe
	instruct := func(kind, text, instruction string) {
		probes = append(probes, Probe{Kind: kind, Text: text, Task: rule.Document{Instruction: instruction, Input: task.Input}})
	}
	for _, word := range words {
		instruct(word.Kind, word.Text, withWord(task.Instruction, word))
	}
	if at := strings.IndexAny(task.Instruction, ":\n"); at > 0 && at < len(task.Instruction)-1 {
		if i := slices.IndexFunc(words, func(w ScopeWord) bool { return !w.Before }); i >= 0 {
			instruct(probeInserted, words[i].Text, task.Instruction[:at]+" "+words[i].Text+task.Instruction[at:])
		}
	}
	if word := longest(fixed); word != "" {
		instruct(probeAltered, word, replaceWord(task.Instruction, word, altered(word)))
		instruct(probeDropped, word, strings.Join(strings.Fields(replaceWord(task.Instruction, word, "")), " "))
	}
	for text, input := range otherInputs(task.Input) {
		probes = append(probes, Probe{Kind: probeInput, Text: text, Task: rule.Document{Instruction: task.Instruction, Input: input}})
	}
	return slices.DeleteFunc(probes, func(p Probe) bool {
		return p.Task == task || rule.Task{Instruction: p.Task.Instruction, Input: p.Task.Input}.Check() != nil
	})
}

// withWord puts a scope word where a writer would: before the closing
// punctuation, or in front with the old beginning in lower case.
func withWord(instruction string, word ScopeWord) string {
	if word.Before {
		first := []rune(instruction)
		first[0] = unicode.ToLower(first[0])
		return word.Text + " " + string(first)
	}
	body := strings.TrimRight(instruction, ".!?: \n")
	if body == "" {
		body = instruction
	}
	return body + " " + word.Text + instruction[len(body):]
}

// wordsOf returns the distinct words of at least three letters, in order.
func wordsOf(instruction string) []string {
	var words []string
	for _, word := range splitWords(instruction) {
		if len([]rune(word)) >= 3 && !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	return words
}

func splitWords(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) })
}

// sharedWords returns the words that all instructions have, in the order of the
// first one.
func sharedWords(instructions []string) []string {
	if len(instructions) == 0 {
		return nil
	}
	shared := wordsOf(instructions[0])
	for _, instruction := range instructions[1:] {
		has := make(map[string]bool)
		for _, word := range splitWords(instruction) {
			has[word] = true
		}
		shared = slices.DeleteFunc(shared, func(word string) bool { return !has[word] })
	}
	return shared
}

// longest returns the first of the longest words; "" where there is none.
func longest(words []string) string {
	best := ""
	for _, word := range words {
		if len([]rune(word)) > len([]rune(best)) {
			best = word
		}
	}
	return best
}

// altered returns a word that is not the given one: its letters turned round.
func altered(word string) string {
	letters := []rune(word)
	slices.Reverse(letters)
	if string(letters) == word {
		return word + "x"
	}
	return string(letters)
}

// replaceWord replaces the first occurrence of word that stands by itself.
func replaceWord(text, word, by string) string {
	for from := 0; ; {
		at := strings.Index(text[from:], word)
		if at < 0 {
			return text
		}
		start, end := from+at, from+at+len(word)
		before, _ := utf8.DecodeLastRuneInString(text[:start])
		after, _ := utf8.DecodeRuneInString(text[end:])
		if !unicode.IsLetter(before) && !unicode.IsLetter(after) {
			return text[:start] + by + text[end:]
		}
		from = end
	}
}
