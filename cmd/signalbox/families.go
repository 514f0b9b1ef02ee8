package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"signalbox/registry"
	"signalbox/rule"
)

func familiesCommand() *cli.Command {
	return &cli.Command{
		Name:   "families",
		Usage:  "list the families of cases, how they are split, and what serves them",
		Action: command(families),
	}
}

// familyRow is one family as listed. Hidden counts are of cases, not of tasks.
type familyRow struct {
	Family    rule.Family `json:"family"`
	Visible   int         `json:"visible"`
	Admission int         `json:"admission"`
	Sealed    int         `json:"sealed"`
	Fallback  int         `json:"must_fall_back"`
	Serving   []rule.Name `json:"serving"`
	Proposed  []rule.Name `json:"proposed"`
}

func families(ctx context.Context, w *workspace) error {
	snapshot, err := w.registry.Snapshot(ctx)
	if err != nil {
		return err
	}
	rows, err := familyRows(ctx, snapshot)
	if err != nil {
		return err
	}
	if w.c.Bool("json") {
		return printJSON(w.c, rows)
	}
	t := newTable(w.c.App.Writer, "FAMILY", "VISIBLE", "ADMISSION", "SEALED", "MUST FALL BACK", "SERVED BY")
	for _, row := range rows {
		t.row(string(row.Family), strconv.Itoa(row.Visible), strconv.Itoa(row.Admission), strconv.Itoa(row.Sealed),
			strconv.Itoa(row.Fallback), servedBy(row))
	}
	return t.flush()
}

func servedBy(row familyRow) string {
	var words []string
	for _, name := range row.Serving {
		words = append(words, string(name))
	}
	for _, name := range row.Proposed {
		if !slices.Contains(row.Serving, name) {
			words = append(words, fmt.Sprintf("(%s proposed)", name))
		}
	}
	if len(words) == 0 {
		return "-"
	}
	return strings.Join(words, " ")
}

func familyRows(ctx context.Context, s *registry.Snapshot) ([]familyRow, error) {
	rows := map[rule.Family]*familyRow{}
	row := func(family rule.Family) *familyRow {
		if rows[family] == nil {
			rows[family] = &familyRow{Family: family, Serving: []rule.Name{}, Proposed: []rule.Name{}}
		}
		return rows[family]
	}
	cases, err := s.Cases(ctx)
	if err != nil {
		return nil, err
	}
	for _, c := range cases {
		r := row(c.Family)
		switch {
		case c.Fallback:
			r.Fallback++
		case c.Part == rule.VisiblePart:
			r.Visible++
		default:
			r.Admission++
		}
	}
	sealed, err := s.SealedCounts(ctx)
	if err != nil {
		return nil, err
	}
	for family, n := range sealed {
		row(family).Sealed = n
	}
	for _, name := range slices.Sorted(maps.Keys(s.State().Rules)) {
		known := s.State().Rules[name]
		r := row(known.Family)
		if has(known, registry.RevisionActive) {
			r.Serving = append(r.Serving, name)
		}
		if has(known, registry.RevisionProposed) {
			r.Proposed = append(r.Proposed, name)
		}
	}
	return sortedRows(rows), nil
}

func has(known registry.Rule, state registry.RevisionState) bool {
	return slices.ContainsFunc(known.Revisions, func(r registry.Revision) bool { return r.State == state })
}

func sortedRows(rows map[rule.Family]*familyRow) []familyRow {
	out := []familyRow{}
	for _, family := range slices.Sorted(maps.Keys(rows)) {
		out = append(out, *rows[family])
	}
	return out
}
