package rule

import "fmt"

// Part says who may see a case. The zero value is unassigned.
type Part string

// The parts. Visible cases are the author's, admission cases the oracle's, and
// sealed cases the audit's alone.
const (
	VisiblePart   Part = "visible"
	AdmissionPart Part = "admission"
	SealedPart    Part = "sealed"
)

// Case is a task with its certified outcome, or with the certified word that it
// must fall back. Operators certify; models never do.
type Case struct {
	ID          string   `json:"id"`
	Family      Family   `json:"family"`
	Task        Task     `json:"task"`
	Outcome     Outcome  `json:"outcome,omitzero"`
	Fallback    bool     `json:"fallback,omitzero"`
	Args        Value    `json:"args,omitzero"`
	Part        Part     `json:"part"`
	CertifiedBy string   `json:"certified_by"`
	Source      string   `json:"source,omitzero"`
	Baseline    Baseline `json:"baseline,omitzero"`
}

// Baseline is what the work cost when it was done without a rule.
type Baseline struct {
	USD    float64 `json:"usd,omitzero"`
	Tokens int64   `json:"tokens,omitzero"`
	Millis int64   `json:"ms,omitzero"`
}

// Check returns the first reason why the case can't be taken.
func (c Case) Check() error {
	switch {
	case c.ID == "" || len(c.ID) > 200 || hasControl(c.ID):
		return fmt.Errorf("case id %q: want 1 to 200 bytes without control characters", shorten(c.ID))
	case c.Family == "":
		return fmt.Errorf("case %q has no family", c.ID)
	case c.Args.Present() && (c.Fallback || c.Args[0] != '{'):
		return fmt.Errorf("case %q: args are an object, and only with an outcome", c.ID)
	case c.Baseline.USD < 0 || c.Baseline.Tokens < 0 || c.Baseline.Millis < 0:
		return fmt.Errorf("case %q: a baseline below zero", c.ID)
	}
	if err := c.Task.Check(); err != nil {
		return fmt.Errorf("case %q: %w", c.ID, err)
	}
	if c.Fallback {
		if c.Outcome.Output.Present() || c.Outcome.Files != nil {
			return fmt.Errorf("case %q: both an outcome and fallback", c.ID)
		}
		return nil
	}
	if err := c.Outcome.Check(); err != nil {
		return fmt.Errorf("case %q: %w", c.ID, err)
	}
	return nil
}
