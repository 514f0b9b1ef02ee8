package oracle

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"signalbox/rule"
)

// fake runs Go functions as the programs of rules.
type fake struct {
	rules    map[rule.Name]fakeRule
	triggers atomic.Int64
	executes atomic.Int64
}

type fakeRule struct {
	trigger func(rule.Document) rule.TriggerReply
	execute func(rule.Document, rule.Value, rule.Tree) rule.ExecutorReply
}

func (f *fake) Triggers(_ context.Context, p rule.Program, tasks []rule.Document) []rule.TriggerReply {
	replies := make([]rule.TriggerReply, 0, len(tasks))
	for _, task := range tasks {
		replies = append(replies, f.rules[p.Member.Rule].trigger(task))
	}
	f.triggers.Add(int64(len(tasks)))
	return replies
}

func (f *fake) Execute(_ context.Context, p rule.Program, task rule.Document, args rule.Value, tree rule.Tree) rule.ExecutorReply {
	f.executes.Add(1)
	return f.rules[p.Member.Rule].execute(task, args, tree)
}

var (
	noMatch = rule.TriggerReply{Verdict: rule.NoMatch}
	abstain = rule.TriggerReply{Verdict: rule.Abstain, Note: "unsure"}
	crash   = rule.TriggerReply{Failure: rule.FailureCrash, Detail: "boom"}
)

func match(args string) rule.TriggerReply {
	return rule.TriggerReply{Verdict: rule.Match, Args: rule.Value(args)}
}

func outputs(text string) rule.ExecutorReply {
	return rule.ExecutorReply{Outcome: &rule.Outcome{Output: shown(text)}}
}

const (
	upperAsk   = "Convert the text to upper case."
	greetAsk   = "Say hello to "
	unservedAs = "Translate into French:"
)

// text returns a string input; ok is false for any other type.
func text(input rule.Value) (s string, ok bool) {
	if !strings.HasPrefix(string(input), `"`) {
		return "", false
	}
	return s, input.Decode(&s) == nil
}

// upper converts its input, and says no_match to all that isn't exactly that.
func upper() fakeRule {
	return fakeRule{
		trigger: func(task rule.Document) rule.TriggerReply {
			if _, ok := text(task.Input); !ok || task.Instruction != upperAsk {
				return noMatch
			}
			return match(`{}`)
		},
		execute: func(task rule.Document, _ rule.Value, _ rule.Tree) rule.ExecutorReply {
			s, _ := text(task.Input)
			return outputs(strings.ToUpper(s))
		},
	}
}

// greet understands a name of one word.
func greet() fakeRule {
	return fakeRule{
		trigger: func(task rule.Document) rule.TriggerReply {
			name, ok := strings.CutPrefix(task.Instruction, greetAsk)
			if !ok || task.Input.Present() || strings.ContainsAny(name, " .") {
				return noMatch
			}
			return match(`{"name":` + string(shown(name)) + `}`)
		},
		execute: func(_ rule.Document, args rule.Value, _ rule.Tree) rule.ExecutorReply {
			var read struct {
				Name string `json:"name"`
			}
			if err := args.Decode(&read); err != nil {
				return rule.ExecutorReply{Failure: rule.FailureCrash, Detail: err.Error()}
			}
			return outputs("Hello " + read.Name)
		},
	}
}

// program returns a member with a guard.
func program(name rule.Name, family rule.Family, guard rule.Guard) rule.Program {
	environment := rule.Environment{Name: "starlark", Runtime: rule.StarlarkEnvironment}
	return rule.Program{
		Member:      rule.Member{Rule: name, Revision: rule.DigestOf([]byte(name)), Environment: environment.Digest()},
		Manifest:    rule.Manifest{Schema: 1, Name: name, Family: family, Guard: guard, ArgsSchema: rule.Schema{Type: "object"}},
		Environment: environment,
	}
}

// world is a proposal that passes, with its programs: two served families, one
// that isn't, and a case that must fall back.
type world struct {
	fake     *fake
	proposal Proposal
}

func newWorld() *world {
	w := &world{
		fake: &fake{rules: map[rule.Name]fakeRule{"upper": upper(), "greet": greet()}},
		proposal: Proposal{
			Programs: []rule.Program{
				program("upper", "upper", rule.Guard{Pattern: `\A(?:Convert .*)\z`}),
				program("greet", "greet", rule.Guard{Pattern: `\A(?:(?s).*ello.*)\z`}),
			},
			Policy: DefaultPolicy(), Suite: rule.DigestOf([]byte("suite")), Tool: "test",
		},
	}
	for i, word := range []string{"ant", "bee", "cat", "dog", "eel", "fox"} {
		part := rule.VisiblePart
		if i >= 3 {
			part = rule.AdmissionPart
		}
		w.add(rule.Case{ID: "up-" + word, Family: "upper", Part: part, Task: rule.Task{Instruction: upperAsk, Input: shown(word)}, Outcome: *outputs(strings.ToUpper(word)).Outcome})
		w.add(rule.Case{ID: "hi-" + word, Family: "greet", Part: part, Task: rule.Task{Instruction: greetAsk + word}, Outcome: *outputs("Hello " + word).Outcome})
		w.add(rule.Case{ID: "fr-" + word, Family: "french", Part: part, Task: rule.Task{Instruction: unservedAs, Input: shown(word)}, Outcome: *outputs("le " + word).Outcome})
	}
	w.add(rule.Case{ID: "must", Family: "greet", Part: rule.AdmissionPart, Fallback: true, Task: rule.Task{Instruction: greetAsk + "everyone you know."}})
	return w
}

func (w *world) add(c rule.Case) { w.proposal.Cases = append(w.proposal.Cases, c) }

// at returns the case with an ID, to be changed.
func (w *world) at(id string) *rule.Case {
	for i := range w.proposal.Cases {
		if w.proposal.Cases[i].ID == id {
			return &w.proposal.Cases[i]
		}
	}
	panic(fmt.Sprintf("no case %q", id))
}

// wrap replaces a rule's trigger by one that may answer first.
func (w *world) wrap(name rule.Name, first func(rule.Document) (rule.TriggerReply, bool)) {
	old := w.fake.rules[name]
	w.fake.rules[name] = fakeRule{execute: old.execute, trigger: func(task rule.Document) rule.TriggerReply {
		if reply, ok := first(task); ok {
			return reply
		}
		return old.trigger(task)
	}}
}

// says has a rule's trigger answer one task otherwise.
func (w *world) says(name rule.Name, id string, reply rule.TriggerReply) {
	asked := w.at(id).Task.Document()
	w.wrap(name, func(task rule.Document) (rule.TriggerReply, bool) { return reply, task == asked })
}

// executes replaces a rule's executor.
func (w *world) executes(name rule.Name, execute func(rule.Document, rule.Value, rule.Tree) rule.ExecutorReply) {
	w.fake.rules[name] = fakeRule{trigger: w.fake.rules[name].trigger, execute: execute}
}

func (w *world) check(t testing.TB) *Report {
	t.Helper()
	report, err := Check(context.Background(), w.fake, w.proposal, nil)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// found lists what was refused, shortly: kind rule case.
func found(report *Report) []string {
	var lines []string
	for _, r := range report.Refusals {
		line := fmt.Sprintf("%s %s %s", r.Kind, r.Rule, r.Case)
		if r.Case == "" {
			line = fmt.Sprintf("%s %s %s", r.Kind, r.Rule, r.Part)
		}
		if r.Probe != "" {
			line += " " + strings.SplitN(r.Probe, ":", 2)[0]
		}
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	return lines
}

var errTest = errors.New("test")
