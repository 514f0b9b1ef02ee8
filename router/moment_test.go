package router

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"signalbox/proofs"
	"signalbox/registry"
	"signalbox/rule"
)

// routes is how many tasks are routed while the registry changes.
const routes = 10_000

var operator = registry.Change{Who: "ann", Why: "test"}

// sameEngine finds every environment as it was.
type sameEngine struct{}

func (sameEngine) Check(context.Context, rule.Environment) error { return nil }

// right is what may answer: nothing where it is zero.
type right struct {
	generation rule.Generation
	proof      rule.Digest
}

// history knows what might answer after each change, before it is made. begun and
// ended count changes.
type history struct {
	rights       [100_000]atomic.Pointer[right]
	begun, ended atomic.Int64
}

// change makes one change after which r may answer.
func (h *history) change(t *testing.T, r right, do func() error) {
	h.rights[h.begun.Load()+1].Store(&r)
	h.begun.Add(1)
	if err := do(); err != nil {
		t.Errorf("changing the registry: %v", err)
	}
	h.ended.Add(1)
}

// might says whether r could answer at some moment between two counts.
func (h *history) might(r right, from, to int64) bool {
	for i := from; i <= to; i++ {
		if known := h.rights[i].Load(); known != nil && *known == r {
			return true
		}
	}
	return false
}

// witness is an authority that checks each yes of another against the history.
type witness struct {
	Authority
	history        *history
	answers, wrong atomic.Int64
}

func (w *witness) Still(ctx context.Context, was *Authorised) bool {
	from := w.history.ended.Load()
	still := w.Authority.Still(ctx, was)
	if !still {
		return false
	}
	w.answers.Add(1)
	if !w.history.might(right{was.Generation, was.Proof}, from, w.history.begun.Load()) {
		w.wrong.Add(1)
	}
	return true
}

// forever believes what it was told once: the control.
type forever struct {
	Authority
	once sync.Once
	kept *Authorised
}

func (f *forever) Current(ctx context.Context) (*Authorised, error) {
	f.once.Do(func() { f.kept, _ = f.Authority.Current(ctx) })
	return f.kept, nil
}
func (f *forever) Still(context.Context, *Authorised) bool { return true }

// stage is a registry with two revisions of one rule, that are activated in turn.
type stage struct {
	t       *testing.T
	r       *registry.Registry
	members [2]rule.Member
	history *history
}

func newStage(t *testing.T) *stage {
	t.Helper()
	environment := rule.Environment{Name: "starlark", Runtime: "starlark", ImageID: rule.DigestOf([]byte("image")), Kernel: rule.DigestOf([]byte("kernel"))}
	r, err := registry.Init(t.Context(), filepath.Join(t.TempDir(), "home"), registry.InitOptions{
		Environments: []rule.Environment{environment},
		Policy:       proofs.Policy{Floor: 0.5, Repeats: 2, Probes: true, ScopeWords: rule.DigestOf([]byte("words"))},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	line := rule.Case{ID: "a", Family: "f", Task: rule.Task{Instruction: "do it"}, Outcome: rule.Outcome{Output: `"yes"`}}
	if _, err := r.Ingest(t.Context(), []registry.Line{{Number: 1, Case: line}}, registry.IngestOptions{CertifiedBy: "ann"}, operator); err != nil {
		t.Fatal(err)
	}
	s := &stage{t: t, r: r, history: &history{}}
	s.history.rights[0].Store(&right{})
	for i := range s.members {
		s.add(i)
	}
	return s
}

func (s *stage) add(i int) {
	member, err := s.r.AddRule(context.Background(), rule.TreeOf(map[string]string{
		rule.ManifestFile: `{"schema":1,"name":"a","family":"f","summary":"","environment":"starlark","guard":{"equals":["do it"]},"args_schema":{"type":"object"},"result_schema":{}}`,
		rule.TriggerFile:  fmt.Sprint("def trigger(task): return match({}) #", i),
		rule.ExecutorFile: "def execute(task, args): return result(output='yes')",
	}), operator)
	if err != nil {
		s.t.Errorf("adding a revision: %v", err)
	}
	s.members[i] = member
}

// prove signs what an honest oracle would state of a member now.
func (s *stage) prove(member rule.Member) (verified proofs.Verified, base rule.Generation) {
	now, err := s.r.Snapshot(context.Background())
	if err != nil {
		s.t.Error(err)
		return verified, 0
	}
	state := now.State()
	key, err := proofs.LoadKey(s.r.Keys())
	if err != nil {
		s.t.Error(err)
		return verified, 0
	}
	envelope, err := proofs.Sign(key, proofs.Predicate{
		Members: rule.Collection{member}, Environments: state.Environments, Mapping: rule.Mapping{"f": {"a"}},
		Suite: proofs.Suite{Digest: state.Suite.Digest, Cases: state.Suite.Cases}, Policy: state.Policy,
		Base: proofs.Base{Generation: state.Generation, Serial: state.Serial}, Matrix: rule.DigestOf([]byte("m")), Tool: "test",
		StartedAt: time.Unix(1, 0), FinishedAt: time.Unix(2, 0),
	})
	if err != nil {
		s.t.Error(err)
		return verified, 0
	}
	if verified, err = proofs.Verify(envelope, key.Public()); err != nil {
		s.t.Error(err)
	}
	return verified, state.Generation
}

func (s *stage) activate(i int) right {
	verified, base := s.prove(s.members[i])
	now := right{base + 1, verified.ID()}
	s.history.change(s.t, now, func() error {
		_, err := s.r.Activate(context.Background(), verified, sameEngine{}, operator)
		return err
	})
	return now
}

// turn activates one revision, then the other, goes back to the first (which is
// what rollback does: prove again, activate), locks and unlocks, and disables.
func (s *stage) turn() {
	for _, i := range []int{0, 1, 0} {
		active := s.activate(i)
		s.history.change(s.t, active, func() error { return s.r.Lock(context.Background(), "a", operator) })
		s.history.change(s.t, active, func() error { return s.r.Unlock(context.Background(), "a", operator) })
	}
	s.history.change(s.t, right{}, func() error { return s.r.Disable(context.Background(), "a", operator) })
	for i := range s.members {
		s.history.change(s.t, right{}, func() error { s.add(i); return nil })
	}
}

// nowhere records nothing: the ledger has its own tests.
type nowhere struct{}

func (nowhere) Record(context.Context, Request, Answer) error     { return nil }
func (nowhere) Void(context.Context, Answer) error                { return nil }
func (nowhere) Late(context.Context, string, time.Duration) error { return nil }
func (nowhere) Trigger(context.Context, rule.Program, rule.Document) rule.TriggerReply {
	return rule.TriggerReply{Verdict: rule.Match, Args: `{}`}
}
func (nowhere) Execute(context.Context, rule.Program, rule.Document, rule.Value, rule.Tree) rule.ExecutorReply {
	return rule.ExecutorReply{Outcome: &rule.Outcome{Output: `"yes"`}}
}

// routeWhile routes n tasks while the registry is changed without a pause, and
// returns how many answers were given, and how many of them without authority.
func (s *stage) routeWhile(authority Authority, n int) (answers, wrong int64, reasons map[rule.Reason]int) {
	w := &witness{Authority: authority, history: s.history}
	router := New(w, nowhere{}, nowhere{})
	var routing, changing sync.WaitGroup
	stop := make(chan struct{})
	changing.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				if s.t.Failed() {
					return
				}
				s.turn()
			}
		}
	})
	reasons = map[rule.Reason]int{}
	var mu sync.Mutex
	const callers = 8
	for range callers {
		routing.Go(func() {
			for range n / callers {
				answer, err := router.Route(context.Background(), Request{Task: rule.Task{Instruction: "do it"}})
				if err != nil {
					s.t.Errorf("routing: %v", err)
					return
				}
				mu.Lock()
				reasons[answer.Reason]++
				mu.Unlock()
				time.Sleep(time.Millisecond)
			}
		})
	}
	routing.Wait()
	close(stop)
	changing.Wait()
	return w.answers.Load(), w.wrong.Load(), reasons
}

// TestNoAnswerWithoutAuthority routes 10,000 tasks while revisions are activated,
// rolled back, locked and disabled. Each answer comes from a collection that was
// active and proven at some moment while Still was asked.
func TestNoAnswerWithoutAuthority(t *testing.T) {
	s := newStage(t)
	answers, wrong, reasons := s.routeWhile(NewRegistryAuthority(s.r, sameEngine{}), routes)
	t.Logf("%d routes, %d changes: %d answers, %d without authority; %v", routes, s.history.ended.Load(), answers, wrong, reasons)
	if wrong != 0 || answers == 0 || int(answers) != reasons[rule.ReasonMatched] {
		t.Errorf("%d answers, %d of them from a collection that might not answer; %v", answers, wrong, reasons)
	}
	if reasons[rule.ReasonRegistryChanged]+reasons[rule.ReasonProofStale] == 0 {
		t.Error("no route met a change: the test shows nothing")
	}
}

// TestWitnessBites has an authority that never looks again.
func TestWitnessBites(t *testing.T) {
	s := newStage(t)
	s.activate(0)
	authority := &forever{Authority: NewRegistryAuthority(s.r, sameEngine{})}
	if _, err := authority.Current(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, wrong, _ := s.routeWhile(authority, 400); wrong == 0 {
		t.Error("an authority that never looks again gave no wrong answer")
	}
}
