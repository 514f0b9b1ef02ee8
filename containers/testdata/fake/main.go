// Command fake is a kernel program that misbehaves on request, to show that the
// host holds it. What it does with a task is the task's instruction.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"signalbox/rule"
	"signalbox/rule/frame"
)

var out = os.Stdout

// The first goroutine keeps the first thread, so that "half-die" can end it.
func init() { runtime.LockOSThread() }

func main() {
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	say(0, frame.KindHello, frame.Hello{Protocol: frame.Protocol, BootID: strings.TrimSpace(string(boot))})
	reader := frame.NewReader(os.Stdin, 64<<20)
	var tree frame.Tree
	for {
		header, body, err := reader.Read()
		if err != nil {
			os.Exit(0)
		}
		switch header.Kind {
		case frame.KindLoad:
			load(header.ID, body)
		case frame.KindTree:
			tree = nil
			json.Unmarshal(body, &tree)
			say(header.ID, frame.KindReady, nil)
		case frame.KindTrigger:
			var task struct{ Instruction string }
			json.Unmarshal(body, &task)
			act(header.ID, task.Instruction)
		case frame.KindExecute:
			execute(header.ID, body, tree)
		case frame.KindEdit:
			edit(header.ID, body)
		}
	}
}

func say(id uint64, kind frame.Kind, body any) {
	if body == nil {
		frame.Write(out, id, kind, nil)
		return
	}
	frame.WriteJSON(out, id, kind, body)
}

var sources int

func load(id uint64, body []byte) {
	var source frame.Load
	json.Unmarshal(body, &source)
	sources = len(source.Source)
	switch {
	case bytes.Contains(body, []byte("refuse to load")):
		say(id, frame.KindFailure, frame.Failed{Failure: "crash", Detail: "trigger.star:1: no"})
	case bytes.Contains(body, []byte("hang while loading")):
		time.Sleep(time.Hour)
	default:
		say(id, frame.KindReady, nil)
	}
}

func execute(id uint64, body []byte, tree frame.Tree) {
	var call struct {
		Task struct{ Instruction string }
		Tree bool
	}
	json.Unmarshal(body, &call)
	switch call.Task.Instruction {
	case "write to the testbed":
		result := "written"
		if err := os.WriteFile("/testbed/file", bytes.Repeat([]byte("x"), 1<<20), 0o600); err != nil {
			result = err.Error()
		}
		reply(id, fmt.Sprintf(`{"outcome":{"output":%q}}`, result))
	case "hello":
		reply(id, fmt.Sprintf(`{"outcome":{"output":[%d,%t]}}`, len(tree), call.Tree))
	default:
		act(id, call.Task.Instruction)
	}
}

// edit answers with the arguments and the number of files.
func edit(id uint64, body []byte) {
	var call frame.Edit
	json.Unmarshal(body, &call)
	switch string(call.Args) {
	case "hang":
		time.Sleep(time.Hour)
	case "fail":
		say(id, frame.KindFailure, frame.Failed{Failure: "crash", Detail: "no draft"})
	default:
		reply(id, fmt.Sprintf("[%q,%d]", call.Args, sources))
	}
}

func reply(id uint64, text string) { frame.Write(out, id, frame.KindReply, []byte(text)) }

const noMatch = `{"verdict":"no_match"}`

// act does what the first word says, with a number after it.
func act(id uint64, instruction string) {
	word, argument, _ := strings.Cut(instruction, " ")
	number, _ := strconv.Atoi(argument)
	switch word {
	case "match":
		reply(id, `{"verdict":"match","args":{"n":`+argument+`}}`)
	case "abstain":
		reply(id, `{"verdict":"abstain","note":"why"}`)
	case "fail":
		say(id, frame.KindFailure, frame.Failed{Failure: "crash", Detail: "division by zero"})
	case "claim":
		say(id, frame.KindFailure, frame.Failed{Failure: rule.Failure(argument)})
	case "pid":
		reply(id, fmt.Sprintf(`{"verdict":"match","args":{"started":%d}}`, started))
	case "sleep":
		time.Sleep(time.Duration(number) * time.Millisecond)
		reply(id, noMatch)
	case "spin":
		for {
		}
	case "allocate":
		hold := make([][]byte, 0, number)
		for range number {
			hold = append(hold, bytes.Repeat([]byte{1}, 1<<20))
		}
		runtime.KeepAlive(hold)
		reply(id, noMatch)
	case "tmpfs":
		// Charged to the memory limit but not to the data limit.
		shared, err := syscall.Mmap(-1, 0, number<<20, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_SHARED)
		if err == nil {
			for i := 0; i < len(shared); i += 4096 {
				shared[i] = 1
			}
		}
		reply(id, noMatch)
	case "threads":
		threads(number)
		reply(id, noMatch)
	case "fork":
		for range number {
			if pid, _, _ := syscall.RawSyscall(syscall.SYS_CLONE, uintptr(syscall.SIGCHLD), 0, 0); pid == 0 {
				pause := syscall.Timespec{Sec: 600}
				for {
					syscall.RawSyscall(syscall.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&pause)), 0, 0)
				}
			}
		}
		reply(id, noMatch)
	case "flood":
		fmt.Fprintf(out, `{"id":%d,"kind":"reply","length":%d}`+"\n", id, number)
		out.Write(bytes.Repeat([]byte(" "), number-len(noMatch)))
		out.WriteString(noMatch)
	case "line":
		chunk := bytes.Repeat([]byte("a"), 64<<10)
		for range number {
			out.Write(chunk)
		}
	case "stderr":
		chunk := bytes.Repeat([]byte("e"), 1<<10)
		for range number {
			os.Stderr.Write(chunk)
		}
		reply(id, noMatch)
	case "exit":
		fmt.Fprint(os.Stderr, "signalbox verdict: match")
		os.Exit(number)
	case "half-die":
		go func() {
			for {
				time.Sleep(time.Second)
			}
		}()
		time.Sleep(50 * time.Millisecond)
		syscall.RawSyscall(syscall.SYS_EXIT, 0, 0, 0)
	case "forbidden":
		syscall.RawSyscall(syscall.SYS_PTRACE, 0, 0, 0)
		reply(id, noMatch)
	case "denied":
		_, _, errno := syscall.RawSyscall(syscall.SYS_UNAME, 0, 0, 0)
		reply(id, fmt.Sprintf(`{"verdict":"match","args":{"errno":%d}}`, errno))
	case "twice":
		both := bufio.NewWriter(out)
		frame.Write(both, id, frame.KindReply, []byte(noMatch))
		frame.Write(both, id, frame.KindReply, []byte(noMatch))
		both.Flush()
	case "later":
		reply(id, noMatch)
		time.Sleep(50 * time.Millisecond)
		reply(id+1, noMatch)
	case "stranger":
		reply(id+1, noMatch)
	case "text":
		frame.Write(out, id, frame.KindReply, []byte(argument))
	case "kind":
		frame.Write(out, id, frame.Kind(argument), nil)
	case "raw":
		out.WriteString(argument + "\n")
	case "stall":
		fmt.Fprintf(out, `{"id":%d,"kind":"reply","length":100}`+"\nhalf", id)
	case "half":
		fmt.Fprintf(out, `{"id":%d,"kind":"reply","length":100}`+"\nhalf", id)
		os.Exit(0)
	case "close":
		out.Close()
		time.Sleep(time.Hour)
	default:
		reply(id, noMatch)
	}
}

var started = time.Now().UnixMicro()

// threads keeps n threads at once in the kernel.
func threads(n int) {
	done := make(chan struct{})
	for range n {
		go func() {
			runtime.LockOSThread()
			var pause = syscall.Timespec{Nsec: 300_000_000}
			syscall.Nanosleep(&pause, nil)
			done <- struct{}{}
		}()
	}
	for range n {
		<-done
	}
}
