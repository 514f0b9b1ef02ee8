package containers

import (
	"testing"
)

func TestTriggerAnswers(t *testing.T) {
	e := fakeEngine(t)
	residents := e.Residents(4)
	defer residents.Close()
	program := programIn(t, e, "# trigger")
	reply := residents.Trigger(t.Context(), program, tasksOf("match 7")[0])
	if say(reply) != "match" || reply.Args != `{"n":7}` {
		t.Fatalf("reply = %+v", reply)
	}
}
