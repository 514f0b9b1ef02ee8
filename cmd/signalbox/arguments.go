package main

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// reorder moves flags in front of the arguments that they follow, and the
// app's own flags in front of the command, since the flag library stops at the
// first argument and would ignore the rest in silence. What follows "--" is
// left alone. An unknown flag is left where the library reports it.
func reorder(app *cli.App, args []string) ([]string, error) {
	if len(args) == 0 {
		return args, nil
	}
	sorted := sorting{global: app.Flags, commands: app.Commands}
	if err := sorted.take(args[1:]); err != nil {
		return nil, err
	}
	out := slices.Concat(args[:1], sorted.root, sorted.path, sorted.flags)
	if len(sorted.rest) > 0 {
		out = append(append(out, "--"), sorted.rest...)
	}
	return out, nil
}

// sorting holds a command line by kind: the app's flags, the command's path,
// the command's flags and the arguments.
type sorting struct {
	global   []cli.Flag
	local    []cli.Flag
	commands []*cli.Command

	root, path, flags, rest []string
}

func (s *sorting) take(args []string) error {
	for len(args) > 0 {
		word := args[0]
		switch {
		case word == "--":
			s.rest = append(s.rest, args[1:]...)
			return nil
		case len(word) > 1 && word[0] == '-':
			used, err := s.takeFlag(args)
			if err != nil {
				return err
			}
			args = args[used:]
			continue
		default:
			s.takeWord(word)
		}
		args = args[1:]
	}
	return nil
}

func (s *sorting) takeWord(word string) {
	for _, command := range s.commands {
		if len(s.rest) == 0 && command.HasName(word) {
			s.path = append(s.path, word)
			s.local, s.commands = command.Flags, command.Subcommands
			return
		}
	}
	s.rest = append(s.rest, word)
}

// takeFlag files the flag at the head of args and returns how many words it is.
func (s *sorting) takeFlag(args []string) (int, error) {
	name, _, joined := strings.Cut(strings.TrimLeft(args[0], "-"), "=")
	flag, target := find(s.local, name), &s.flags
	if flag == nil {
		if flag = find(s.global, name); flag != nil {
			target = &s.root
		}
	}
	used := 1
	if flag != nil && !joined && takesValue(flag) {
		used = 2
	}
	if used > len(args) {
		return 0, usageError("flag %s needs a value", args[0])
	}
	*target = append(*target, args[:used]...)
	return used, nil
}

func find(flags []cli.Flag, name string) cli.Flag {
	for _, flag := range flags {
		if slices.Contains(flag.Names(), name) {
			return flag
		}
	}
	return nil
}

func takesValue(flag cli.Flag) bool {
	valued, ok := flag.(cli.DocGenerationFlag)
	return ok && valued.TakesValue()
}
