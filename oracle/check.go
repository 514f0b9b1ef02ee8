package oracle

import (
	"context"
	"runtime"
	"sync"
	"time"
)

// Check runs the whole proposed collection over the whole suite and reports
// what it found. It returns ErrUnavailable where a program could not be run,
// ctx's error where ctx ended, and another error where the proposal itself
// makes no sense; there is no report then. progress, which may be nil, is told
// calls done and expected; it is never called concurrently, and total may only
// shrink.
func Check(ctx context.Context, programs Programs, p Proposal, progress func(done, total int)) (*Report, error) {
	started := time.Now()
	l, err := newPlan(p)
	if err != nil {
		return nil, err
	}
	askers := make([]*asker, len(l.rules))
	meter := &meter{tell: progress}
	for i, r := range l.rules {
		askers[i] = &asker{plan: l, row: r, programs: programs, progress: meter.add, limit: maxArgsBytes}
		askers[i].prepare()
		meter.total += len(askers[i].questions) * l.policy.Repeats
	}
	meter.total += len(l.cases) * l.policy.Repeats
	err = each(ctx, len(askers), func(ctx context.Context, i int) error { return askers[i].ask(ctx) })
	if err != nil {
		return nil, err
	}
	out := l.decide()
	calls, err := l.execute(ctx, programs, out, meter.add)
	if err != nil {
		return nil, err
	}
	meter.finish()
	report := l.summarise(p, out)
	report.Counts.ExecutorCalls = calls
	for _, a := range askers {
		report.Counts.TriggerCalls += len(a.questions) * l.policy.Repeats
	}
	report.StartedAt, report.FinishedAt = started, time.Now()
	return report, nil
}

// execute runs the executors that the decisions chose, several rules at once,
// and returns how many calls that took.
func (l *plan) execute(ctx context.Context, programs Programs, out []decided, progress func(int)) (int, error) {
	jobs := make(map[*row][]int)
	for i, d := range out {
		if d.winner != nil {
			jobs[d.winner] = append(jobs[d.winner], i)
		}
	}
	calls := make([]int, len(l.rules))
	err := each(ctx, len(l.rules), func(ctx context.Context, i int) error {
		e := &executor{plan: l, row: l.rules[i], programs: programs, progress: progress}
		err := e.run(ctx, jobs[l.rules[i]], out)
		calls[i] = e.calls
		return err
	})
	total := 0
	for _, n := range calls {
		total += n
	}
	return total, err
}

// each calls do for 0 to n-1, as many at a time as there are processors, and
// returns the first error after all have ended.
func each(ctx context.Context, n int, do func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next := make(chan int)
	var running sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		running.Go(func() {
			for i := range next {
				if err := do(ctx, i); err != nil {
					cancel(err)
				}
			}
		})
	}
	for i := 0; i < n && ctx.Err() == nil; i++ {
		select {
		case next <- i:
		case <-ctx.Done():
		}
	}
	close(next)
	running.Wait()
	return context.Cause(ctx)
}

// meter adds up calls for a progress callback.
type meter struct {
	mutex       sync.Mutex
	done, total int
	tell        func(done, total int)
}

func (m *meter) add(n int) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.done += n
	if m.tell != nil {
		m.tell(m.done, m.total)
	}
}

// finish tells that all is done: fewer executors ran than were expected.
func (m *meter) finish() {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.total = m.done
	if m.tell != nil {
		m.tell(m.done, m.total)
	}
}
