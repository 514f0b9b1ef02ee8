package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"signalbox": main})
}

// TestScripts runs testdata/*.txtar, each in a folder of its own with a
// workspace of its own. Beside testscript's commands a script has:
//
//	exits CODE COMMAND …   the command must end with exactly this exit code
//
// and the conditions [docker] (an engine answers) and [root].
func TestScripts(t *testing.T) {
	docker := engineAnswers()
	demo, err := filepath.Abs("../../fixtures/demo")
	if err != nil {
		t.Fatal(err)
	}
	if !docker && os.Getenv("CI") == "true" {
		t.Fatal("no Docker Engine answers: under CI every script runs")
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits,
		},
		Condition: func(name string) (bool, error) {
			switch name {
			case "docker":
				return docker, nil
			case "root":
				return os.Getuid() == 0, nil
			}
			return false, nil
		},
		Setup: func(env *testscript.Env) error {
			env.Setenv("SIGNALBOX_HOME", env.WorkDir+"/home")
			env.Setenv("SIGNALBOX_OPERATOR", "tester")
			env.Setenv("DEMO", demo)
			return nil
		},
	})
}

// exits runs a command and asserts its exit code; stdout and stderr are then
// there for the script's own commands.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND ARGUMENT…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		exit, ok := err.(*exec.ExitError)
		if !ok {
			ts.Fatalf("running %s: %v", args[1], err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("%s ended with %d, want %d", args[1], got, want)
	}
}

func engineAnswers() bool {
	return exec.CommandContext(context.Background(), "docker", "version").Run() == nil
}
