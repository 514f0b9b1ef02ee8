package registry

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"signalbox/rule"
)

// partList is the object beside the suite: who may see which of its cases, and
// how many sealed ones each family has.
type partList struct {
	Parts  map[string]rule.Part `json:"parts"`
	Sealed map[rule.Family]int  `json:"sealed"`
}

// encodeCases writes cases as JSON Lines in order of their IDs, without parts, so
// that equal sets have equal digests.
func encodeCases(cases []rule.Case) ([]byte, error) {
	sorted := slices.Clone(cases)
	slices.SortStableFunc(sorted, func(a, b rule.Case) int { return strings.Compare(a.ID, b.ID) })
	var out bytes.Buffer
	for _, c := range sorted {
		c.Part = ""
		line, err := rule.Canonical(c)
		if err != nil {
			return nil, fmt.Errorf("writing case %q: %w", c.ID, err)
		}
		out.Write(line)
		out.WriteByte('\n')
	}
	return out.Bytes(), nil
}

func decodeCases(data []byte) ([]rule.Case, error) {
	cases := make([]rule.Case, 0, bytes.Count(data, []byte{'\n'}))
	for line := range bytes.Lines(data) {
		var c rule.Case
		if err := rule.Decode(line, &c); err != nil {
			return nil, fmt.Errorf("case %d: %w", len(cases)+1, err)
		}
		cases = append(cases, c)
	}
	return cases, nil
}

// loadCases reads an object of cases; an empty digest names none.
func (r *Registry) loadCases(what string, named Sealed) ([]rule.Case, error) {
	if named.Digest == "" {
		return nil, nil
	}
	data, err := r.objects.Get(named.Digest)
	if err != nil {
		return nil, damaged(fmt.Errorf("loading %s: %w", what, err))
	}
	cases, err := decodeCases(data)
	if err == nil && len(cases) != named.Cases {
		err = fmt.Errorf("%d cases, the registry says %d", len(cases), named.Cases)
	}
	if err != nil {
		return nil, damaged(fmt.Errorf("loading %s from %q: %w", what, r.objects.Path(named.Digest), err))
	}
	return cases, nil
}

func (r *Registry) parts(state *State) (partList, error) {
	list := partList{Parts: map[string]rule.Part{}, Sealed: map[rule.Family]int{}}
	if state.Suite.Parts == "" {
		return list, nil
	}
	data, err := r.objects.Get(state.Suite.Parts)
	if err == nil {
		err = rule.Decode(data, &list)
	}
	if err != nil {
		return partList{}, damaged(fmt.Errorf("loading the parts of the suite: %w", err))
	}
	return list, nil
}

// suiteCases returns the suite's cases with their parts.
func (r *Registry) suiteCases(state *State) ([]rule.Case, error) {
	cases, err := r.loadCases("the suite", Sealed{Digest: state.Suite.Digest, Cases: state.Suite.Cases})
	if err != nil {
		return nil, err
	}
	list, err := r.parts(state)
	if err != nil {
		return nil, err
	}
	for i := range cases {
		part := list.Parts[cases[i].ID]
		if part != rule.VisiblePart && part != rule.AdmissionPart {
			return nil, fmt.Errorf("loading the suite: case %q has part %q: %w", cases[i].ID, part, ErrDamaged)
		}
		cases[i].Part = part
	}
	return cases, nil
}

func (r *Registry) sealedCases(state *State) ([]rule.Case, error) {
	cases, err := r.loadCases("the sealed cases", state.Sealed)
	for i := range cases {
		cases[i].Part = rule.SealedPart
	}
	return cases, err
}

// casebook is every case of a workspace, in memory, while a writer changes it.
type casebook struct {
	cases      []rule.Case // all parts
	superseded []rule.Case
}

func (r *Registry) openCasebook(state *State) (*casebook, error) {
	suite, err := r.suiteCases(state)
	if err != nil {
		return nil, err
	}
	sealed, err := r.sealedCases(state)
	if err != nil {
		return nil, err
	}
	superseded, err := r.loadCases("the superseded cases", state.Superseded)
	if err != nil {
		return nil, err
	}
	return &casebook{cases: append(suite, sealed...), superseded: superseded}, nil
}

// saveCasebook writes the objects and names them in the state. The generation
// moves where the suite did.
func (r *Registry) saveCasebook(state *State, book *casebook) error {
	list := partList{Parts: map[string]rule.Part{}, Sealed: map[rule.Family]int{}}
	var suite, sealed []rule.Case
	for _, c := range book.cases {
		if c.Part == rule.SealedPart {
			sealed = append(sealed, c)
			list.Sealed[c.Family]++
			continue
		}
		suite = append(suite, c)
		list.Parts[c.ID] = c.Part
	}
	named, err := r.saveCases(suite)
	if err != nil {
		return err
	}
	if named.Digest != state.Suite.Digest {
		state.Generation++
	}
	state.Suite.Digest, state.Suite.Cases = named.Digest, named.Cases
	if state.Sealed, err = r.saveCases(sealed); err != nil {
		return err
	}
	if state.Superseded, err = r.saveCases(book.superseded); err != nil {
		return err
	}
	data, err := rule.Canonical(list)
	if err != nil {
		return err
	}
	state.Suite.Parts, err = r.objects.Put(data)
	return err
}

func (r *Registry) saveCases(cases []rule.Case) (Sealed, error) {
	if len(cases) == 0 {
		return Sealed{}, nil
	}
	data, err := encodeCases(cases)
	if err != nil {
		return Sealed{}, err
	}
	digest, err := r.objects.Put(data)
	return Sealed{Digest: digest, Cases: len(cases)}, err
}
