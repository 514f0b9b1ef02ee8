package containers

import (
	"errors"
	"strings"
	"testing"

	"signalbox/rule"
	"signalbox/rule/frame"
)

func TestEditDraft(t *testing.T) {
	e := fakeEngine(t)
	tree := rule.TreeOf(map[string]string{"manifest.json": "{}", "trigger.star": "#"})
	for args, detail := range map[string]string{"hang": "deadline", "fail": "no draft"} {
		draft, err := e.EditDraft(t.Context(), tree)
		if err != nil {
			t.Fatal(err)
		}
		if reply, err := draft.Call(t.Context(), frame.Edit{Args: []byte("hello")}); string(reply) != `["hello",2]` || err != nil {
			t.Errorf("control: %s, %v", reply, err)
		}
		reply, err := draft.Call(t.Context(), frame.Edit{Args: []byte(args)})
		if reply != nil || !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), detail) {
			t.Errorf("%s: %s, %v; want ErrUnavailable with %q", args, reply, err, detail)
		}
		if left := containersOf(t, e.labels[labelWorkspace]); len(left) > 0 {
			t.Errorf("%s: %d containers are left", args, len(left))
		}
		if _, err := draft.Call(t.Context(), frame.Edit{Args: []byte("hello")}); !errors.Is(err, ErrUnavailable) {
			t.Errorf("%s: a call after it: %v", args, err)
		}
		if err := draft.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := e.EditDraft(t.Context(), rule.Tree{"a.star": []byte{0xff}}); err == nil || !strings.Contains(err.Error(), "UTF-8") {
		t.Errorf("a draft that isn't text: %v", err)
	}
}
