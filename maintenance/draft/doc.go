// Package draft keeps the working tree of a rule that is being written, and the
// account of how it came about.
//
// A draft lives in drafts/<attempt>/ under the home: draft.json (what the host
// fixed), tree/ (the files), journal.jsonl (every turn and every edit with the
// text before and after, append-only) and feedback.json. What was written is on
// disk before a call returns: an entry of the journal comes first, then the
// file, each synced. A crash between the two is finished by the next Open, and a
// torn last line of the journal is dropped. All changes go through an editor of
// package editor on tree/, whose history is the journal's: an edit by a model, by
// a person's program, and its undo are one stack, exact in bytes and mode.
//
// The package judges no rule and asks no model. It holds no times and no host
// paths, so that one conversation always leaves the same bytes.
package draft
