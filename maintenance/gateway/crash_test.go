package gateway

import (
	"context"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"signalbox/registry/ledger"
)

// The steps around a reservation at which a victim is killed.
const (
	dieBeforeReserve = "before reserve"
	dieAfterReserve  = "after reserve"
	dieDuringCall    = "during call"
	dieBeforeSettle  = "before settle"
	dieAfterSettle   = "after settle"
	dieNever         = "never"
)

// TestMain turns the test binary into a victim where it is asked to be one.
func TestMain(m *testing.M) {
	if path := os.Getenv("GATEWAY_VICTIM_LEDGER"); path != "" {
		victim(path, os.Getenv("GATEWAY_VICTIM_URL"), os.Getenv("GATEWAY_VICTIM_STEP"))
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// victim makes one call and kills itself at a step.
func victim(path, url, step string) {
	ctx := context.Background()
	l, err := ledger.Open(ctx, path)
	if err != nil {
		panic(err)
	}
	g, err := New(endpointAt(url), threeTools, suicidal{l, step})
	if err != nil {
		panic(err)
	}
	_, _ = g.Ask(ctx, "a0001", asked)
}

func die() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

// suicidal is a ledger whose process is killed at a step.
type suicidal struct {
	*ledger.Ledger
	step string
}

func (s suicidal) Reserve(ctx context.Context, kind ledger.Kind, attempt, purpose string, amounts ledger.Amounts) (int64, error) {
	if s.step == dieBeforeReserve {
		die()
	}
	id, err := s.Ledger.Reserve(ctx, kind, attempt, purpose, amounts)
	if s.step == dieAfterReserve {
		die()
	}
	return id, err
}

func (s suicidal) Settle(ctx context.Context, id int64, charged ledger.Amounts) error {
	if s.step == dieBeforeSettle {
		die()
	}
	err := s.Ledger.Settle(ctx, id, charged)
	if s.step == dieAfterSettle {
		die()
	}
	return err
}

// TestKilled kills a process at each step around a reservation. No request
// arrives that wasn't reserved, and after a restart nothing is sent again.
func TestKilled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	l, err := ledger.Create(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, resource := range []ledger.Resource{ledger.Calls, ledger.PromptTokens, ledger.CompletionTokens} {
		allow(t, l, resource, 1<<30)
	}
	var victimPID atomic.Int64
	server := newProvider(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/kill/") {
			_ = syscall.Kill(int(victimPID.Load()), syscall.SIGKILL)
			time.Sleep(20 * time.Millisecond)
			return
		}
		answers(200, good)(w, r)
	})
	for _, c := range []struct {
		step     string
		arrives  int64
		reserves int64
		unknown  int
	}{
		{dieBeforeReserve, 0, 0, 0},
		{dieAfterReserve, 0, 1, 1},
		{dieDuringCall, 1, 1, 1},
		{dieBeforeSettle, 1, 1, 1},
		{dieAfterSettle, 1, 1, 0},
		{dieNever, 1, 1, 0},
	} {
		arrived, reserved, unknown := server.arrived.Load(), used(t, l, ledger.Calls), uncertain(t, l)
		runVictim(t, path, server.URL, c.step, &victimPID)
		if _, _, err := l.Recover(t.Context(), "uncertain_call"); err != nil {
			t.Fatal(err)
		}
		if got := server.arrived.Load() - arrived; got != c.arrives {
			t.Errorf("%s: %d requests arrived, want %d", c.step, got, c.arrives)
		}
		if got := used(t, l, ledger.Calls) - reserved; got != c.reserves {
			t.Errorf("%s: %d calls are spent, want %d", c.step, got, c.reserves)
		}
		if got := uncertain(t, l) - unknown; got != c.unknown {
			t.Errorf("%s: %d uncertain, want %d", c.step, got, c.unknown)
		}
	}
	if server.arrived.Load() > used(t, l, ledger.Calls) {
		t.Errorf("%d requests arrived, %d were reserved", server.arrived.Load(), used(t, l, ledger.Calls))
	}
}

// runVictim starts a victim and waits for its end.
func runVictim(t *testing.T, path, url, step string, pid *atomic.Int64) {
	t.Helper()
	if step == dieDuringCall {
		url += "/kill"
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "GATEWAY_VICTIM_LEDGER="+path, "GATEWAY_VICTIM_URL="+url, "GATEWAY_VICTIM_STEP="+step)
	cmd.Stderr = io.Discard
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pid.Store(int64(cmd.Process.Pid))
	err := cmd.Wait()
	killed := err != nil && cmd.ProcessState.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL
	if killed == (step == dieNever) {
		t.Fatalf("%s: the victim ended with %v", step, err)
	}
}
