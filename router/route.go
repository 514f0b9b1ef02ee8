package router

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"signalbox/rule"
)

// Programs runs the programs of rules. Replies carry failures as facts, and a
// call ends by the host's deadline, whatever the program does.
type Programs interface {
	Trigger(ctx context.Context, p rule.Program, task rule.Document) rule.TriggerReply
	Execute(ctx context.Context, p rule.Program, task rule.Document, args rule.Value, tree rule.Tree) rule.ExecutorReply
}

// Recorder persists answers before they are given. Record returns once the
// event is on disk; Void marks a recorded answer as never given; Late adds the
// time that a route took after its event was written.
type Recorder interface {
	Record(ctx context.Context, request Request, answer Answer) error
	Void(ctx context.Context, answer Answer) error
	Late(ctx context.Context, routeID string, took time.Duration) error
}

// Request is a task, with the tree that it is about where the caller has one.
// Tree nil means the task's own files.
type Request struct {
	Task rule.Task
	Tree rule.Tree
}

func (r Request) tree() rule.Tree {
	if r.Tree != nil {
		return r.Tree
	}
	return r.Task.Tree()
}

// ErrNotRecorded is returned when an answer could not be persisted. Nothing was
// answered then.
var ErrNotRecorded = errors.New("answer not recorded")

// asking bounds how many triggers of one route are asked at a time.
const asking = 16

// Router routes tasks. It is safe for concurrent use.
type Router struct {
	authority Authority
	programs  Programs
	recorder  Recorder
}

// New returns a router over what authority says may answer.
func New(authority Authority, programs Programs, recorder Recorder) *Router {
	return &Router{authority: authority, programs: programs, recorder: recorder}
}

// Route answers one task by the only rule that matches it, or says why none
// does. The error is for what prevents an honest answer of either kind.
func (r *Router) Route(ctx context.Context, request Request) (Answer, error) {
	started := time.Now()
	answer := Answer{RouteID: rand.Text(), Task: request.Task.Digest(request.Tree), Verdicts: []Verdict{}}
	authorised := r.decide(ctx, request, &answer)
	answer.Timing.Whole = millis(started)
	if err := r.persist(ctx, request, &answer, authorised); err != nil {
		return Answer{}, err
	}
	recorded := answer.Timing.Whole
	answer.Timing.Whole = millis(started)
	// A timing that is lost costs a report some milliseconds, and no answer.
	_ = r.recorder.Late(ctx, answer.RouteID, duration(answer.Timing.Whole-recorded))
	return answer, nil
}

// decide fills in the answer, and returns what authorised it, nil where nothing
// did.
func (r *Router) decide(ctx context.Context, request Request, answer *Answer) *Authorised {
	if err := check(request); err != nil {
		answer.fallBack(rule.ReasonTaskRejected, err.Error())
		return nil
	}
	started := time.Now()
	authorised, err := r.authority.Current(ctx)
	answer.Timing.Authority = millis(started)
	if err != nil {
		reason, detail := refusal(err)
		answer.fallBack(reason, detail)
		return nil
	}
	answer.Generation, answer.Proof = authorised.Generation, authorised.Proof
	started = time.Now()
	replies := r.ask(ctx, authorised, request.Task.Document(), answer)
	answer.Timing.Triggers = millis(started)
	decision := rule.Decide(replies)
	if decision.Reason != rule.ReasonMatched {
		answer.fallBack(decision.Reason, detailOf(decision.Reason, answer.Verdicts))
		return authorised
	}
	started = time.Now()
	r.execute(ctx, authorised.Programs[decision.Winner], request, replies[decision.Winner].Args, answer)
	answer.Timing.Executor = millis(started)
	return authorised
}

func check(request Request) error {
	if err := request.Task.Check(); err != nil {
		return err
	}
	if request.Tree != nil && request.Task.Files != nil {
		return errors.New("the task has files of its own and a tree was given too")
	}
	return request.Tree.CheckPublic()
}

// ask puts the task to every trigger whose guard allows it, several at once.
func (r *Router) ask(ctx context.Context, authorised *Authorised, task rule.Document, answer *Answer) []rule.TriggerReply {
	replies := make([]rule.TriggerReply, len(authorised.Programs))
	answer.Verdicts = make([]Verdict, len(authorised.Programs))
	var running sync.WaitGroup
	slots := make(chan struct{}, asking)
	for i, program := range authorised.Programs {
		if !authorised.guards[i].Allows(task) {
			replies[i] = rule.TriggerReply{Verdict: rule.NoMatch}
			answer.Verdicts[i] = verdictOf(program, replies[i], 0)
			answer.Verdicts[i].Guard = true
			continue
		}
		running.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			started := time.Now()
			replies[i] = program.Manifest.FitTrigger(r.programs.Trigger(ctx, program, task))
			answer.Verdicts[i] = verdictOf(program, replies[i], millis(started))
		})
	}
	running.Wait()
	return replies
}

func verdictOf(program rule.Program, reply rule.TriggerReply, took float64) Verdict {
	return Verdict{
		Rule: program.Member.Rule, Revision: program.Member.Revision,
		Verdict: reply.Verdict, Failure: reply.Failure, Args: reply.Args,
		Note: reply.Note, Detail: reply.Detail, Millis: took,
	}
}

// execute runs the winner's executor and completes the answer.
func (r *Router) execute(ctx context.Context, winner rule.Program, request Request, args rule.Value, answer *Answer) {
	reply := winner.Manifest.FitExecutor(r.programs.Execute(ctx, winner, request.Task.Document(), args, request.tree()))
	answer.Rule, answer.Family, answer.Revision = winner.Member.Rule, winner.Manifest.Family, winner.Member.Revision
	reason := rule.ExecutorReason(reply)
	if reason != rule.ReasonMatched {
		answer.fallBack(reason, firstOf(reply.Note, reply.Detail))
		return
	}
	answer.Decision, answer.Reason, answer.Outcome = DecisionRule, reason, reply.Outcome
}

// persist records the answer and then looks once more whether it is still
// authorised: that is the moment of the answer.
func (r *Router) persist(ctx context.Context, request Request, answer *Answer, authorised *Authorised) error {
	started := time.Now()
	if err := r.recorder.Record(ctx, request, *answer); err != nil {
		return fmt.Errorf("%w: %v", ErrNotRecorded, err)
	}
	answer.Timing.Persist = millis(started)
	if !answer.Answered() || r.authority.Still(ctx, authorised) {
		return nil
	}
	answer.fallBack(rule.ReasonRegistryChanged, "the registry changed while the task was being answered")
	if err := r.recorder.Void(ctx, *answer); err != nil {
		return fmt.Errorf("%w: %v", ErrNotRecorded, err)
	}
	return nil
}

// detailOf names the triggers that gave a route its reason.
func detailOf(reason rule.Reason, verdicts []Verdict) string {
	detail := ""
	for _, v := range verdicts {
		if !concerns(reason, v) {
			continue
		}
		if detail != "" {
			detail += "; "
		}
		detail += string(v.Rule)
		if said := firstOf(v.Note, v.Detail); said != "" {
			detail += ": " + said
		}
	}
	return detail
}

func concerns(reason rule.Reason, v Verdict) bool {
	switch reason {
	case rule.ReasonNoMatch:
		return false
	case rule.ReasonConflict:
		return v.Verdict == rule.Match
	case rule.ReasonAbstained:
		return v.Verdict == rule.Abstain
	}
	return v.Failure != ""
}

func firstOf(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}
