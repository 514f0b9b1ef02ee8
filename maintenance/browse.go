package maintenance

import (
	"strings"

	"signalbox/rule"
)

// maxListed bounds how many rules one reply lists.
const maxListed = 50

// listRules shows the active rules.
func (s *session) listRules() (answer, error) {
	return listing(s.view.Active, "active rules"), nil
}

// findSimilar shows the active rules that are most like a text.
func (s *session) findSimilar(data ruleData) (answer, error) {
	text := data.Text
	if text == "" {
		text = string(s.draft.Identity().Family)
		for _, c := range visibleOf(s.view.Cases, s.draft.Identity().Family) {
			text += " " + c.Task.Instruction
		}
	}
	similar := similarRules(s.view.Active, text)
	return listing(similar[:min(5, len(similar))], "active rules, the most similar first"), nil
}

func listing(programs []rule.Program, what string) answer {
	summaries := []ruleSummary{}
	for _, p := range programs[:min(maxListed, len(programs))] {
		summaries = append(summaries, summaryOf(p))
	}
	data := struct {
		Rules []ruleSummary `json:"rules"`
		All   int           `json:"all"`
	}{summaries, len(programs)}
	return answer{OK: true, Code: "listed", Message: "These are " + what + ".", Data: data}
}

// maxInspected bounds the source that inspect_rule shows, in bytes.
const maxInspected = 32 << 10

// inspect shows one active rule with its source. Its development tests and its
// source cases stay out.
func (s *session) inspect(data ruleData) (answer, error) {
	for _, p := range s.view.Active {
		if string(p.Manifest.Name) != data.Rule {
			continue
		}
		manifest := p.Manifest
		manifest.SourceCases = nil
		shown := struct {
			Manifest rule.Manifest     `json:"manifest"`
			Revision rule.Digest       `json:"revision"`
			Files    map[string]string `json:"files"`
			LeftOut  []string          `json:"left_out,omitzero"`
		}{Manifest: manifest, Revision: p.Member.Revision, Files: map[string]string{}}
		bytes := 0
		tree := p.Source.Tree()
		for _, path := range tree.Paths() {
			if path == rule.ManifestFile || strings.HasPrefix(path, "tests/") {
				continue
			}
			if bytes += len(tree[path]); bytes > maxInspected {
				shown.LeftOut = append(shown.LeftOut, path)
				continue
			}
			shown.Files[path] = string(tree[path])
		}
		return answer{OK: true, Code: "inspected", Message: "This rule is active. It can't be changed here.", Data: shown}, nil
	}
	return answer{}, bad("no_rule", "no active rule is named %q: list_rules shows them", clip(data.Rule, 63))
}

// request keeps what would change authority for the maintainer. Nothing else
// comes of it.
func (s *session) request(args ruleArgs) (answer, error) {
	if args.Data.Rule == "" && len(args.Data.Rules) == 0 {
		args.Data.Rule = string(s.draft.Identity().Rule)
	}
	for _, name := range append(append([]string{args.Data.Rule}, args.Data.Rules...), args.Data.Into...) {
		if _, err := rule.ParseName(name); name != "" && err != nil {
			return answer{}, bad("bad_arguments", "%v", err)
		}
	}
	if s.counts.Requests >= maxRequests {
		return answer{}, bad("limit", "an attempt leaves at most %d requests", maxRequests)
	}
	n, err := s.draft.AddRequest(args)
	if err != nil {
		return answer{}, err
	}
	s.counts.Requests++
	data := struct {
		Request int `json:"request"`
	}{n}
	return answer{OK: true, Code: "recorded", Message: "Kept as a request for the maintainer. Nothing has changed: go on with the draft.", Data: data}, nil
}

// maxRequests bounds what one attempt leaves for the maintainer.
const maxRequests = 10
