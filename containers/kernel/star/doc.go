// Package star runs a rule's starlark programs. It loads trigger.star or
// execute.star with its helpers, hands it a task, and turns what it returns into
// the reply that rule.ParseTriggerReply or rule.ParseExecutorReply reads.
//
// Contract. Equal tasks give equal replies: a program sees no clock, randomness,
// environment or I/O, only the modules that DIALECT.md describes, and the files
// that the caller hands to Execute. Loading freezes every global, and each call
// has a thread and a step budget of its own, so calls share nothing. What a
// program may hand out is checked where it says so (match, result), so that an
// error points at its line. Every error is an *Error: a failure of the program,
// never of the caller.
//
// The step limit counts bytecode and, in our modules, bytes. It does not bound
// go.starlark's own builtins (max over a huge range, big integers) nor memory:
// the container's limits and the host's deadline do. A Program is used by one
// goroutine at a time.
package star
