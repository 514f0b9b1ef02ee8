package oracle

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"

	"signalbox/rule"
)

// plan is a proposal laid out for checking: everything in an order that doesn't
// depend on how it was given, and every distinct document once.
type plan struct {
	policy   Policy
	rules    []*row
	families map[rule.Family]*family
	cases    []rule.Case // by ID
	docs     []rule.Document
	caseDoc  []int   // case → its document
	docCases [][]int // document → its cases
	probes   []probe
}

// row is a rule with what its trigger answered: one cell per document, and the
// args of matches on its own family's documents.
type row struct {
	program rule.Program
	family  rule.Family
	matcher rule.Matcher
	own     []bool // per document
	cells   []cell
	args    map[int]rule.Value
	probed  []byte // a mark per probe that was asked, in order
	report  RuleReport
	finds   *findings
}

// family is what belongs to a family, served or not.
type family struct {
	name   rule.Family
	cases  []int
	rules  []*row
	report FamilyReport
}

// probe is a probe of a family, made out of the document origin.
type probe struct {
	Probe
	family rule.Family
	origin int
	hash   uint64
}

// newPlan checks the proposal and lays it out.
func newPlan(p Proposal) (*plan, error) {
	if err := p.check(); err != nil {
		return nil, fmt.Errorf("checking proposal: %w", err)
	}
	l := &plan{policy: p.Policy, families: map[rule.Family]*family{}, cases: slices.Clone(p.Cases)}
	slices.SortFunc(l.cases, func(a, b rule.Case) int { return cmp.Compare(a.ID, b.ID) })
	l.layCases()
	if err := l.layRules(p); err != nil {
		return nil, fmt.Errorf("checking proposal: %w", err)
	}
	l.layProbes()
	return l, nil
}

func (l *plan) layCases() {
	known := make(map[rule.Document]int)
	for i, c := range l.cases {
		task := c.Task.Document()
		doc, ok := known[task]
		if !ok {
			doc = len(l.docs)
			known[task] = doc
			l.docs = append(l.docs, task)
			l.docCases = append(l.docCases, nil)
		}
		l.caseDoc = append(l.caseDoc, doc)
		l.docCases[doc] = append(l.docCases[doc], i)
		l.familyOf(c.Family).cases = append(l.familyOf(c.Family).cases, i)
	}
}

func (l *plan) familyOf(name rule.Family) *family {
	if l.families[name] == nil {
		l.families[name] = &family{name: name, report: FamilyReport{Family: name, Uncovered: []Uncovered{}}}
	}
	return l.families[name]
}

func (l *plan) layRules(p Proposal) error {
	serves := make(map[rule.Name]rule.Family)
	for family, names := range p.mapping() {
		for _, name := range names {
			serves[name] = family
		}
	}
	for _, program := range p.Programs {
		matcher, err := program.Manifest.Guard.Matcher()
		if err != nil {
			return fmt.Errorf("rule %q: %w", program.Member.Rule, err)
		}
		name := program.Member.Rule
		l.rules = append(l.rules, &row{
			program: program, family: serves[name], matcher: matcher, own: make([]bool, len(l.docs)),
			cells: make([]cell, len(l.docs)), args: map[int]rule.Value{}, finds: newFindings(),
			report: RuleReport{Rule: name, Family: serves[name], Revision: program.Member.Revision},
		})
	}
	slices.SortFunc(l.rules, func(a, b *row) int { return cmp.Compare(a.report.Rule, b.report.Rule) })
	for _, r := range l.rules {
		f := l.familyOf(r.family)
		f.rules = append(f.rules, r)
		f.report.Rules = append(f.report.Rules, r.report.Rule)
		for _, c := range f.cases {
			r.own[l.caseDoc[c]] = true
		}
	}
	return nil
}

// layProbes makes the probes of every positive document of a served family.
// What is a known case's task by chance is no probe.
func (l *plan) layProbes() {
	known := make(map[rule.Document]bool, len(l.docs))
	for _, doc := range l.docs {
		known[doc] = true
	}
	for _, f := range l.inOrder() {
		if len(f.rules) == 0 {
			continue
		}
		origins := l.origins(f)
		instructions := make([]string, 0, len(origins))
		for _, origin := range origins {
			instructions = append(instructions, l.docs[origin].Instruction)
		}
		fixed := sharedWords(instructions)
		for _, origin := range origins {
			for _, made := range probesOf(l.docs[origin], l.policy.Words, fixed) {
				if !known[made.Task] {
					l.probes = append(l.probes, probe{Probe: made, family: f.name, origin: origin, hash: hashOf(made.Task)})
				}
			}
		}
	}
}

// origins returns the distinct documents of the family's positive cases.
func (l *plan) origins(f *family) []int {
	var origins []int
	seen := make(map[int]bool)
	for _, c := range f.cases {
		if doc := l.caseDoc[c]; !l.cases[c].Fallback && !seen[doc] {
			seen[doc] = true
			origins = append(origins, doc)
		}
	}
	return origins
}

// inOrder returns the families by name.
func (l *plan) inOrder() []*family {
	families := make([]*family, 0, len(l.families))
	for _, f := range l.families {
		families = append(families, f)
	}
	slices.SortFunc(families, func(a, b *family) int { return cmp.Compare(a.name, b.name) })
	return families
}

func hashOf(task rule.Document) uint64 {
	hash := fnv.New64a()
	hash.Write([]byte(task.Instruction))
	hash.Write([]byte{0})
	hash.Write([]byte(task.Input))
	return hash.Sum64()
}
