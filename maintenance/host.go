package maintenance

import (
	"context"

	"signalbox/maintenance/gateway"
	"signalbox/oracle"
	"signalbox/proofs"
	"signalbox/registry/ledger"
	"signalbox/rule"
	"signalbox/rule/frame"
)

// View is one serial of the workspace as maintenance needs it. Cases are the
// visible and the admission cases of all families, never sealed ones. Active is
// the active collection; Known are all rules, disabled ones too. Environment is
// what a new rule runs in. Policy, Suite, Base and Tool are what a check of
// today's suite is bound to.
type View struct {
	Cases       []rule.Case
	Active      []rule.Program
	Mapping     rule.Mapping
	Known       map[rule.Name]rule.Family
	Locked      []rule.Name
	Environment rule.Environment
	Policy      oracle.Policy
	Suite       rule.Digest
	Base        proofs.Base
	Tool        string
}

// Workspace is where the loop reads from and where its result goes. View
// returns the newest serial. Reveal makes admission cases visible for good and
// records that this attempt was shown them. Propose saves the draft as a
// revision and the collection as a proposal with a signed proof of the report,
// and returns the proof's name; it activates nothing.
type Workspace interface {
	View(ctx context.Context) (View, error)
	Reveal(ctx context.Context, attempt string, cases []string) error
	Propose(ctx context.Context, p Proposal) (proof rule.Digest, err error)
}

// Proposal is a draft that passed, with what it passed in. Dropped are active
// rules that fail today's suite without the draft's doing, and so are not part
// of the checked collection.
type Proposal struct {
	Attempt string
	Draft   rule.Program
	Checked oracle.Proposal
	Report  *oracle.Report
	Dropped []rule.Name
}

// DraftEditor is str_replace_editor on a copy of a draft, away from the host;
// *containers.DraftEditor is one. Call returns an editor.Result as JSON. An
// error says that there is none.
type DraftEditor interface {
	Call(ctx context.Context, call frame.Edit) ([]byte, error)
	Close() error
}

// Ledger is where attempts are written down and paid for; *ledger.Ledger is one.
type Ledger interface {
	gateway.Ledger
	OpenAttempt(ctx context.Context, a ledger.Attempt) error
	CloseAttempt(ctx context.Context, id, stop string, detail rule.Value) error
	Attempts(ctx context.Context) ([]ledger.Attempt, error)
}

// Deps is everything outside that an attempt works with. Home is the workspace's
// folder. OpenEditor gets a draft's tree. Check is the oracle's; nil is
// oracle.Check with Programs.
type Deps struct {
	Home       string
	Workspace  Workspace
	Programs   oracle.Programs
	Check      func(ctx context.Context, p oracle.Proposal) (*oracle.Report, error)
	Ledger     Ledger
	OpenEditor func(ctx context.Context, tree rule.Tree) (DraftEditor, error)
}
