package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/urfave/cli/v2"

	"signalbox/containers"
	"signalbox/router"
	"signalbox/router/testbed"
	"signalbox/rule"
)

func routeCommand() *cli.Command {
	return &cli.Command{
		Name:      "route",
		Usage:     "answer a task by a rule, or fall back with the reason",
		ArgsUsage: "TASK.json",
		Description: `TASK.json holds {"instruction": text, "input": any JSON, "files": {path: text}};
input and files may be absent, and "-" reads standard input. The exit code is 0
where a rule answered and 3 for a fallback.

With --testbed the task is about a folder: the executor sees a copy of its visible
regular files, and the folder itself is changed only by --apply, all or nothing.`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "testbed", Usage: "the `FOLDER` that the task is about"},
			&cli.BoolFlag{Name: "patch", Usage: "print the changed files as a unified diff, and nothing else on stdout"},
			&cli.BoolFlag{Name: "apply", Usage: "write the changed files into the folder"},
			&cli.BoolFlag{Name: "explain", Usage: "print what every trigger said"},
		},
		Action: checked(checkRoute, route),
	}
}

func checkRoute(c *cli.Context) error {
	if (c.Bool("patch") || c.Bool("apply")) && c.String("testbed") == "" {
		return usageError("--patch and --apply need --testbed FOLDER")
	}
	return wantArguments(c, "TASK.json")
}

func route(ctx context.Context, w *workspace) error {
	folder := w.c.String("testbed")
	request, err := readRequest(ctx, w.c, folder)
	if err != nil {
		return err
	}
	answer, err := routeOnce(ctx, w, request)
	if err != nil {
		return err
	}
	if err := deliver(w, folder, request, answer); err != nil {
		return err
	}
	if !answer.Answered() {
		return resultWas(exitFallback, "fallback: "+string(answer.Reason))
	}
	return nil
}

func readRequest(ctx context.Context, c *cli.Context, folder string) (router.Request, error) {
	task, err := readTask(c, c.Args().First())
	if err != nil || folder == "" {
		return router.Request{Task: task}, err
	}
	if task.Files != nil {
		return router.Request{}, usageError("the task has files of its own: leave --testbed out")
	}
	tree, err := containers.PublicCopy(ctx, folder)
	if err != nil {
		return router.Request{}, fmt.Errorf("copying %q: %w", folder, err)
	}
	return router.Request{Task: task, Tree: tree}, nil
}

// maxTaskFile bounds a task file, in bytes.
const maxTaskFile = 64 << 20

func readTask(c *cli.Context, name string) (rule.Task, error) {
	in := c.App.Reader
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return rule.Task{}, fmt.Errorf("reading task: %w", err)
		}
		defer file.Close()
		in = file
	}
	data, err := io.ReadAll(io.LimitReader(in, maxTaskFile+1))
	if err != nil {
		return rule.Task{}, fmt.Errorf("reading task %q: %w", name, err)
	}
	if len(data) > maxTaskFile {
		return rule.Task{}, fmt.Errorf("reading task %q: more than %d bytes", name, maxTaskFile)
	}
	var task rule.Task
	if err := rule.Decode(data, &task); err != nil {
		return rule.Task{}, fmt.Errorf("reading task %q: %w", name, err)
	}
	return task, nil
}

// routeOnce routes with programs that are started for this task and removed
// after it. Where no engine can be used, that is a fallback like any other.
func routeOnce(ctx context.Context, w *workspace, request router.Request) (answer router.Answer, err error) {
	journal := router.NewJournal(w.registry.Ledger(), w.registry.Objects())
	if err := w.start(ctx); err != nil {
		return router.New(refusing{err}, nil, journal).Route(ctx, request)
	}
	authority := router.NewRegistryAuthority(w.registry, w.engine)
	answer, err = router.New(authority, w.residents, journal).Route(ctx, request)
	if err != nil {
		return answer, err
	}
	started := time.Now()
	if err := w.residents.Close(); err != nil {
		say(w.c, "ending the programs: %v", err) // the answer is given and on record
	}
	if late := journal.Late(ctx, answer.RouteID, time.Since(started)); late == nil {
		_ = journal.Flush(ctx) // a timing that is lost is no answer that is lost
	}
	return answer, nil
}

// refusing is the authority where nothing can be checked.
type refusing struct{ why error }

func (r refusing) Current(context.Context) (*router.Authorised, error) {
	return nil, &router.Refusal{Reason: rule.ReasonSandboxUnavailable, Detail: r.why.Error()}
}

func (r refusing) Still(context.Context, *router.Authorised) bool { return false }

// deliver prints the answer, or brings its files to the folder.
func deliver(w *workspace, folder string, request router.Request, answer router.Answer) error {
	if answer.Answered() && w.c.Bool("apply") {
		if err := testbed.Apply(folder, request.Tree, answer.Outcome.Files); err != nil {
			return err
		}
		say(w.c, "applied %s to %s", plural(len(answer.Outcome.Files), "file"), folder)
	}
	if w.c.Bool("json") {
		return printJSON(w.c, answer)
	}
	if answer.Answered() && w.c.Bool("patch") {
		_, err := w.c.App.Writer.Write(testbed.Diff(request.Tree, answer.Outcome.Files))
		return err
	}
	return printAnswer(w, request, answer)
}

func printAnswer(w *workspace, request router.Request, answer router.Answer) error {
	if w.c.Bool("explain") {
		if err := printVerdicts(w, answer); err != nil {
			return err
		}
	}
	if !answer.Answered() {
		out := w.c.App.Writer
		if w.c.Bool("patch") {
			out = w.c.App.ErrWriter // a patch tool reads stdout
		}
		fmt.Fprintf(out, "fallback: %s\n", answer.Reason)
		if answer.Detail != "" {
			say(w.c, "%s", printable(answer.Detail))
		}
		return nil
	}
	say(w.c, "answered by %s@%s in %.0f ms", answer.Rule, answer.Revision.Short(), answer.Timing.Whole)
	if answer.Outcome.Output.Present() {
		fmt.Fprintln(w.c.App.Writer, string(answer.Outcome.Output))
	}
	if len(answer.Outcome.Files) > 0 {
		tree := request.Tree
		if tree == nil {
			tree = request.Task.Tree()
		}
		_, err := w.c.App.Writer.Write(testbed.Diff(tree, answer.Outcome.Files))
		return err
	}
	return nil
}

func printVerdicts(w *workspace, answer router.Answer) error {
	fmt.Fprintf(w.c.App.Writer, "route %s, task %s, generation %d, proof %s\n", answer.RouteID, answer.Task.Short(), answer.Generation, answer.Proof.Short())
	t := newTable(w.c.App.Writer, "RULE", "VERDICT", "BY", "MS", "NOTE")
	for _, v := range answer.Verdicts {
		by, said := "program", string(v.Verdict)
		if v.Guard {
			by = "guard"
		}
		if v.Failure != "" {
			said = string(v.Failure)
		}
		note := v.Note
		if note == "" {
			note = v.Detail
		}
		t.row(string(v.Rule), said, by, fmt.Sprintf("%.1f", v.Millis), note)
	}
	return t.flush()
}
