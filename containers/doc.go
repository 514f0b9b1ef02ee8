// Package containers runs hostile programs. It holds the Docker engine, makes
// the image that programs run in, starts containers under one fixed recipe,
// speaks the frame protocol with the kernel program inside, and says from the
// host's own facts how a program ended.
//
// Contract. Every container has no network, a read-only root, an unprivileged
// user and group, no capabilities, an allow list of system calls, and bounds on
// memory, processes, CPU, files and output; none of this is an option. What the
// host sees of a started container is compared with what was asked for before
// its first answer counts. Everything crosses stdin and stdout in frames: there
// are no mounts. No call hangs: the host keeps a deadline on every read, write
// and engine request. Containers are removed on every path, and Reap removes
// what a crash left, by label, never others'.
//
// A reply carries no Go error. Where the host could not run a program at all
// the failure is rule.FailureUnavailable; where the environment is no longer
// the one that a proof bound it is rule.FailureEnvironment. A program that
// breaks the protocol is killed, and what it said with the breach is void.
//
// The package doesn't judge answers: schemas of args and results are the
// callers'. It doesn't retry what a program failed at, pulls nothing, and
// accepts no engine whose containers this host can't look into. It is not a
// hard real-time system: a deadline bounds the wait for an answer, and removing
// the container afterwards has an allowance of its own.
package containers
