package author

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"signalbox/maintenance/author/emit"
	"signalbox/maintenance/author/form"
	"signalbox/maintenance/author/lang"
	"signalbox/maintenance/author/prompt"
	"signalbox/maintenance/author/synth"
	"signalbox/rule"
)

// study is what was learned from a family's cases.
type study struct {
	rule    emit.Rule
	summary string
	err     error // why there is no rule, for a person
}

// maxStudies bounds the cache. It is emptied when it is full.
const maxStudies = 200

// studies keeps what was learned, by the digest of what it was learned from.
type studies struct {
	mu    sync.Mutex
	known map[rule.Digest]func() *study
}

// of returns the study of a brief after some refusals.
func (s *studies) of(b brief, refusals []toolReply) *study {
	m := material{Family: b.Family, Cases: slices.Clone(b.Cases), Neighbours: b.Neighbours}
	for _, refusal := range refusals {
		m.Cases = append(m.Cases, refusal.Data.Revealed...)
		if len(refusal.Data.Revealed) == 0 {
			m.Caution++
		}
	}
	digest, err := rule.DigestJSON(m)
	if err != nil {
		return &study{err: err}
	}
	s.mu.Lock()
	if s.known == nil || len(s.known) >= maxStudies {
		s.known = map[rule.Digest]func() *study{}
	}
	learn := s.known[digest]
	if learn == nil {
		learn = sync.OnceValue(m.study)
		s.known[digest] = learn
	}
	s.mu.Unlock()
	return learn()
}

// material is all that a study depends on. Caution counts the refusals that
// showed no case; the zero Settings are what the author uses.
type material struct {
	Family     rule.Family
	Cases      []briefCase
	Neighbours []rule.Document
	Caution    int
	Settings   synth.Settings `json:",omitzero"`
}

var (
	errInputs = errors.New("the inputs have no common form: their lists or objects differ")
	errApart  = errors.New("nothing in the texts tells these tasks from ones that are another family's or must fall back")
)

func (m material) study() *study {
	positive, negative := m.sides()
	if len(positive) == 0 {
		return &study{err: errors.New("there is no visible case with an outcome")}
	}
	if slices.ContainsFunc(positive, func(c briefCase) bool { return c.Task.Files != nil || c.Outcome.Files != nil }) {
		return m.editStudy(positive, negative)
	}
	if list, ok := tableExamples(positive); ok {
		if s := m.tableStudy(list, positive, negative); s.err == nil || len(list[0].In) != len(list[1%len(list)].In) {
			return s
		}
	}
	r, examples, err := m.examples(positive)
	if err != nil {
		return &study{err: err}
	}
	tree, err := synth.Learn(examples, m.Settings)
	if err != nil {
		return &study{err: fmt.Errorf("%d examples: %w", len(examples), err)}
	}
	r.Tree, r.Guard = tree, synth.NewGuard(examples, m.Caution)
	if err := m.separate(&r, examples, answeredTexts(r, negative)); err != nil {
		return &study{err: err}
	}
	r.Questions = synth.Questions(r.Tree, r.Guard, examples)
	return &study{rule: r, summary: summary(m.Family, len(examples))}
}

// sides splits the cases into those with an outcome and those that must fall
// back. A case that was revealed again counts once.
func (m material) sides() (positive, negative []briefCase) {
	seen := map[string]bool{}
	for _, c := range m.Cases {
		if seen[c.ID] {
			continue
		}
		seen[c.ID] = true
		if c.Fallback {
			negative = append(negative, c)
		} else if c.Outcome.Output.Present() || c.Outcome.Files != nil {
			positive = append(positive, c)
		}
	}
	return positive, negative
}

// examples returns the rule's frame and the cases as columns and texts.
func (m material) examples(positive []briefCase) (emit.Rule, []synth.Example, error) {
	r := emit.Rule{Family: m.Family, Outputs: map[string]*form.Node{}}
	var instructions []string
	for _, c := range positive {
		instructions = append(instructions, c.Task.Instruction)
	}
	var err error
	if r.Template, err = prompt.Learn(instructions); err != nil {
		return r, nil, err
	}
	if r.Input, err = inputForm(positive); err != nil {
		return r, nil, err
	}
	var examples []synth.Example
	for _, c := range positive {
		columns, ok := columnsOf(r, c.Task.Document())
		node, texts, err := form.Split(c.Outcome.Output)
		if !ok || err != nil {
			return r, nil, errInputs
		}
		r.Outputs[node.String()] = node
		examples = append(examples, synth.Example{ID: c.ID, Columns: columns, Target: synth.Target{Form: node.String(), Text: texts}})
	}
	if len(examples[0].Columns) == 0 {
		return r, nil, errors.New("neither the instructions nor the inputs vary")
	}
	return r, examples, nil
}

// inputForm returns the skeleton of all inputs, nil where there are none.
func inputForm(cases []briefCase) (*form.Node, error) {
	var common *form.Node
	for i, c := range cases {
		if c.Task.Input.Present() != cases[0].Task.Input.Present() {
			return nil, errInputs
		}
		if !c.Task.Input.Present() {
			continue
		}
		node, _, err := form.Split(c.Task.Input)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			common = node
			continue
		}
		merged, ok := form.Merge(common, node)
		if !ok {
			return nil, errInputs
		}
		common = merged
	}
	return common, nil
}

// columnsOf returns the texts of a task as the trigger will hand them over, and
// false for a task that isn't the rule's.
func columnsOf(r emit.Rule, task rule.Document) ([]string, bool) {
	slots, ok := r.Template.Match(task.Instruction)
	if !ok || task.Input.Present() != (r.Input != nil) {
		return nil, false
	}
	if r.Input == nil {
		return slots, true
	}
	columns, ok := r.Input.Columns(task.Input)
	return append(columns, slots...), ok
}

// separate makes the guard refuse the tasks of other families that have the
// same instruction, and the given cases, which must fall back.
func (m material) separate(r *emit.Rule, examples []synth.Example, negative []briefCase) error {
	var others [][]string
	for _, task := range m.Neighbours {
		if _, same := r.Template.Match(task.Instruction); same {
			r.Shared = true
		}
		if columns, ok := columnsOf(*r, task); ok {
			others = append(others, columns)
		}
	}
	for _, c := range negative {
		if columns, ok := columnsOf(*r, c.Task.Document()); ok {
			others = append(others, columns)
		}
	}
	if !r.Guard.Separate(examples, others) {
		return errApart
	}
	return nil
}

// answeredTexts returns the cases whose texts the rule's tree answers.
func answeredTexts(r emit.Rule, cases []briefCase) []briefCase {
	return slices.DeleteFunc(slices.Clone(cases), func(c briefCase) bool {
		columns, ok := columnsOf(r, c.Task.Document())
		if !ok {
			return true
		}
		_, answers, _ := r.Tree.Answer(lang.NewRow(columns))
		return !answers
	})
}

func summary(family rule.Family, n int) string {
	return fmt.Sprintf("%s: programming by example, from %d cases. Abstains where the examples leave two readings.", family, n)
}

// files returns what the draft's files are to hold, the manifest being changed
// only where the host allows it.
func (s *study) files(manifest string) (map[string]string, error) {
	var m rule.Manifest
	if err := rule.Decode([]byte(manifest), &m); err != nil {
		return nil, fmt.Errorf("reading the draft's manifest: %w", err)
	}
	m.Guard, m.ArgsSchema, m.ResultSchema, m.Summary = s.rule.ManifestGuard(), s.rule.ArgsSchema(), s.rule.ResultSchema(), s.summary
	text, err := json.Marshal(m, json.Deterministic(true), jsontext.WithIndent("  "))
	if err != nil {
		return nil, fmt.Errorf("writing the draft's manifest: %w", err)
	}
	files := maps.Clone(s.rule.Files())
	files[rule.ManifestFile] = string(text) + "\n"
	return files, nil
}
