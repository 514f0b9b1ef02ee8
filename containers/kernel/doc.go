// The kernel is the program that is PID 1 in each of our containers. It greets
// the host, takes one load, and answers each further frame of package frame in
// order; the host may write ahead.
//
// Contract. In a trigger or an executor it runs the rule's program (package
// star) and in an editor the draft's editor (package editor); nothing else comes
// out of stdout than hello, ready, reply and failure frames. What a program does
// wrong becomes a failure frame and the next request is served. The process ends
// at once when stdin closes, also in the middle of a call: with code 0 between
// frames, and with code 3 where the stream breaks the protocol or one of its
// files can't be used. Where memory runs out (RLIMIT_DATA) the Go runtime ends
// it with code 2. Stderr stays empty but for such ends.
//
// It has no deadline: a call that never ends is the host's to end. It reads no
// environment and no clock, starts no processes, and opens nothing but the boot
// ID and the files of its folder. It trusts its host's frames to the extent that
// it doesn't guard against floods of valid ones, though it bounds what it keeps.
package main
