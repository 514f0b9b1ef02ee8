// Package router answers one task: read what is authorised, ask every trigger,
// decide, run the one rule that matches, record, and look once more whether the
// answer is still authorised.
//
// The contract: an answer comes from a rule only when the active collection has
// a proof that holds now, exactly one trigger says match, all others say
// no_match, the executor gave an outcome that fits its schema, the event is on
// disk, and the registry hasn't moved since. Everything else is a fallback with
// one of the reasons of package rule, and leaves nothing half done. No model is
// ever asked, and no rule is preferred to another.
//
// The router doesn't start containers, read files of the registry or touch the
// caller's tree: it is handed an Authority, Programs and a Recorder.
package router
