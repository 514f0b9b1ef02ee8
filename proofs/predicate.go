package proofs

import (
	"maps"
	"slices"
	"time"

	"signalbox/rule"
)

// PredicateType is the only predicate that this package signs and accepts.
const PredicateType = "https://signalbox.dev/admission/v1"

// Predicate is what a proof states. Members, Environments, Mapping, Suite,
// Policy and Base are what it binds; the rest says what was found and how.
// Collection and DoesNotProve follow from the others: Sign fills them in.
type Predicate struct {
	Members      rule.Collection                  `json:"members"`
	Collection   rule.Digest                      `json:"collection"`
	Environments map[rule.Digest]rule.Environment `json:"environments"`
	Mapping      rule.Mapping                     `json:"mapping"`
	Suite        Suite                            `json:"suite"`
	Policy       Policy                           `json:"policy"`
	Base         Base                             `json:"base"`
	Matrix       rule.Digest                      `json:"matrix"`
	Counts       Counts                           `json:"counts"`
	Unheld       []rule.Family                    `json:"unheld"`
	StartedAt    time.Time                        `json:"started_at"`
	FinishedAt   time.Time                        `json:"finished_at"`
	Tool         string                           `json:"tool"`
	DoesNotProve []string                         `json:"does_not_prove"`
}

// Suite names the admission suite: visible and admission cases together.
type Suite struct {
	Digest rule.Digest `json:"digest"`
	Cases  int         `json:"cases"`
}

// Policy is what admission asked for. Floor is the share of a family's positive
// cases that must be covered, of the visible and of the hidden ones each.
// Repeats is how often each program was asked. ScopeWords names the list of
// probe words. AllowUnheld says that families without hidden cases are taken.
type Policy struct {
	Floor       float64     `json:"floor"`
	Repeats     int         `json:"repeats"`
	Probes      bool        `json:"probes"`
	ScopeWords  rule.Digest `json:"scope_words"`
	AllowUnheld bool        `json:"allow_unheld"`
}

// Base is the registry that the collection was checked against.
type Base struct {
	Generation rule.Generation `json:"generation"`
	Serial     rule.Serial     `json:"serial"`
}

// Counts say how much was checked. Positive cases are those with an outcome;
// each was answered rightly or left uncovered. Calls count every repeat.
type Counts struct {
	Positive      int `json:"positive"`
	Covered       int `json:"covered"`
	Uncovered     int `json:"uncovered"`
	MustFallBack  int `json:"must_fall_back"`
	Unserved      int `json:"unserved"`
	Probes        int `json:"probes"`
	TriggerCalls  int `json:"trigger_calls"`
	ExecutorCalls int `json:"executor_calls"`
}

// limits is the fixed part of DoesNotProve.
var limits = []string{
	"Admission is queried while a rule is repaired: it is no sealed future test.",
	"Nothing is said beyond the checked scope: these revisions, environments, cases and probes.",
	"The host's file system, its container engine and the operator who certified the cases are trusted.",
}

const notDeterministic = "Not deterministic by construction: a member's runtime isn't starlark, so repeats that agree are evidence only."

// doesNotProve returns the text that a proof of these environments carries.
func doesNotProve(environments map[rule.Digest]rule.Environment) []string {
	text := slices.Clone(limits)
	for _, environment := range environments {
		if environment.Runtime != rule.StarlarkEnvironment {
			return append(text, notDeterministic)
		}
	}
	return text
}

// normal returns a copy in the one order and form that is signed.
func (p Predicate) normal() Predicate {
	p = p.clone()
	p.Members = rule.NewCollection(p.Members...)
	p.Collection = p.Members.Digest()
	for _, names := range p.Mapping {
		slices.Sort(names)
	}
	slices.Sort(p.Unheld)
	p.StartedAt = p.StartedAt.UTC().Round(0)
	p.FinishedAt = p.FinishedAt.UTC().Round(0)
	p.DoesNotProve = doesNotProve(p.Environments)
	return p
}

// clone returns a copy that shares nothing which can be changed.
func (p Predicate) clone() Predicate {
	p.Members = slices.Clone(p.Members)
	p.Environments = maps.Clone(p.Environments)
	for digest, environment := range p.Environments {
		environment.Seccomp = maps.Clone(environment.Seccomp)
		p.Environments[digest] = environment
	}
	p.Mapping = maps.Clone(p.Mapping)
	for family, names := range p.Mapping {
		p.Mapping[family] = slices.Clone(names)
	}
	p.Unheld = slices.Clone(p.Unheld)
	p.DoesNotProve = slices.Clone(p.DoesNotProve)
	return p
}
