package oracle

import (
	"fmt"

	"signalbox/proofs"
	"signalbox/rule"
)

// Policy is what admission asks for. Floor is the share of a family's positive
// cases that its rules must cover, of the visible and of the hidden ones each.
// AllowUnheld takes families that have no hidden positive case.
type Policy struct {
	Floor       float64     `json:"floor"`
	Repeats     int         `json:"repeats"`
	Words       []ScopeWord `json:"words"`
	AllowUnheld bool        `json:"allow_unheld"`
}

// ScopeWord is text that narrows, widens or turns round a task when it stands
// after the instruction, or before it.
type ScopeWord struct {
	Kind   string `json:"kind"`
	Text   string `json:"text"`
	Before bool   `json:"before,omitzero"`
}

// DefaultPolicy returns half as the floor, two repeats and the host's words.
// Operators add words of their own to Words.
func DefaultPolicy() Policy {
	return Policy{Floor: 0.5, Repeats: 2, Words: []ScopeWord{
		{Kind: "subdirectory", Text: "in the subdirectory src"},
		{Kind: "exclusion", Text: "except hidden files"},
		{Kind: "part", Text: "without the first"},
		{Kind: "action", Text: "and delete them"},
		{Kind: "negation", Text: "Do not", Before: true},
	}}
}

// maxWords bounds the list, and so the number of probes per case.
const maxWords = 40

func (p Policy) check() error {
	switch {
	case !(p.Floor >= 0 && p.Floor <= 1):
		return fmt.Errorf("floor %v is not between 0 and 1", p.Floor)
	case p.Repeats < 2 || p.Repeats > 10:
		return fmt.Errorf("%d repeats: want 2 to 10", p.Repeats)
	case len(p.Words) == 0 || len(p.Words) > maxWords:
		return fmt.Errorf("%d scope words: want 1 to %d", len(p.Words), maxWords)
	}
	for _, word := range p.Words {
		if word.Kind == "" || word.Text == "" || len(word.Text) > 200 {
			return fmt.Errorf("scope word %q: want a kind, and a text of 1 to 200 bytes", word.Text)
		}
	}
	return nil
}

// Bound returns the policy as a proof binds it: the words by digest.
func (p Policy) Bound() proofs.Policy {
	words, err := rule.DigestJSON(p.Words)
	if err != nil {
		words = ""
	}
	return proofs.Policy{Floor: p.Floor, Repeats: p.Repeats, Probes: true, ScopeWords: words, AllowUnheld: p.AllowUnheld}
}
