package ledger

import (
	"bufio"
	"context"
	"fmt"
	"os"
	osexec "os/exec"
	"testing"

	"signalbox/rule"
)

// TestAcknowledgedEventsSurviveAKill kills a process while it records events. Every
// event that it acknowledged is there, and the totals count exactly what is there.
func TestAcknowledgedEventsSurviveAKill(t *testing.T) {
	l := newLedger(t)
	for round := range 3 {
		command := osexec.Command(os.Args[0])
		command.Env = append(os.Environ(), "LEDGER_TEST_HELPER=record", "LEDGER_TEST_PATH="+l.path, fmt.Sprint("LEDGER_TEST_ROUND=", round))
		out, err := command.StdoutPipe()
		must(t, err)
		must(t, command.Start())
		var acknowledged []string
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			acknowledged = append(acknowledged, lines.Text())
			if len(acknowledged) == 20+round {
				must(t, command.Process.Kill())
			}
		}
		_ = command.Wait()
		if len(acknowledged) < 20 {
			t.Fatalf("only %d events before the kill", len(acknowledged))
		}
		for _, id := range acknowledged {
			if _, err := l.Event(t.Context(), id); err != nil {
				t.Errorf("acknowledged event %s: %v", id, err)
			}
		}
	}
	events, err := l.Events(t.Context(), Filter{Limit: 100_000})
	must(t, err)
	if counted, _, _ := total(t, l, rule.ReasonMatched); counted != int64(len(events)) {
		t.Errorf("the totals count %d, there are %d events", counted, len(events))
	}
	must(t, l.Check(t.Context()))
}

// helpRecord records events until it is killed.
func helpRecord(ctx context.Context, l *Ledger) int {
	for i := 0; ; i++ {
		id := fmt.Sprintf("r%s-%d", os.Getenv("LEDGER_TEST_ROUND"), i)
		if err := l.RecordEvent(ctx, event(id, rule.ReasonMatched)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		fmt.Println(id)
	}
}
