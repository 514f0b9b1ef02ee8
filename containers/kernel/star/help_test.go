package star

import (
	"errors"
	"strings"
	"testing"

	"signalbox/rule"
)

const testSteps = 1_000_000

// loadTrigger returns the program of a trigger's source.
func loadTrigger(t testing.TB, source string) *Program {
	t.Helper()
	p, err := Load(rule.RoleTrigger, map[string]string{rule.TriggerFile: source}, testSteps)
	if err != nil {
		t.Fatalf("loading:\n%s\n%v", source, err)
	}
	return p
}

func loadExecutor(t testing.TB, source string) *Program {
	t.Helper()
	p, err := Load(rule.RoleExecutor, map[string]string{rule.ExecutorFile: source}, testSteps)
	if err != nil {
		t.Fatalf("loading:\n%s\n%v", source, err)
	}
	return p
}

// evaluate returns a starlark expression's value as canonical JSON, or "error: "
// and why there is none.
func evaluate(t testing.TB, expression string) string {
	t.Helper()
	p := loadExecutor(t, "def execute(task, args):\n  return result(output="+expression+")\n")
	body, err := p.Execute(rule.Document{Instruction: "i"}, "{}", nil)
	if err != nil {
		return "error: " + err.Error()
	}
	reply, err := rule.ParseExecutorReply(body)
	if err != nil {
		t.Fatalf("%s: the reply %s is refused: %v", expression, body, err)
	}
	return string(reply.Outcome.Output)
}

// row is one expression with its value, or with "error: " and a part of why it
// has none.
type row struct{ expression, want string }

func check(t *testing.T, rows []row) {
	t.Helper()
	for _, r := range rows {
		got := evaluate(t, r.expression)
		reason, isError := strings.CutPrefix(r.want, "error: ")
		if isError && strings.HasPrefix(got, "error: ") && strings.Contains(got, reason) {
			continue
		}
		if got != r.want {
			t.Errorf("%s\n got %s\nwant %s", r.expression, got, r.want)
		}
	}
}

// failureOf returns how a program failed.
func failureOf(t testing.TB, err error) *Error {
	t.Helper()
	var failed *Error
	if !errors.As(err, &failed) {
		t.Fatalf("got %v, want an *Error", err)
	}
	return failed
}
