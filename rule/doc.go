// Package rule is the vocabulary of signalbox: what a task, an outcome, a
// verdict, a manifest, a source tree and a case are, how each is written as
// bytes, and how a set of trigger answers becomes a decision.
//
// Every other package speaks these words, so this one imports none of them. It
// does no I/O, reads no clock and starts nothing. Everything that enters from
// outside (history lines, replies of programs, manifests) is decoded here by
// functions that refuse what they don't know: duplicate or unknown names,
// trailing data, invalid UTF-8, numbers that canonical JSON (RFC 8785) would
// change. The zero value of each string type is the safe one: no verdict, no
// digest, no failure.
package rule
