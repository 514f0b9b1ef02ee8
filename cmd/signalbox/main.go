// Command signalbox turns certified history into verified deterministic rules
// and answers matching tasks with them, without a model.
//
// This package wires the rooms together: flags, printing and exit codes, one
// file a command. What a command does is decided in the room that it calls.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	code := run(ctx, os.Args, os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is main without the process: it returns the exit code of design.md §8.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	app := newApp(stdin, stdout, stderr)
	ordered, err := reorder(app, args)
	if err == nil {
		err = app.RunContext(ctx, ordered)
	}
	return report(err, stderr)
}
