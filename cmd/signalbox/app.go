package main

import (
	"fmt"
	"io"
	"runtime/debug"

	"github.com/urfave/cli/v2"
)

const about = `signalbox turns the small tasks that you pay a model or a person for, again and
again, into verified deterministic rules. It learns a rule from outcomes that an
operator certified, proves it against every known case, and from then on answers
matching tasks with no model call. When it isn't certain it says "fallback" and
gives the reason.

   signalbox init                                    make a workspace
   signalbox ingest history.jsonl --certified-by ME  certify history
   signalbox maintain --all                          write and prove rules
   signalbox validate --activate                     prove the whole and switch it on
   signalbox route task.json                         answer a task, or fall back

Exit codes: 0 done (route: a rule answered), 1 error, 2 usage, 3 fallback,
4 refused (stale proof, conflict, limit), 5 could not check (Docker down, lock).`

// newApp wires all commands. The flag library's habits that would hide a
// mistake (help on stdout for an error, an exit of its own) are switched off.
func newApp(stdin io.Reader, stdout, stderr io.Writer) *cli.App {
	app := &cli.App{
		Name:                      "signalbox",
		Usage:                     "verified deterministic rules for work that repeats",
		Description:               about,
		Version:                   version(),
		Reader:                    stdin,
		Writer:                    stdout,
		ErrWriter:                 stderr,
		HideHelpCommand:           true,
		DisableSliceFlagSeparator: true,
		ExitErrHandler:            func(*cli.Context, error) {},
		OnUsageError:              onUsageError,
		CommandNotFound:           nil,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "home", EnvVars: []string{"SIGNALBOX_HOME"}, Value: ".signalbox", Usage: "the workspace's `FOLDER`"},
			&cli.BoolFlag{Name: "json", Usage: "print one JSON document instead of text"},
			&cli.DurationFlag{Name: "lock-timeout", Value: defaultLockTimeout, Usage: "how long to wait for another writer"},
		},
		Action: rootAction,
		Commands: []*cli.Command{
			initCommand(), ingestCommand(), certifyCommand(), familiesCommand(), casesCommand(),
			maintainCommand(), draftsCommand(), editCommand(), validateCommand(), activateCommand(), disableCommand(), rollbackCommand(),
			rulesCommand(), routeCommand(), replayCommand(), auditCommand(), wrongCommand(), reportCommand(),
			eventsCommand(), budgetCommand(), proofsCommand(), doctorCommand(), fsckCommand(),
		},
	}
	strict(app.Commands)
	return app
}

// strict gives every command the same usage errors.
func strict(commands []*cli.Command) {
	for _, command := range commands {
		command.OnUsageError = onUsageError
		command.HideHelpCommand = true
		if command.Action == nil {
			command.Action = groupAction
		}
		strict(command.Subcommands)
	}
}

func onUsageError(_ *cli.Context, err error, _ bool) error {
	return usageError("%v (see --help)", err)
}

// rootAction is reached where no command was named.
func rootAction(c *cli.Context) error {
	if c.Args().Present() {
		return usageError("unknown command %q (see signalbox --help)", c.Args().First())
	}
	return cli.ShowAppHelp(c)
}

// groupAction is reached where a command's subcommand is missing or unknown.
func groupAction(c *cli.Context) error {
	if c.Args().Present() {
		return usageError("unknown command %q of %s (see signalbox %s --help)", c.Args().First(), c.Command.Name, c.Command.Name)
	}
	return cli.ShowSubcommandHelp(c)
}

// wantArguments refuses another number of arguments than names has.
func wantArguments(c *cli.Context, names ...string) error {
	if c.NArg() < len(names) {
		return usageError("%s needs %s (see --help)", c.Command.FullName(), names[c.NArg()])
	}
	if c.NArg() > len(names) {
		return usageError("unexpected argument %q of %s", c.Args().Get(len(names)), c.Command.FullName())
	}
	return nil
}

func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	return fmt.Sprintf("%s (%s)", info.Main.Version, info.GoVersion)
}
