package registry

import "testing"

func TestWholePath(t *testing.T) {
	r, member := activated(t)
	s := snapshot(t, r)
	check := &engine{}
	active, err := s.Authorise(t.Context(), check)
	must(t, err)
	if len(active.Programs) != 1 || active.Programs[0].Member != member || active.Proof != s.State().Active.Proof || active.Generation != s.Generation() {
		t.Errorf("active: %+v", active)
	}
	if len(check.asked) != 1 || check.asked[0].Digest() != starlark().Digest() {
		t.Errorf("environments asked for: %+v", check.asked)
	}
}
