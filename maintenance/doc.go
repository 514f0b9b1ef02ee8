// Package maintenance lets a model write a rule, within bounds.
//
// Maintain makes one attempt for one family: it opens a draft whose identity the
// host has fixed, tells the model about the family's visible cases, and executes
// what the model asks for, one tool call a turn, until a draft passes the whole
// check or a bound stops it. Every way out has a stop reason from a closed list.
// The draft, its journal and its feedback stay on disk after any of them.
//
// The model is hostile input. It sees no admission case but those that a failed
// submit revealed, no sealed case, no host path, no clock and no random number;
// it changes files only through the editor, only those that an edit_… action has
// opened, and each accepted change is on disk before the model hears of it. What
// would change authority is kept as a request for the maintainer: the most that
// an attempt can reach is a proposal with a proof.
//
// The package judges nothing itself: the Judge is the oracle. It activates
// nothing, waits for nothing, and makes no request to a model but by the
// gateway.
package maintenance
