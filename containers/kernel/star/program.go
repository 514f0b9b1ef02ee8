package star

import (
	"fmt"
	"path"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"signalbox/rule"
)

// dialect is what a rule's source may use beyond the core language.
var dialect = &syntax.FileOptions{Set: true, TopLevelControl: true, GlobalReassign: true}

// Program is one loaded and frozen trigger or executor.
type Program struct {
	entry *starlark.Function
	steps uint64
	files *testbed // nil in a trigger
}

// Load compiles and runs the program of a role out of a rule's source (path →
// text), and freezes it. steps bounds the load and each later call. The error is
// an *Error.
func Load(role rule.Role, source map[string]string, steps uint64) (*Program, error) {
	if err := checkSource(source, steps); err != nil {
		return nil, &Error{Failure: rule.FailureCrash, Detail: err.Error()}
	}
	p := &Program{steps: steps}
	file, name, params := rule.TriggerFile, "trigger", 1
	if role == rule.RoleExecutor {
		file, name, params = rule.ExecutorFile, "execute", 2
		p.files = &testbed{}
	}
	l := &loader{source: source, predeclared: predeclared(p.files), loaded: map[string]*loaded{}}
	thread := newThread(steps, l.load)
	globals, err := l.load(thread, file)
	if err != nil {
		return nil, failure(thread, err)
	}
	if p.entry, err = entry(globals, name, params); err != nil {
		return nil, &Error{Failure: rule.FailureCrash, Detail: file + ": " + err.Error()}
	}
	return p, nil
}

func checkSource(source map[string]string, steps uint64) error {
	total := 0
	for _, text := range source {
		total += len(text)
	}
	switch {
	case steps == 0:
		return fmt.Errorf("loading: the step limit is zero")
	case len(source) > rule.MaxSourceFiles:
		return fmt.Errorf("loading: %d files: the limit is %d", len(source), rule.MaxSourceFiles)
	case total > rule.MaxSourceBytes:
		return fmt.Errorf("loading: %d bytes: the limit is %d", total, rule.MaxSourceBytes)
	}
	return nil
}

// entry returns the function that calls go to.
func entry(globals starlark.StringDict, name string, params int) (*starlark.Function, error) {
	f, ok := globals[name].(*starlark.Function)
	if !ok {
		return nil, fmt.Errorf("it defines no function %s", name)
	}
	given := f.NumParams()
	if f.HasVarargs() {
		return f, nil
	}
	if f.HasKwargs() {
		given--
	}
	if given < params || given > params && f.ParamDefault(params) == nil {
		return nil, fmt.Errorf("%s takes %d arguments: want %d", name, given, params)
	}
	return f, nil
}

// loader runs the files of a source, each at most once.
type loader struct {
	source      map[string]string
	predeclared starlark.StringDict
	loaded      map[string]*loaded
}

type loaded struct {
	globals starlark.StringDict
	err     error
	done    bool
}

// load runs a file on a thread of its own that spends the steps of its parent.
func (l *loader) load(parent *starlark.Thread, name string) (starlark.StringDict, error) {
	if known := l.loaded[name]; known != nil {
		if !known.done {
			return nil, fmt.Errorf("loading %q: it loads itself", name)
		}
		return known.globals, known.err
	}
	text, ok := l.source[name]
	if !ok || path.Ext(name) != ".star" || path.Base(name) != name {
		return nil, fmt.Errorf("loading %q: want a .star file of this rule", name)
	}
	file := &loaded{}
	l.loaded[name] = file
	thread := newThread(left(parent), l.load)
	file.globals, file.err = starlark.ExecFileOptions(dialect, thread, name, text, l.predeclared)
	file.done = true
	parent.Steps += thread.Steps
	return file.globals, file.err
}
