// Package proofs makes and checks the statement that a collection passed its
// whole admission suite: an in-toto Statement v1 in a DSSE envelope, signed by
// the host's ed25519 key.
//
// A proof is named by the digest of its payload. Its envelope is decoded
// strictly: one signature, standard base64, no unknown or duplicate names, no
// other spelling of the same content. Only the bytes that the signature covers
// are parsed, and they have to be in the one form that Sign writes. The key ID
// in an envelope is a hint for people and decides nothing.
//
// A Verified value exists only by Verify; what grants authority takes that type.
// "The proof is bad" (ErrBad) and "there is no key to check it with" (ErrNoKey)
// are different errors.
//
// The package doesn't know whether a proof still holds: comparing it with
// today's registry, sources and engine is the registry's work. It reads no
// clock.
package proofs

import "errors"

// ErrBad is returned when a proof doesn't hold: it is malformed, altered,
// written in another form, inconsistent in itself, or signed by another key.
var ErrBad = errors.New("bad proof")

// ErrNoKey is returned when a host key is missing, unreadable, unsafe on disk
// or malformed. It says nothing about any proof.
var ErrNoKey = errors.New("no usable host key")
