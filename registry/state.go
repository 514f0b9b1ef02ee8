package registry

import (
	"slices"
	"time"

	"signalbox/proofs"
	"signalbox/rule"
)

// State is the content of registry.json. It is read-only for everyone but this
// package.
type State struct {
	Schema       int                              `json:"schema"`
	Serial       rule.Serial                      `json:"serial"`
	Generation   rule.Generation                  `json:"generation"`
	Host         rule.Digest                      `json:"host"`
	Suite        Suite                            `json:"suite"`
	Sealed       Sealed                           `json:"sealed"`
	Superseded   Sealed                           `json:"superseded"`
	Unverified   []Unverified                     `json:"unverified"`
	Current      map[string]rule.Digest           `json:"environments"`
	Environments map[rule.Digest]rule.Environment `json:"environment_details"`
	Policy       proofs.Policy                    `json:"policy"`
	Rules        map[rule.Name]Rule               `json:"rules"`
	Active       *Activation                      `json:"active"`
	Proposals    []Proposed                       `json:"proposals"`
	Past         []Activation                     `json:"past"`
	Log          []Commit                         `json:"log"`
}

// Schema is the version of registry.json that this program writes.
const Schema = 1

// How much of the past registry.json keeps.
const (
	maxPast      = 50
	maxProposals = 500
	maxLog       = 200
)

// Suite names the visible and the admission cases. Parts names the list of who
// may see which, which the suite's digest doesn't cover.
type Suite struct {
	Digest rule.Digest `json:"digest"`
	Cases  int         `json:"cases"`
	Parts  rule.Digest `json:"parts"`
}

// Sealed names cases that are not part of the suite.
type Sealed struct {
	Digest rule.Digest `json:"digest"`
	Cases  int         `json:"cases"`
}

// Unverified names history lines that nobody certified. They are kept, and used
// for nothing.
type Unverified struct {
	Digest rule.Digest `json:"digest"`
	Lines  int         `json:"lines"`
	From   string      `json:"from"`
	When   time.Time   `json:"when"`
}

// Rule is what the registry knows of one rule. Revisions are in the order in
// which they were added.
type Rule struct {
	Family    rule.Family `json:"family"`
	Locked    bool        `json:"locked,omitzero"`
	Revisions []Revision  `json:"revisions"`
}

// RevisionState says what a revision is at present.
type RevisionState string

// The states. A retired revision was active before; rollback may bring it back.
// A disabled one comes back only by being added again.
const (
	RevisionProposed RevisionState = "proposed"
	RevisionActive   RevisionState = "active"
	RevisionRetired  RevisionState = "retired"
	RevisionDisabled RevisionState = "disabled"
)

// Revision is one immutable source of a rule. Environment is its name; which
// digest that has is in State.Current.
type Revision struct {
	Digest      rule.Digest   `json:"digest"`
	Environment string        `json:"environment"`
	State       RevisionState `json:"state"`
	Added       time.Time     `json:"added"`
	By          string        `json:"by"`
	Why         string        `json:"why,omitzero"`
}

// Activation is a collection that was activated: its proof by ID and the object
// that holds it, the generation that it was activated as (the proof's base plus
// one) and when it came and went.
type Activation struct {
	Members    rule.Collection `json:"members"`
	Mapping    rule.Mapping    `json:"mapping"`
	Suite      rule.Digest     `json:"suite"`
	Proof      rule.Digest     `json:"proof"`
	Envelope   rule.Digest     `json:"envelope"`
	Generation rule.Generation `json:"generation"`
	Since      time.Time       `json:"since"`
	Until      time.Time       `json:"until,omitzero"`
	By         string          `json:"by"`
	Why        string          `json:"why,omitzero"`
}

// Proposed is a proven collection that waits for a maintainer.
type Proposed struct {
	Attempt  string          `json:"attempt,omitzero"`
	Members  rule.Collection `json:"members"`
	Mapping  rule.Mapping    `json:"mapping"`
	Proof    rule.Digest     `json:"proof"`
	Envelope rule.Digest     `json:"envelope"`
	Base     rule.Generation `json:"base"`
	When     time.Time       `json:"when"`
	By       string          `json:"by"`
}

// Commit is one line of the log.
type Commit struct {
	Serial uint64    `json:"serial"`
	When   time.Time `json:"when"`
	Who    string    `json:"who"`
	What   string    `json:"what"`
	Why    string    `json:"why,omitzero"`
}

// Revision returns a revision of a rule.
func (s *State) Revision(name rule.Name, revision rule.Digest) (Revision, bool) {
	revisions := s.Rules[name].Revisions
	i := slices.IndexFunc(revisions, func(r Revision) bool { return r.Digest == revision })
	if i < 0 {
		return Revision{}, false
	}
	return revisions[i], true
}

// setRevisions changes the state of those revisions that choose returns a new
// one for.
func (s *State) setRevisions(choose func(rule.Name, Revision) RevisionState) {
	for name, known := range s.Rules {
		for i, revision := range known.Revisions {
			known.Revisions[i].State = choose(name, revision)
		}
	}
}

// keepLast returns at most n of the last elements.
func keepLast[T any](all []T, n int) []T {
	return slices.Clone(all[max(0, len(all)-n):])
}
