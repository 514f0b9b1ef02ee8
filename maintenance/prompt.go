package maintenance

import (
	"cmp"
	"fmt"
	"slices"

	"signalbox/maintenance/draft"
	"signalbox/maintenance/gateway"
	"signalbox/rule"
)

// protocol is the version of the block in the first user message.
const protocol = 1

// Limits of what a prompt shows.
const (
	maxPromptCases = 200
	maxPromptBytes = 256 << 10
	maxExamples    = 2
)

// block is what a model is told about its work, as one JSON document.
type block struct {
	Protocol   int             `json:"protocol"`
	Family     rule.Family     `json:"family"`
	Rule       rule.Name       `json:"rule"`
	Manifest   rule.Value      `json:"manifest"`
	Cases      []promptCase    `json:"cases"`
	Neighbours []rule.Document `json:"neighbours"`
	Rules      []ruleSummary   `json:"rules"`
	Feedback   []string        `json:"feedback,omitzero"`
	Left       left            `json:"left"`
}

// promptCase is a case as an author sees it.
type promptCase struct {
	ID       string       `json:"id"`
	Task     rule.Task    `json:"task"`
	Outcome  rule.Outcome `json:"outcome,omitzero"`
	Fallback bool         `json:"fallback,omitzero"`
	Args     rule.Value   `json:"args,omitzero"`
}

type ruleSummary struct {
	Rule    rule.Name   `json:"rule"`
	Family  rule.Family `json:"family"`
	Summary string      `json:"summary"`
}

type left struct {
	Calls       int `json:"calls"`
	Validations int `json:"validations"`
}

const systemPrompt = `You write one rule for signalbox: a small deterministic program that answers one kind of task from now on, without any model.

A rule has a trigger (trigger.star, which understands a request and returns match with args, no_match or abstain) and an executor (execute.star, which does the work from task and args). manifest.json holds a guard, a necessary condition that the host evaluates without running anything, and the schemas of args and result. All of it is starlark without clock, randomness, network or files but the task's own.

A rule must never answer wrongly. Where a request asks for more, for less or for something else than the cases show (another scope, an exclusion, an added action, another type of input), the trigger must say no_match or abstain. Answering some of the cases and abstaining on the rest is fine; guessing is not. Answers copied case by case fail on hidden cases.

Work with the three tools. One call a turn is executed. Begin with rule {"action":"create_rule"}; open a part with an edit_… action, then change it with str_replace_editor (paths begin with /draft); check with validate_rule; finish with submit_rule. rule_skill has short guides. To give up, answer with a text and no call: say why, and which example would decide.`

func newCase(c rule.Case) promptCase {
	return promptCase{ID: c.ID, Task: c.Task, Outcome: c.Outcome, Fallback: c.Fallback, Args: c.Args}
}

// visibleOf returns the cases of a family that its author may see, in order of
// their ids.
func visibleOf(cases []rule.Case, family rule.Family) []rule.Case {
	var visible []rule.Case
	for _, c := range cases {
		if c.Family == family && c.Part == rule.VisiblePart {
			visible = append(visible, c)
		}
	}
	slices.SortFunc(visible, func(a, b rule.Case) int { return cmp.Compare(a.ID, b.ID) })
	return visible
}

// shown bounds the cases of a prompt. Which ones are left out is decided by the
// digests of the tasks, so that it favours nothing and is always the same.
func shown(visible []rule.Case) []rule.Case {
	byDigest := slices.Clone(visible)
	slices.SortFunc(byDigest, func(a, b rule.Case) int {
		return cmp.Or(cmp.Compare(a.Task.Digest(nil), b.Task.Digest(nil)), cmp.Compare(a.ID, b.ID))
	})
	bytes, kept := 0, []rule.Case{}
	for _, c := range byDigest {
		text, err := rule.Canonical(newCase(c))
		if err != nil || bytes+len(text) > maxPromptBytes || len(kept) >= maxPromptCases {
			continue
		}
		bytes += len(text)
		kept = append(kept, c)
	}
	slices.SortFunc(kept, func(a, b rule.Case) int { return cmp.Compare(a.ID, b.ID) })
	return kept
}

// opening returns the first two messages of an attempt.
func opening(view View, d *draft.Draft, feedback []string, l left) ([]gateway.Message, error) {
	identity := d.Identity()
	manifest, err := rule.ParseValue([]byte(d.Manifest()))
	if err != nil {
		manifest = "null" // a resumed draft may be broken; its text is a view away
	}
	b := block{
		Protocol: protocol, Family: identity.Family, Rule: identity.Rule, Manifest: manifest,
		Neighbours: neighbours(view.Cases, identity.Family), Rules: examples(view, identity.Family),
		Feedback: feedback, Left: l,
	}
	for _, c := range shown(visibleOf(view.Cases, identity.Family)) {
		b.Cases = append(b.Cases, newCase(c))
	}
	text, err := rule.Canonical(b)
	if err != nil {
		return nil, fmt.Errorf("writing prompt: %w", err)
	}
	user := fmt.Sprintf("Write rule %q for the family %q. These are its visible cases, tasks of other families that it must leave alone, and what is left to you.\n\n```json\n%s\n```",
		identity.Rule, identity.Family, text)
	return []gateway.Message{{Role: gateway.System, Text: systemPrompt}, {Role: gateway.User, Text: user}}, nil
}

// examples returns the active rules that are most like this family's work.
func examples(view View, family rule.Family) []ruleSummary {
	text := string(family)
	for _, c := range visibleOf(view.Cases, family) {
		text += " " + c.Task.Instruction
	}
	var out []ruleSummary
	for _, p := range similarRules(view.Active, text) {
		if len(out) < maxExamples {
			out = append(out, summaryOf(p))
		}
	}
	return out
}

func summaryOf(p rule.Program) ruleSummary {
	return ruleSummary{Rule: p.Manifest.Name, Family: p.Manifest.Family, Summary: p.Manifest.Summary}
}
