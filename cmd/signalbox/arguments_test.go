package main

import (
	"slices"
	"testing"

	"github.com/urfave/cli/v2"
)

func TestReorder(t *testing.T) {
	app := &cli.App{
		Flags: []cli.Flag{&cli.StringFlag{Name: "home"}, &cli.BoolFlag{Name: "json"}},
		Commands: []*cli.Command{
			{Name: "ingest", Flags: []cli.Flag{&cli.StringFlag{Name: "certified-by"}, &cli.BoolFlag{Name: "dry-run"}}},
			{Name: "rules", Subcommands: []*cli.Command{{Name: "add", Flags: []cli.Flag{&cli.StringFlag{Name: "reason"}}}}},
		},
	}
	for _, c := range []struct{ in, want []string }{
		{[]string{"s", "ingest", "f.jsonl", "--certified-by", "me"}, []string{"s", "ingest", "--certified-by", "me", "--", "f.jsonl"}},
		{[]string{"s", "ingest", "f.jsonl", "--json", "--dry-run"}, []string{"s", "--json", "ingest", "--dry-run", "--", "f.jsonl"}},
		{[]string{"s", "rules", "add", "dir", "--home", "h", "--reason=why"}, []string{"s", "--home", "h", "rules", "add", "--reason=why", "--", "dir"}},
		{[]string{"s", "--home", "h", "rules"}, []string{"s", "--home", "h", "rules"}},
		{[]string{"s", "ingest", "--", "--home"}, []string{"s", "ingest", "--", "--home"}},
		{[]string{"s", "ingest", "-"}, []string{"s", "ingest", "--", "-"}},
		{[]string{"s", "ingest", "ingest"}, []string{"s", "ingest", "--", "ingest"}},
		{[]string{"s", "ingest", "x", "--unknown"}, []string{"s", "ingest", "--unknown", "--", "x"}},
	} {
		got, err := reorder(app, c.in)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("reorder(%q) = %q, %v, want %q", c.in, got, err, c.want)
		}
	}
	if _, err := reorder(app, []string{"s", "ingest", "--certified-by"}); codeOf(err) != exitUsage {
		t.Errorf("a flag without its value: %v", err)
	}
}
