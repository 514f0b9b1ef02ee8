package maintenance

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"signalbox/maintenance/draft"
	"signalbox/rule"
)

// begin returns what the host fixes about a new draft, and its first files: a
// copy of the stable revision, of the draft that is resumed, or a bare manifest.
func begin(view View, o Options, resumed *draft.Draft) (draft.Identity, rule.Tree, error) {
	stable, err := stableOf(view, o)
	if err != nil {
		return draft.Identity{}, nil, err
	}
	identity := draft.Identity{Family: o.Family, Environment: view.Environment.Name, Resumes: o.Resume}
	for _, c := range shown(visibleOf(view.Cases, o.Family)) {
		identity.SourceCases = append(identity.SourceCases, c.ID)
	}
	manifest := firstManifest(view, o.Family)
	tree := rule.Tree{rule.ReadmeFile: []byte("# " + string(o.Family) + "\n")}
	if stable != nil {
		identity.Rule, identity.Parent, identity.Environment = stable.Member.Rule, stable.Member.Revision, stable.Environment.Name
		manifest, tree = stable.Manifest, copyOf(stable.Source.Tree())
	} else {
		identity.Rule = freeName(view, o.Family)
	}
	if resumed != nil {
		old := resumed.Identity()
		if old.Parent != identity.Parent || stable == nil && view.Known[old.Rule] != "" && view.Known[old.Rule] != o.Family {
			return draft.Identity{}, nil, refused("attempt %q began from another revision of rule %q than the active one: start without --resume", o.Resume, old.Rule)
		}
		identity.Rule, tree = old.Rule, resumed.Tree()
		if rule.Decode(tree[rule.ManifestFile], &manifest) != nil {
			return identity, tree, nil // its author has to mend it
		}
	}
	manifest.Name, manifest.Family, manifest.Environment = identity.Rule, identity.Family, identity.Environment
	manifest.Parent, manifest.SourceCases = identity.Parent, identity.SourceCases
	text, err := draft.Text(manifest)
	if err != nil {
		return draft.Identity{}, nil, err
	}
	tree[rule.ManifestFile] = text
	return identity, tree, nil
}

// stableOf returns the active rule that an attempt updates, nil where the
// family is served by none.
func stableOf(view View, o Options) (*rule.Program, error) {
	names := slices.Sorted(slices.Values(view.Mapping[o.Family]))
	if o.Rule != "" && !slices.Contains(names, o.Rule) {
		return nil, refused("rule %q doesn't serve family %q", o.Rule, o.Family)
	}
	for i, p := range view.Active {
		name := p.Member.Rule
		if !slices.Contains(names, name) || o.Rule != "" && o.Rule != name {
			continue
		}
		if o.Rule == "" && slices.Contains(view.Locked, name) {
			continue
		}
		if slices.Contains(view.Locked, name) {
			return nil, refused("rule %q is locked: `signalbox rules unlock %s` first", name, name)
		}
		return &view.Active[i], nil
	}
	for _, name := range names {
		if slices.Contains(view.Locked, name) {
			return nil, refused("rule %q, which serves family %q, is locked: `signalbox rules unlock %s` first", name, o.Family, name)
		}
	}
	return nil, nil
}

// firstManifest is where a new rule begins: a guard of the visible phrasings,
// args without anything, and a result of any shape.
func firstManifest(view View, family rule.Family) rule.Manifest {
	closed := false
	var phrases []string
	for _, c := range visibleOf(view.Cases, family) {
		if !c.Fallback && !slices.Contains(phrases, c.Task.Instruction) {
			phrases = append(phrases, c.Task.Instruction)
		}
	}
	slices.Sort(phrases)
	return rule.Manifest{
		Schema:     rule.ManifestSchema,
		Guard:      rule.Guard{Equals: phrases[:min(len(phrases), maxFirstPhrases)]},
		ArgsSchema: rule.Schema{Type: "object", AdditionalProperties: &closed},
	}
}

// maxFirstPhrases bounds the guard that a new draft begins with.
const maxFirstPhrases = 20

var notName = regexp.MustCompile(`[^a-z0-9]+`)

// maxDerived bounds a name that is made from a family's, with room for a number.
const maxDerived = 50

// freeName makes a rule's name from its family's: the same one each time, and
// none that a rule of another family has.
func freeName(view View, family rule.Family) rule.Name {
	slug := strings.Trim(notName.ReplaceAllString(strings.ToLower(string(family)), "-"), "-")
	slug = strings.TrimRight(slug[:min(len(slug), maxDerived)], "-")
	if slug == "" {
		slug = "rule"
	}
	name := rule.Name(slug)
	for n := 2; view.Known[name] != "" && view.Known[name] != family; n++ {
		name = rule.Name(fmt.Sprintf("%s-%d", slug, n))
	}
	return name
}

func copyOf(tree rule.Tree) rule.Tree {
	out := rule.Tree{}
	for p, data := range tree {
		out[p] = slices.Clone(data)
	}
	return out
}
