package oracle

import (
	"time"

	"signalbox/proofs"
	"signalbox/rule"
)

// Kind says why a rule or a family was refused. The list is closed.
type Kind string

// All kinds. Wrong to Executor concern a case's answer; Guard to Probe a
// trigger; Floor to Unheld a family or rule as a whole.
const (
	KindWrong     Kind = "wrong"              // an outcome that isn't the certified one
	KindArgs      Kind = "wrong_args"         // a match with other args than the case states
	KindAnswered  Kind = "answered_fallback"  // an outcome where the case must fall back
	KindConflict  Kind = "conflict"           // two rules of the family match
	KindExecutor  Kind = "executor_failure"   // an executor gave no usable reply
	KindTrigger   Kind = "trigger_failure"    // a trigger gave no usable reply
	KindGuard     Kind = "guard_disagreement" // not no_match where the guard is false
	KindMatch     Kind = "foreign_match"      // a match on another family's case
	KindAbstain   Kind = "foreign_abstain"    // an abstention on another family's case
	KindRepeats   Kind = "nondeterministic"   // repeats that differ
	KindProbe     Kind = "probe"              // a probe matched with unchanged args
	KindArgsBytes Kind = "args_limit"         // more args than the host keeps
	KindFloor     Kind = "floor"              // too few of the family's cases covered
	KindUncovered Kind = "covers_none"        // a rule that covers no case
	KindUnheld    Kind = "unheld"             // a family without hidden cases
)

// Refusal is one reason why the collection isn't taken. Case and Part are empty
// where it concerns a rule or family as a whole; Part alone says which cases a
// floor was missed on. Rivals are the other rules of a conflict.
type Refusal struct {
	Kind     Kind        `json:"kind"`
	Rule     rule.Name   `json:"rule,omitzero"`
	Rivals   []rule.Name `json:"rivals,omitzero"`
	Family   rule.Family `json:"family,omitzero"`
	Case     string      `json:"case,omitzero"`
	Part     rule.Part   `json:"part,omitzero"`
	Probe    string      `json:"probe,omitzero"`
	Detail   string      `json:"detail,omitzero"`
	Expected rule.Value  `json:"expected,omitzero"`
	Got      rule.Value  `json:"got,omitzero"`
}

// Coverage counts a family's positive cases, and how many of them are covered.
type Coverage struct {
	Covered  int `json:"covered"`
	Positive int `json:"positive"`
}

// RuleReport is a rule's row of the matrix. Overlap counts cases that another
// rule matches too; ForeignProbes those of other families' probes that it
// matches, which is no refusal by itself.
type RuleReport struct {
	Rule          rule.Name    `json:"rule"`
	Family        rule.Family  `json:"family"`
	Revision      rule.Digest  `json:"revision"`
	Visible       int          `json:"covered_visible"`
	Hidden        int          `json:"covered_hidden"`
	Abstained     int          `json:"abstained"`
	Overlap       int          `json:"overlap"`
	Conflicts     int          `json:"conflicts"`
	Foreign       int          `json:"foreign"`
	Probes        int          `json:"probes"`
	ProbesMatched int          `json:"probes_matched"`
	ProbesIgnored int          `json:"probes_ignored"`
	ProbesFailed  int          `json:"probes_failed"`
	ForeignProbes int          `json:"foreign_probes_matched"`
	Refused       map[Kind]int `json:"refused"`
}

// Uncovered is a positive case that the collection fell back on.
type Uncovered struct {
	Case   string      `json:"case"`
	Part   rule.Part   `json:"part"`
	Reason rule.Reason `json:"reason"`
}

// FamilyReport says how far a family is served. Disturbed counts positive cases
// that one of its rules matches alone but that a rule of another family spoils.
// Of Uncovered at most maxListed a part are listed.
type FamilyReport struct {
	Family       rule.Family `json:"family"`
	Rules        []rule.Name `json:"rules"`
	Visible      Coverage    `json:"visible"`
	Hidden       Coverage    `json:"hidden"`
	MustFallBack int         `json:"must_fall_back"`
	Disturbed    int         `json:"disturbed"`
	Unheld       bool        `json:"unheld"`
	Uncovered    []Uncovered `json:"uncovered"`
}

// Report is what a check found. But for the times it depends on the proposal
// alone, not on the order of its parts. Refusals are in order; of one rule, kind
// and part at most maxListed are listed, and Omitted counts the rest.
type Report struct {
	Collection rule.Digest    `json:"collection"`
	Policy     proofs.Policy  `json:"policy"`
	Refusals   []Refusal      `json:"refusals"`
	Omitted    int            `json:"omitted"`
	Rules      []RuleReport   `json:"rules"`
	Families   []FamilyReport `json:"families"`
	Matrix     rule.Digest    `json:"matrix"`
	Counts     proofs.Counts  `json:"counts"`
	StartedAt  time.Time      `json:"started_at"`
	FinishedAt time.Time      `json:"finished_at"`
}

// maxListed bounds what a report lists of one sort, so that a rule that is
// wrong everywhere doesn't fill the host's memory.
const maxListed = 50

// Passed says whether the collection may be taken.
func (r *Report) Passed() bool { return len(r.Refusals) == 0 && r.Matrix != "" }
