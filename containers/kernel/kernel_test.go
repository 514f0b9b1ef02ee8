package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"signalbox/rule"
	"signalbox/rule/frame"
)

func TestHello(t *testing.T) {
	c := startSelf(t)
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		t.Fatal(err)
	}
	if want := (frame.Hello{Protocol: frame.Protocol, BootID: strings.TrimSpace(string(id))}); c.hello != want {
		t.Errorf("hello is %+v, want %+v", c.hello, want)
	}
	c.stdin.Close()
	if code := c.ended(); code != 0 || c.stderr.Len() > 0 {
		t.Errorf("it ends with %d and %q", code, c.stderr.String())
	}
}

func TestTriggerCalls(t *testing.T) {
	c := loaded(t, rule.RoleTrigger, trigger("return match({'i': task.instruction}) if task.instruction != 'bad' else fail('why')"))
	for _, instruction := range []string{"one", "é\n", "two"} {
		kind, body := c.ask(frame.KindTrigger, task(instruction))
		reply, err := rule.ParseTriggerReply(body)
		want, _ := rule.ValueOf(map[string]string{"i": instruction})
		if kind != frame.KindReply || err != nil || reply.Verdict != rule.Match || reply.Args != want {
			t.Errorf("%q: %s %s, %v", instruction, kind, body, err)
		}
		if failed := c.fails(frame.KindTrigger, task("bad")); failed.Failure != rule.FailureCrash || !strings.Contains(failed.Detail, "why") {
			t.Errorf("got %+v", failed)
		}
	}
}

// TestPipeline writes a thousand requests ahead, among them some that fail, and
// reads the answers in order.
func TestPipeline(t *testing.T) {
	c := loaded(t, rule.RoleTrigger, trigger("return match({'i': task.instruction}) if not task.instruction.endswith('7') else fail('seven')"))
	var ahead bytes.Buffer
	const n = 1_000
	for i := range n {
		if err := frame.Write(&ahead, uint64(i+100), frame.KindTrigger, task(fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
	}
	go c.stdin.Write(ahead.Bytes())
	for i := range n {
		header, body := c.read()
		want, wanted := frame.KindReply, fmt.Sprintf(`{"args":{"i":"%d"},"verdict":"match"}`, i)
		if i%10 == 7 {
			want, wanted = frame.KindFailure, "seven"
		}
		if header.ID != uint64(i+100) || header.Kind != want || !strings.Contains(string(body), wanted) {
			t.Fatalf("answer %d: %+v %s", i, header, body)
		}
	}
}

// TestAnswersDontWait shows that answers come out while a later call hangs.
func TestAnswersDontWait(t *testing.T) {
	c := loaded(t, rule.RoleTrigger, trigger("return no_match() if task.instruction != 'hang' else max(range(1 << 40))"))
	var ahead bytes.Buffer
	for i, instruction := range []string{"one", "two", "hang", "three"} {
		if err := frame.Write(&ahead, uint64(i+10), frame.KindTrigger, task(instruction)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.stdin.Write(ahead.Bytes()); err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		if header, _ := c.read(); header.ID != uint64(i+10) {
			t.Errorf("answer %d has id %d", i, header.ID)
		}
	}
}

func TestStepLimit(t *testing.T) {
	c := loaded(t, rule.RoleTrigger, trigger("return no_match(str(len([i for i in range(int(task.instruction))])))"))
	if failed := c.fails(frame.KindTrigger, task("100000000")); failed.Failure != rule.FailureTimeout {
		t.Errorf("got %+v", failed)
	}
	if kind, body := c.ask(frame.KindTrigger, task("1000")); kind != frame.KindReply || !bytes.Contains(body, []byte(`"1000"`)) {
		t.Errorf("the next call gives %s %s", kind, body)
	}
}

// TestAbandoned closes stdin at each state: the process must end at once, also
// in the middle of a call that would take hours.
func TestAbandoned(t *testing.T) {
	for name, prepare := range map[string]func(*child){
		"at rest":   func(*child) {},
		"in a call": func(c *child) { c.send(frame.KindTrigger, task("hang")) },
		"with calls waiting": func(c *child) {
			for range 100 {
				c.send(frame.KindTrigger, task("hang"))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := loaded(t, rule.RoleTrigger, trigger("return max(range(1 << 40))"))
			prepare(c)
			c.stdin.Close()
			if code := c.ended(); code != 0 {
				t.Errorf("exit code %d, stderr %q", code, c.stderr.String())
			}
		})
	}
}

// TestBrokenStream ends the process for what no host of ours would send.
func TestBrokenStream(t *testing.T) {
	for name, wire := range map[string]string{
		"no header":        "hello\n",
		"an endless line":  strings.Repeat(" ", 300),
		"a length too far": fmt.Sprintf(`{"id":1,"kind":"trigger","length":%d}`+"\n", maxRequest+1),
		"a second header":  `{"id":1,"kind":"trigger","length":0,"kind":"load"}` + "\n",
		"half a body":      `{"id":1,"kind":"trigger","length":10}` + "\n{",
	} {
		c := startSelf(t)
		if _, err := c.stdin.Write([]byte(wire)); err != nil {
			t.Fatal(err)
		}
		if name == "half a body" {
			c.stdin.Close()
		}
		if code := c.ended(); code != exitBroken || !strings.Contains(c.stderr.String(), "frame") {
			t.Errorf("%s: exit code %d, stderr %q", name, code, c.stderr.String())
		}
	}
}

// TestHostileBodies sends bodies that don't decode, and frames that have no place:
// each is refused, and the next request is served.
func TestHostileBodies(t *testing.T) {
	bodies := []string{"", "null", "[]", "{}x", `{"instruction":"i","instruction":"j"}`, `{"Instruction":"i"}`, "{\"instruction\":\"\xff\"}",
		`{"instruction":"\ud800"}`, `{"instruction":"i","input":9007199254740993}`, strings.Repeat("[", 100_000), `{"task":1}`, `{"a/../b":""}`}
	for role, source := range map[rule.Role]map[string]string{
		rule.RoleTrigger:  trigger("return no_match()"),
		rule.RoleExecutor: executor("return abstain()"),
	} {
		c := loaded(t, role, source)
		for _, kind := range []frame.Kind{frame.KindTrigger, frame.KindExecute, frame.KindTree, frame.KindEdit, frame.KindLoad, "other"} {
			for _, body := range bodies {
				if kind == frame.KindTrigger && body == "null" || kind == frame.KindTree && body == "null" {
					continue // the zero value, which is harmless
				}
				if kind == frame.KindExecute && body == "null" {
					body = "{\"tree\":true}"
				}
				if failed := c.fails(kind, []byte(body)); failed.Failure != rule.FailureSchema {
					t.Errorf("%s: %s with %.40q: %+v", role, kind, body, failed)
				}
			}
		}
		kind, answer := c.ask(frame.KindTrigger, task("i"))
		if role == rule.RoleExecutor {
			kind, answer = c.askJSON(frame.KindExecute, frame.Execute{Task: rule.Document{Instruction: "i"}, Args: "{}"})
		}
		if kind != frame.KindReply {
			t.Errorf("%s: in the end %s %s", role, kind, answer)
		}
	}
}

func TestBeforeLoad(t *testing.T) {
	c := startSelf(t)
	if failed := c.fails(frame.KindTrigger, task("i")); failed.Failure != rule.FailureSchema {
		t.Errorf("a trigger frame before the load: %+v", failed)
	}
	if failed := c.fails(frame.KindLoad, []byte(`{"role":"king","steps":1,"source":{}}`)); !strings.Contains(failed.Detail, `"king"`) {
		t.Errorf("an unknown role: %+v", failed)
	}
	body, err := rule.Canonical(frame.Load{Role: rule.RoleTrigger, Steps: 1_000, Source: trigger("return x")})
	if err != nil {
		t.Fatal(err)
	}
	if failed := c.fails(frame.KindLoad, body); failed.Failure != rule.FailureCrash || !strings.Contains(failed.Detail, "undefined: x") {
		t.Errorf("a load with an error: %+v", failed)
	}
	if failed := c.fails(frame.KindTrigger, task("i")); failed.Failure != rule.FailureSchema {
		t.Errorf("a trigger frame after a failed load: %+v", failed)
	}
}

func TestSignalsDontEndIt(t *testing.T) {
	c := loaded(t, rule.RoleTrigger, trigger("return no_match()"))
	for _, signal := range []unix.Signal{unix.SIGTERM, unix.SIGINT, unix.SIGHUP, unix.SIGQUIT, unix.SIGUSR1, unix.SIGALRM} {
		for range 3 {
			if err := c.cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
		}
		if kind, _ := c.ask(frame.KindTrigger, task("i")); kind != frame.KindReply {
			t.Errorf("after %v: %s", signal, kind)
		}
	}
}
