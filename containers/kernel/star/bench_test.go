package star

import (
	"testing"

	"signalbox/rule"
)

const benchTrigger = `
def trigger(task):
  found = re.full(r"Convert (\d+) (\w+) to (\w+)", task.instruction)
  if not found:
    return no_match()
  return match({"amount": int(found[1]), "from": found[2], "to": found[3]})
`

func BenchmarkTriggerMatch(b *testing.B) {
	p := loadTrigger(b, benchTrigger)
	task := rule.Document{Instruction: "Convert 12 miles to km"}
	for b.Loop() {
		if _, err := p.Trigger(task); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkTriggerNoMatch(b *testing.B) {
	p := loadTrigger(b, benchTrigger)
	task := rule.Document{Instruction: "Say hello", Input: `{"rows":[[1,2,3],["a","b","c"]]}`}
	for b.Loop() {
		if _, err := p.Trigger(task); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkExecute(b *testing.B) {
	p := loadExecutor(b, "def execute(task, args):\n  return result(output=[strings.title(s) for s in task.input])\n")
	task := rule.Document{Instruction: "i", Input: `["one two","three","four five six"]`}
	for b.Loop() {
		if _, err := p.Execute(task, "{}", nil); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		loadTrigger(b, benchTrigger)
	}
}
